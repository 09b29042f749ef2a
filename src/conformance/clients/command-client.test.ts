import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isRunning } from '../../../test/support/cli/is-running.ts';
import type { ClientInstruction } from './client-under-test.ts';
import { createCommandClient } from './command-client.ts';

const instruction: ClientInstruction = {
  url: 'http://127.0.0.1:1',
  operation: 'get',
  text: 'hello',
  reply: 'yes',
  taskId: 'task-1',
  token: 'secret',
};
const never = new AbortController().signal;
const node = (script: string, ...words: string[]): string[] => [
  process.execPath,
  '-e',
  script,
  '--',
  ...words,
];

it('replaces placeholders and sets the environment variables', async () => {
  const script =
    'console.log(process.argv.slice(1).join("|"), process.env.A2A_TASK_ID, process.env.A2A_TOKEN)';
  const client = createCommandClient({
    command: node(script, '{url}/x', '{operation}', '{other}', '{text}{reply}'),
  });
  expect(await client.run(instruction, never)).toEqual({
    code: 0,
    isTimeout: false,
    stdout: 'http://127.0.0.1:1/x|get|{other}|helloyes task-1 secret\n',
    stderr: '',
  });
});

it('tries all operations only if the command contains {operation}', () => {
  expect(createCommandClient({ command: ['client', '{url}'] }).operations).toEqual(['send']);
  expect(createCommandClient({ command: ['client', '{url}', '{operation}'] }).operations).toContain(
    'subscribe',
  );
  expect(
    createCommandClient({ command: ['client', '{url}'], operations: ['send', 'get'] }).operations,
  ).toEqual(['send', 'get']);
});

it('names the script that an interpreter runs', () => {
  expect(
    createCommandClient({ command: ['/usr/bin/node', '--no-warnings', 'tools/harness.mjs', '{url}'] }).name,
  ).toBe('harness.mjs');
  expect(createCommandClient({ command: ['bin/my-client', '{url}'] }).name).toBe('my-client');
});

it('returns the exit code, and keeps the start of a long output', async () => {
  const script =
    'process.stdout.write("x".repeat(200000), () => { console.error("bad"); process.exitCode = 7; })';
  const { code, stdout, stderr } = await createCommandClient({ command: node(script) }).run(
    instruction,
    never,
  );
  expect([code, stdout.length, stderr]).toEqual([7, 65_536, 'bad\n']);
});

it('returns the signal that ended the command', async () => {
  const client = createCommandClient({ command: node('process.kill(process.pid, "SIGKILL")') });
  expect(await client.run(instruction, never)).toMatchObject({
    code: undefined,
    signal: 'SIGKILL',
    isTimeout: false,
  });
});

it('reports a command that does not exist', async () => {
  const { code, stderr } = await createCommandClient({ command: ['no-such-command-7'] }).run(
    instruction,
    never,
  );
  expect(code).toBe(127);
  expect(stderr).toContain('no-such-command-7');
});

it('ends the command and its children at the time limit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'command-client-'));
  const file = join(folder, 'pid');
  // The command ignores SIGTERM, and its child knows nothing about it.
  const script = `
    const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    process.on('SIGTERM', () => {});
    require('node:fs').writeFileSync(process.argv[1], String(child.pid));
    setInterval(() => {}, 1000);`;
  const stop = new AbortController();
  const ended = createCommandClient({ command: node(script, file) }).run(instruction, stop.signal);
  const readPid = (): number => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);
  await expect.poll(readPid, { timeout: 60_000 }).toBeGreaterThan(0);
  stop.abort();
  expect(await ended).toMatchObject({ isTimeout: true, code: undefined, signal: 'SIGKILL' });
  await expect.poll(() => isRunning(readPid()), { timeout: 60_000 }).toBe(false);
  rmSync(folder, { recursive: true });
}, 120_000);
