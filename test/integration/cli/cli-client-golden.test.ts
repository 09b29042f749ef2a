import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startDemoServer,
  CliUser,
  startScriptedAgent,
  wireTask1_0,
} from '../../support/cli/client-command.ts';
import type { RunningCommand } from '../../support/cli/run-command.ts';
import type { RawServer } from '../../support/http/raw-server.ts';

const user = new CliUser();
let agent: RunningCommand & { url: string };
let scripted: RawServer;

beforeAll(async () => {
  agent = await startDemoServer(user);
  scripted = await startScriptedAgent({
    on: {
      SendMessage: () => ({
        task: wireTask1_0('INPUT_REQUIRED', {
          status: {
            state: 'TASK_STATE_INPUT_REQUIRED',
            message: {
              messageId: 'm',
              role: 'ROLE_AGENT',
              parts: [{ text: 'Which one?\u001b[31m\nThis or that?' }],
            },
          },
          artifacts: [
            {
              artifactId: 'a1',
              name: 'all kinds',
              parts: [
                { text: 'first\n\nsecond' },
                { data: { k: [1, 2] } },
                { raw: 'AAEC', filename: 'b.bin', mediaType: 'application/octet-stream' },
                { url: 'https://files.example.com/y.pdf', mediaType: 'application/pdf' },
              ],
            },
          ],
        }),
      }),
    },
  });
  writeFileSync(join(user.home, 'broken.json'), '{');
});
afterAll(async () => {
  await scripted.close();
  await agent.stop('SIGKILL');
  user.removeHome();
});

/** Replaces values that differ between runs. */
function normalize(text: string): string {
  const names = new Map<string, string>();
  return text
    .replaceAll(agent.url, 'http://agent')
    .replaceAll(new URL(agent.url).host, 'agent')
    .replaceAll(scripted.url, 'http://scripted')
    .replaceAll(user.home, '~')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (id) => {
      if (!names.has(id)) names.set(id, `id-${names.size + 1}`);
      return names.get(id) ?? '';
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}

const cases: { name: string; args: () => string[]; exitCode?: number }[] = [
  { name: 'card-get', args: () => ['card', 'get', '-a', agent.url] },
  { name: 'send', args: () => ['send', '-a', agent.url, 'hi there'] },
  { name: 'send-json', args: () => ['send', '-a', agent.url, 'file x', '-o', 'json'] },
  { name: 'send-message', args: () => ['send', '-a', agent.url, 'hello'] },
  { name: 'send-stream', args: () => ['send', '-a', agent.url, 'slow 0.1', '--stream'] },
  { name: 'send-stream-json', args: () => ['send', '-a', agent.url, 'fail', '--stream', '-o', 'json'] },
  { name: 'send-all-kinds', args: () => ['send', '-a', scripted.url, 'x'] },
  { name: 'send-all-kinds-verbose', args: () => ['send', '-a', scripted.url, 'x', '--verbose'] },
  { name: 'unreachable-agent', args: () => ['send', '-a', 'http://127.0.0.1:9', 'x'], exitCode: 3 },
  { name: 'unknown-task', args: () => ['task', 'get', 'unknown-task', '-a', agent.url], exitCode: 1 },
  {
    name: 'unknown-task-json',
    args: () => ['task', 'get', 'unknown-task', '-a', agent.url, '-o', 'json'],
    exitCode: 1,
  },
  { name: 'invalid-card', args: () => ['card', 'get', '-a', 'broken.json'], exitCode: 1 },
  { name: 'config-show', args: () => ['config', 'show', '-a', agent.url, '--bearer', 's3cret'] },
];

describe('client command output', () => {
  it.each(cases)('matches the golden file $name', async ({ name, args, exitCode = 0 }) => {
    const { code, stdout, stderr } = await user.runInProcess(args(), {
      env: { FORCE_COLOR: '1', NO_COLOR: '' },
    });
    expect(code).toBe(exitCode);
    const transcript = [
      `$ dragoman ${args().join(' ')}`,
      stdout,
      ...(stderr === '' ? [] : ['--- standard error', stderr]),
    ];
    await expect(normalize(transcript.join('\n'))).toMatchFileSnapshot(`../../golden/cli/${name}.txt`);
  });
});
