import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  linkPackages,
  readProjectManifest,
  runPackageScript,
  useInitFolder,
} from '../../support/cli/init-project.ts';

const folder = useInitFolder();

describe('dragoman init in an existing package', () => {
  const manifest = `{
    "name": "@acme/shop",
    "type": "module",
    "scripts": { "start": "node shop.js", "test": "node --test" },
    "dependencies": { "express": "^5.0.0" }
}
`;

  it('adds the agent, its dependency and its scripts, and keeps everything else', async () => {
    writeFileSync(join(folder.path, 'package.json'), manifest);
    writeFileSync(join(folder.path, 'README.md'), '# Shop\n');
    const { code, stdout } = await folder.init('.', '--yes');
    expect(code).toBe(0);
    expect(stdout).toContain('package.json (changed)');
    expect(stdout).toContain('npm run agent:test');
    const { name, scripts, dependencies } = readProjectManifest(folder.path);
    expect(name).toBe('@acme/shop');
    expect(scripts).toMatchObject({
      start: 'node shop.js',
      test: 'node --test',
      'agent:start': 'dragoman serve agent.js',
    });
    expect(Object.keys(dependencies).toSorted()).toEqual(['dragoman', 'express']);
    expect(readFileSync(join(folder.path, 'package.json'), 'utf8')).toMatch(/^\{\n {4}"name"/);
    expect(readFileSync(join(folder.path, 'README.md'), 'utf8')).toBe('# Shop\n');
    expect(readFileSync(join(folder.path, '.github/workflows/agent.yml'), 'utf8')).toContain(
      'npm run agent:test',
    );
    linkPackages(folder.path);
    expect((await runPackageScript(folder.path, 'agent:test')).stdout).toContain('2 cases: 2 passed');
  });

  it('writes an ES module in a package of CommonJS modules', async () => {
    writeFileSync(join(folder.path, 'package.json'), '{ "name": "shop" }');
    const { stdout } = await folder.init('.', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      files: expect.arrayContaining(['agent.mjs']) as string[],
      changed: ['package.json'],
    });
    linkPackages(folder.path);
    expect((await runPackageScript(folder.path, 'agent:test')).stdout).toContain('2 cases: 2 passed');
  });

  it('keeps a version of a dependency that is there', async () => {
    writeFileSync(
      join(folder.path, 'package.json'),
      '{ "name": "shop", "devDependencies": { "dragoman": "0.0.7" } }',
    );
    await folder.init('.', '--yes');
    expect(readProjectManifest(folder.path)).toMatchObject({ devDependencies: { dragoman: '0.0.7' } });
    expect(readProjectManifest(folder.path).dependencies).toBeUndefined();
  });

  it('writes nothing if package.json is not JSON or the agent exists', async () => {
    writeFileSync(join(folder.path, 'package.json'), '{ "name": ');
    expect(await folder.init('.')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not a JSON object') as string,
    });
    writeFileSync(join(folder.path, 'package.json'), manifest);
    writeFileSync(join(folder.path, 'agent.js'), 'mine');
    expect(await folder.init('.')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('agent.js already exists') as string,
    });
    expect(readFileSync(join(folder.path, 'package.json'), 'utf8')).toBe(manifest);
    expect(existsSync(join(folder.path, 'scenarios'))).toBe(false);
  });
});
