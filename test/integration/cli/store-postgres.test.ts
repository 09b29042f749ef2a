import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { runDragoman, type RunningCommand } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { expectTask, userRequest } from '../../support/engine/conversation.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const postgres = usePostgres();
const open = closeAfterEach();
const folder = mkdtempSync(join(tmpdir(), 'dragoman-store-postgres-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = join(folder, 'script.yaml');
writeFileSync(
  script,
  `agent: { name: Booking, description: Books }
rules:
  - when: { text: book }
    then: [{ ask: 'Which day?' }]
  - then: [{ complete: Booked }]
`,
);
const at = (schema: string): string => `${postgres().url}?schema=${schema}`;

function start(...args: string[]): RunningCommand {
  const running = runDragoman(args, { cwd: folder });
  open.push({ close: () => running.stop('SIGKILL') });
  return running;
}

async function connectTo(running: RunningCommand, pattern: RegExp): Promise<ReturnType<typeof connect>> {
  const [, url = ''] = await running.prints(pattern);
  const agent = connect(url);
  open.push({ close: () => agent.close() });
  return agent;
}

describe.skipIf(!hasPostgres)('--store postgres://…', () => {
  it('mock: a restarted mock agent knows its tasks', async () => {
    const flags = ['mock', script, '--store', at('mock')];
    const first = start(...flags);
    const before = await connectTo(first, /^listening on (\S+)\n/);
    const asked = expectTask(await before.send(userRequest('book')));
    expect(asked.status.state).toBe('input-required');
    expect((await first.stop()).code).toBe(0);
    const after = await connectTo(start(...flags), /^listening on (\S+)\n/);
    const { id: taskId, contextId } = asked;
    const answered = expectTask(await after.send(userRequest('Friday', { taskId, contextId })));
    expect(answered).toMatchObject({ id: taskId, status: { state: 'completed' } });
  });

  it('actions: one command redeems the follow-up of another', async () => {
    const mock = start('mock', script);
    const [, url = ''] = await mock.prints(/^listening on (\S+)\n/);
    const flags = ['--agent', `booking=${url}`, '--follow-ups', at('follow_ups'), '-o', 'json'];
    const [, action = ''] =
      /^(booking\/\S+)/m.exec(
        (await runInProcess(['actions', 'list', '--agent', `booking=${url}`])).stdout,
      ) ?? [];
    const first = await start('actions', 'invoke', action, 'book', ...flags).ended;
    const { data } = JSON.parse(first.stdout) as { data: { follow_up_id: string } };
    const answer = ['provide_required_input', `follow_up_id=${data.follow_up_id}`, 'user_response=Friday'];
    const redeem = async (): Promise<unknown> =>
      JSON.parse((await runInProcess(['actions', 'invoke', ...answer, ...flags])).stdout);
    expect(await redeem()).toMatchObject({ success: true });
    expect(await redeem()).toMatchObject({ success: false });
  });

  it('gateway: rejects a database that does not exist, without the password', async () => {
    const gateway = join(folder, 'gateway.yaml');
    writeFileSync(gateway, `agents: { a: { url: 'http://127.0.0.1:9' } }\nlisten: 127.0.0.1:0\n`);
    const url = postgres()
      .url.replace('test@', 'test:hunter2@')
      .replace(/postgres$/, 'missing');
    const { code, stderr } = await runInProcess(['gateway', '-c', gateway, '--store', url]);
    expect(code).toBe(1);
    expect(stderr).toContain('database "missing" does not exist');
    expect(stderr).toContain('createdb');
    expect(stderr).not.toContain('hunter2');
  });
});

describe('--store', () => {
  it.each([
    ['mock', ['mock', '--store', 'redis://x']],
    ['up', ['up', '--store', 'redis://x']],
    ['bridge', ['bridge', '--agent', 'http://127.0.0.1:9', '--mcp', 'stdio', '--store', 'redis://x']],
  ])('%s rejects an unknown kind with exit code 2', async (_name, args) => {
    const { code, stderr } = await runInProcess(args);
    expect(stderr).toContain('Invalid task store "redis://x"');
    expect(stderr).toContain('postgres://USER@HOST/DATABASE');
    expect(code).toBe(2);
  });

  it('gateway reports an invalid store of its file with the line', async () => {
    const file = join(folder, 'invalid.yaml');
    writeFileSync(file, `agents: { a: { url: 'http://127.0.0.1:9' } }\nstore: postgres://ann:hunter2@host\n`);
    const { code, stderr } = await runInProcess(['gateway', '-c', file, '--check']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/invalid\.yaml:2:\d+: store: is invalid\. Use postgres:\/\/USER:PASSWORD@HOST/);
    expect(stderr).not.toContain('hunter2');
  });
});
