import { spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repositoryRoot, RunningCommand } from '../support/cli/run-command.ts';
import {
  cleanEnv,
  type InstalledPackage,
  installPackage,
  manifest,
  modules,
  run,
  specifiers,
} from './install-package.ts';

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, 180_000);
afterAll(() => installed.remove());

describe('npm package', () => {
  it('contains every exported file, and no tests or sources', () => {
    const named = modules.flatMap(([, { types, default: file }]) => [types, file]);
    const missing = named
      .map((path) => path.replace('./', ''))
      .filter((path) => !installed.files.includes(path));
    expect(missing).toEqual([]);
    // Tests among the examples are examples of tests.
    const inside = installed.files.filter((path) => !path.startsWith('examples/testing/'));
    expect(inside.filter((path) => /\.test\.|^(src|test|scripts|bench|docs)\//.test(path))).toEqual([]);
    for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'dist/cli/main.js']) {
      expect(installed.files).toContain(file);
    }
  });

  it('exports every folder with an index.ts', () => {
    const doors = readdirSync(join(repositoryRoot, 'dist'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => installed.files.includes(`dist/${name}/index.js`));
    expect(doors.filter((name) => manifest.exports[`./${name}`] === undefined)).toEqual([]);
  });

  it('installs its dependencies without optional peers', () => {
    const { dependencies, peerDependencies } = manifest;
    const names = readdirSync(join(installed.home, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(names).toEqual(expect.arrayContaining([...Object.keys(dependencies), 'dragoman']));
    expect(names.filter((name) => name in peerDependencies)).toEqual([]);
    expect(names.length, 'few dependencies of dependencies').toBeLessThan(25);
  });

  it('can be imported by each of its names', async () => {
    const script = `const names = ${JSON.stringify(specifiers)};
      for (const name of names) console.log(name, Object.keys(await import(name)).length > 0);`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script], {
      cwd: installed.home,
    });
    expect(stdout.trimEnd().split('\n')).toEqual(specifiers.map((each) => `${each} true`));
    expect(stderr).toBe('');
  });

  it('contains the command, which serves an agent', async () => {
    const { stdout } = await run('npx', ['--no-install', 'dragoman', '--version'], {
      cwd: installed.home,
      env: cleanEnv(),
    });
    expect(stdout).toBe(`${manifest.version}\n`);
    writeFileSync(
      join(installed.home, 'agent.js'),
      `import { defineAgent } from 'dragoman';
       export default defineAgent({ name: 'Installed', description: 'Is installed', process: () => 'here' });`,
    );
    const command = join(installed.home, 'node_modules', '.bin', 'dragoman');
    const running = new RunningCommand(
      spawn(command, ['serve', 'agent.js', '--port', '0'], { cwd: installed.home }),
    );
    const [, url = ''] = await running.prints(/^listening on (\S+)\n/);
    const response = await fetch(`${url}/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"where?"}]}}',
    });
    expect(await response.text()).toContain('"text":"here"');
    expect((await running.stop()).code).toBe(0);
  });

  it.each([
    ['dragoman/llm/ai-sdk', 'toAiSdkTools', 'ai'],
    ['dragoman/llm/langchain', 'toLangChainTools', '@langchain/core'],
    ['dragoman/llm/openai-agents', 'toOpenAiAgentsTools', '@openai/agents'],
    ['dragoman/llm/adk', 'toAdkTools', '@google/adk'],
  ])('%s reports the library to install', async (specifier, name, library) => {
    const script = `const { ${name} } = await import('${specifier}');
      await ${name}({}).catch(({ reason, message, hint }) => console.log([reason, message, hint].join('\\n')));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
      cwd: installed.home,
    });
    expect(stdout).toBe(
      `UNAVAILABLE\n${name} requires ${library}, which is not installed\nRun: npm install ${library}\n`,
    );
  });

  it('serves TypeScript if this version of Node can run it, and else reports the library to install', async () => {
    const { home } = installed;
    writeFileSync(
      join(home, 'typed.ts'),
      `import { defineAgent, type ProcessContext } from 'dragoman';
       const process = ({ text }: ProcessContext): string => text;
       export default defineAgent({ name: 'Typed', description: 'Is typed', process });`,
    );
    const command = join(home, 'node_modules', '.bin', 'dragoman');
    const running = new RunningCommand(spawn(command, ['serve', 'typed.ts', '--port', '0'], { cwd: home }));
    if ((process.features as { typescript?: unknown }).typescript) {
      await running.prints(/^listening on /);
      expect((await running.stop()).code).toBe(0);
      return;
    }
    const { code, stderr } = await running.ended;
    expect(stderr).toContain('npm install --save-dev tsx');
    expect(code).toBe(2);
  });

  it('reports the library to install for a store', async () => {
    const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined;
    const command = join(installed.home, 'node_modules', '.bin', 'dragoman');
    const args = ['serve', 'agent.js', '--port', '0', '--store', 'sqlite:tasks.db'];
    const running = new RunningCommand(spawn(command, args, { cwd: installed.home }));
    if (hasSqlite) {
      await running.prints(/^listening on /);
      await running.stop();
      return;
    }
    const { code, stderr } = await running.ended;
    expect(stderr).toContain('npm install libsql');
    expect(code).toBe(1);
  });
});
