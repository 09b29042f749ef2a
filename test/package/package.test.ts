import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repositoryRoot, RunningCommand } from '../support/cli/run-command.ts';

const run = promisify(execFile);

interface Manifest {
  version: string;
  dependencies: { [name: string]: string };
  peerDependencies: { [name: string]: string };
  exports: { [subpath: string]: string | { types: string; default: string } };
}

const manifest = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as Manifest;
const modules = Object.entries(manifest.exports).filter(
  (entry): entry is [string, { types: string; default: string }] => typeof entry[1] === 'object',
);
const specifiers = modules
  .map(([subpath]) => subpath.replace(/^\./, 'dragoman'))
  // It needs the vitest of the user; test/examples-testing.test.ts runs it.
  .filter((specifier) => specifier !== 'dragoman/testkit/vitest');
const bin = (name: string) => join(repositoryRoot, 'node_modules', '.bin', name);

/** npm, as a newcomer runs it: nothing of the npm that runs the tests reaches it. */
function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(?!config_(registry|cache|userconfig))/i.test(name),
    ),
  );
}

let folder: string;
let home: string;
let tarball: string;
let packed: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-package-'));
  home = join(folder, 'consumer');
  // The step before has built it; building here would pull dist/ away from under other tests.
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: repositoryRoot,
    env: cleanEnv(),
  });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  tarball = join(folder, filename);
  packed = files.map(({ path }) => path);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--omit=optional', tarball], {
    cwd: home,
    env: cleanEnv(),
  });
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('npm package', () => {
  it('contains every exported file, and no tests or sources', () => {
    const named = modules.flatMap(([, { types, default: file }]) => [types, file]);
    const missing = named.map((path) => path.replace('./', '')).filter((path) => !packed.includes(path));
    expect(missing).toEqual([]);
    // Tests among the examples are examples of tests.
    const inside = packed.filter((path) => !path.startsWith('examples/testing/'));
    expect(inside.filter((path) => /\.test\.|^(src|test|scripts|bench|docs)\//.test(path))).toEqual([]);
    for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'dist/cli/main.js']) {
      expect(packed).toContain(file);
    }
  });

  it('exports every folder with an index.ts', () => {
    const doors = readdirSync(join(repositoryRoot, 'dist'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => packed.includes(`dist/${name}/index.js`));
    expect(doors.filter((name) => manifest.exports[`./${name}`] === undefined)).toEqual([]);
  });

  it('installs its dependencies without optional peers', () => {
    const { dependencies, peerDependencies } = manifest;
    const installed = readdirSync(join(home, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(installed).toEqual(expect.arrayContaining([...Object.keys(dependencies), 'dragoman']));
    expect(installed.filter((name) => name in peerDependencies)).toEqual([]);
    expect(installed.length, 'few dependencies of dependencies').toBeLessThan(25);
  });

  it.each(specifiers)('%s can be imported', async (specifier) => {
    const script = `console.log(Object.keys(await import('${specifier}')).length)`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script], {
      cwd: home,
    });
    expect(Number(stdout)).toBeGreaterThan(0);
    expect(stderr).toBe('');
  });

  it('has types that compile in strict mode', async () => {
    writeFileSync(
      join(home, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          module: 'nodenext',
          target: 'es2022',
          lib: ['es2023', 'esnext.disposable'],
          noEmit: true,
          types: ['node'],
          typeRoots: [join(repositoryRoot, 'node_modules', '@types')],
        },
        files: ['consumer.ts'],
      }),
    );
    const consumer = (reason: string) => `
      ${specifiers.map((each, index) => `import * as module${index} from '${each}';`).join('\n')}
      import { A2AError, connect, defineAgent, type ErrorReason, isTask, memoryTaskStore, serve, type Task } from 'dragoman';
      export const modules: object[] = [${specifiers.map((_, index) => `module${index}`).join(', ')}];
      const agent = defineAgent(
        { name: 'Typed', description: 'Is typed', async *process({ text }) { yield text; } },
        { taskStore: memoryTaskStore() },
      );
      const server = await serve(agent, { port: 0 });
      const answer = await connect(server.url).send({ message: { messageId: '1', role: 'user', parts: [{ text: 'x' }] } });
      export const task: Task | undefined = isTask(answer) ? answer : undefined;
      export const reason: ErrorReason = new A2AError('${reason}').reason;`;
    const compile = async (reason: string): Promise<string> => {
      writeFileSync(join(home, 'consumer.ts'), consumer(reason));
      const tsc = join(repositoryRoot, 'node_modules/ts7/bin/tsc');
      const { stdout } = await run(process.execPath, [tsc, '-p', '.'], { cwd: home }).catch(
        (failure: { stdout: string }) => failure,
      );
      return stdout;
    };
    expect(await compile('TASK_NOT_FOUND')).toBe('');
    // The types are there and not all `any`: an unknown reason is an error.
    expect(await compile('NO_SUCH_REASON')).toContain('NO_SUCH_REASON');
  });

  it('contains the command, which serves an agent', async () => {
    const { stdout } = await run('npx', ['--no-install', 'dragoman', '--version'], {
      cwd: home,
      env: cleanEnv(),
    });
    expect(stdout).toBe(`${manifest.version}\n`);
    writeFileSync(
      join(home, 'agent.js'),
      `import { defineAgent } from 'dragoman';
       export default defineAgent({ name: 'Installed', description: 'Is installed', process: () => 'here' });`,
    );
    const command = join(home, 'node_modules', '.bin', 'dragoman');
    const running = new RunningCommand(spawn(command, ['serve', 'agent.js', '--port', '0'], { cwd: home }));
    const [, url = ''] = await running.prints(/^listening on (\S+)\n/);
    const response = await fetch(`${url}/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"where?"}]}}',
    });
    expect(await response.text()).toContain('"text":"here"');
    expect((await running.stop()).code).toBe(0);
  });

  it('contains the samples, which start without optional peers', async () => {
    const command = join(home, 'node_modules', '.bin', 'dragoman');
    const running = new RunningCommand(spawn(command, ['up', '-o', 'json'], { cwd: home }));
    const [line] = await running.prints(/^\{.*\}\n/);
    const {
      agents,
      console: page,
      mcp,
    } = JSON.parse(line) as {
      agents: { name: string; url: string }[];
      console: string;
      mcp?: string;
    };
    expect(agents.map(({ name }) => name)).toEqual(['interpreter', 'caravan']);
    for (const { url } of agents) {
      const response = await fetch(`${url}/message:send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"say hello in French"}]}}',
      });
      expect(await response.text()).toMatch(/bonjour|camels/);
    }
    expect(await (await fetch(page)).text()).toContain('<script');
    expect(mcp).toBeUndefined();
    expect(running.stderr).toContain('npm install @modelcontextprotocol/server');
    expect((await running.stop()).code).toBe(0);
  });

  it('reports the library to install for a store', async () => {
    const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined;
    const command = join(home, 'node_modules', '.bin', 'dragoman');
    const args = ['serve', 'agent.js', '--port', '0', '--store', 'sqlite:tasks.db'];
    const running = new RunningCommand(spawn(command, args, { cwd: home }));
    if (hasSqlite) {
      await running.prints(/^listening on /);
      await running.stop();
      return;
    }
    const { code, stderr } = await running.ended;
    expect(stderr).toContain('npm install libsql');
    expect(code).toBe(1);
  });

  it('passes publint', async () => {
    const { stdout } = await run(bin('publint'), ['run', '--strict', '--pack', 'false', repositoryRoot], {
      cwd: repositoryRoot,
    });
    expect(stdout).toContain('All good!');
  });

  it('has types that resolve like its code', async () => {
    const { stdout } = await run(bin('attw'), [
      tarball,
      '--profile',
      'esm-only',
      '--format',
      'ascii',
      '--no-color',
    ]);
    // Only what the profile leaves out, the resolutions of CommonJS, may look bad.
    const bad = stdout
      .split('\n')
      .filter((line) => /^(node|bundler)/.test(line) && !/🟢|\(ignored\)/u.test(line));
    expect(bad).toEqual([]);
    expect(stdout.match(/node16 \(from ESM\): 🟢/gu)).toHaveLength(modules.length + 1);
  });
});
