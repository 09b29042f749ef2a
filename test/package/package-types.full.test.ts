import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repositoryRoot, RunningCommand } from '../support/cli/run-command.ts';
import {
  type InstalledPackage,
  installPackage,
  modules,
  packPackage,
  run,
  specifiers,
} from './install-package.ts';

const bin = (name: string) => join(repositoryRoot, 'node_modules', '.bin', name);

/** Modules whose declarations need the types of an optional peer, which their users have. */
const needsPeerTypes = /^dragoman\/llm\/(ai-sdk|langchain)$/;

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, 180_000);
afterAll(() => installed.remove());

describe('npm package', () => {
  it.each(specifiers)('%s can be imported alone', async (specifier) => {
    const script = `console.log(Object.keys(await import('${specifier}')).length)`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script], {
      cwd: installed.home,
    });
    expect(Number(stdout)).toBeGreaterThan(0);
    expect(stderr).toBe('');
  });

  it('has types that compile in strict mode', async () => {
    writeFileSync(
      join(installed.home, 'tsconfig.json'),
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
    const typed = specifiers.filter((specifier) => !needsPeerTypes.test(specifier));
    const consumer = (reason: string) => `
      ${typed.map((each, index) => `import * as module${index} from '${each}';`).join('\n')}
      import { A2AError, connect, defineAgent, type ErrorReason, isTask, memoryTaskStore, serve, type Task } from 'dragoman';
      export const modules: object[] = [${typed.map((_, index) => `module${index}`).join(', ')}];
      const agent = defineAgent(
        { name: 'Typed', description: 'Is typed', async *process({ text }) { yield text; } },
        { taskStore: memoryTaskStore() },
      );
      const server = await serve(agent, { port: 0 });
      const answer = await connect(server.url).send({ message: { messageId: '1', role: 'user', parts: [{ text: 'x' }] } });
      export const task: Task | undefined = isTask(answer) ? answer : undefined;
      export const reason: ErrorReason = new A2AError('${reason}').reason;`;
    const compile = async (reason: string): Promise<string> => {
      writeFileSync(join(installed.home, 'consumer.ts'), consumer(reason));
      const tsc = join(repositoryRoot, 'node_modules/ts7/bin/tsc');
      const { stdout } = await run(process.execPath, [tsc, '-p', '.'], { cwd: installed.home }).catch(
        (failure: { stdout: string }) => failure,
      );
      return stdout;
    };
    expect(await compile('TASK_NOT_FOUND')).toBe('');
    // The types are there and not all `any`: an unknown reason is an error.
    expect(await compile('NO_SUCH_REASON')).toContain('NO_SUCH_REASON');
  });

  it('contains the samples, which start without optional peers', async () => {
    const command = join(installed.home, 'node_modules', '.bin', 'dragoman');
    const running = new RunningCommand(spawn(command, ['up', '-o', 'json'], { cwd: installed.home }));
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

  it('passes publint', async () => {
    const { stdout } = await run(bin('publint'), ['run', '--strict', '--pack', 'false', repositoryRoot], {
      cwd: repositoryRoot,
    });
    expect(stdout).toContain('All good!');
  });

  it('has types that resolve like its code', async () => {
    const tarball = await packPackage(installed.home);
    const flags = ['--profile', 'esm-only', '--format', 'ascii', '--no-color'];
    const { stdout } = await run(bin('attw'), [tarball, ...flags]);
    // Only the CommonJS resolutions, which the profile excludes, may fail.
    const bad = stdout
      .split('\n')
      .filter((line) => /^(node|bundler)/.test(line) && !/🟢|\(ignored\)/u.test(line));
    expect(bad).toEqual([]);
    expect(stdout.match(/node16 \(from ESM\): 🟢/gu)).toHaveLength(modules.length + 1);
  });
});
