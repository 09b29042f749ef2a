import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { runNode } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { greetingScript, useMockCommands } from '../../support/testkit/mock-command.ts';

const mock = useMockCommands();

describe('dragoman mock', () => {
  it('runs a script until SIGTERM', async () => {
    const agent = await mock.start([mock.write('a.yaml', greetingScript('hi')), '--port', '0']);
    await agent.prints(
      /card .*\/\.well-known\/agent-card\.json\n.*admin.*\/__admin\n.*rules.*1 rule of .*a\.yaml/,
    );
    expect(await connect(agent.url).send('hello')).toMatchObject({
      status: { state: 'completed', message: { parts: [{ text: 'hi' }] } },
    });
    expect(await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()).toMatchObject({
      name: 'Mocked',
    });
    expect((await agent.stop('SIGTERM')).code).toBe(0);
  });

  it('reloads a changed script and keeps the rules if it is invalid', async () => {
    const file = mock.write('b.yaml', greetingScript('one'));
    const agent = await mock.start([file, '--watch', '--no-admin']);
    writeFileSync(file, greetingScript('two'));
    await agent.prints(/reloaded .*b\.yaml: 1 rule/);
    expect(await connect(agent.url).send('hello')).toMatchObject({
      status: { message: { parts: [{ text: 'two' }] } },
    });
    writeFileSync(file, 'rules:\n  - wehn: {}\n');
    await agent.prints(/the previous rules stay active\n.*b\.yaml:2:\d+: rules\[0\]\.wehn: /, 'stderr');
    expect(await connect(agent.url).send('hello')).toMatchObject({
      status: { message: { parts: [{ text: 'two' }] } },
    });
    expect((await fetch(`${agent.url}/__admin/health`)).status).toBe(404);
  });

  it.each<[string, () => string[], number, RegExp]>([
    ['no such file', () => ['no-such.yaml'], 2, /File not found: no-such\.yaml/],
    [
      'a wrong script, line by line',
      () => [mock.write('d.yaml', 'rulez: []\nagnet: {}\n')],
      2,
      /error: Invalid file: \S*d\.yaml\n.*d\.yaml:1:1: rulez: .*\n.*d\.yaml:2:1: agnet: /,
    ],
    ['nothing to watch', () => ['--watch'], 2, /Missing script for --watch/],
    ['a wrong port', () => ['--port', '70000'], 2, /number from 0 .* to 65535/],
    ['a wrong seed', () => ['--seed', 'x'], 2, /whole number/],
  ])('reports an error: %s', async (_what, args, expected, complaint) => {
    const { code, stderr } = await runInProcess(['mock', ...args()]);
    expect(stderr).toMatch(complaint);
    expect(code).toBe(expected);
  });

  it('reports validation errors with line and column', async () => {
    const good = mock.write('good.yaml', greetingScript('hi'));
    const bad = mock.write('bad.yaml', 'rules:\n  - name: a\n    wehn: {}\n');
    const both = await runInProcess(['mock', 'validate', good, bad]);
    expect(both.stdout).toMatch(/^\S*bad\.yaml:3:5: rules\[0\]\.wehn: .+\n$/);
    expect(both.code).toBe(2);
    const one = await runInProcess(['mock', 'validate', good]);
    expect([one.stdout, one.stderr, one.code]).toEqual(['', '1 script: all valid\n', 0]);
    const folder = await runInProcess(['mock', 'validate', 'examples/scripts']);
    expect(folder.stderr).toBe('3 scripts: all valid\n');
    const nowhere = await runInProcess(['mock', 'validate', 'nowhere/*.yaml']);
    expect([nowhere.code, nowhere.stderr]).toEqual([
      2,
      expect.stringContaining('No script found for nowhere/*.yaml'),
    ]);
  });
});

it('TestAgentServer releases all handles when stopped', async () => {
  const testkit = new URL('../../../dist/testkit/index.js', import.meta.url).href;
  const file = mock.write(
    'stops.mjs',
    `import { TestAgentServer } from '${testkit}';
    const agents = await Promise.all([TestAgentServer.start(), TestAgentServer.start({ clock: 'virtual' })]);
    for (const agent of agents) {
      agent.prime([{ kind: 'status-update', status: { state: 'working' } }]);
      const message = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message } });
      const answer = await fetch(agent.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
      await answer.text();
      void agent.waitFor({ operation: 'cancelTask' }, { timeout: 3_600_000 }).catch(() => {});
      await agent.stop();
    }
    console.log('stopped');`,
  );
  const { code, stdout } = await runNode([file]).ended;
  expect(stdout).toBe('stopped\n');
  expect(code).toBe(0);
});
