import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { userRequest, expectTask } from '../../support/engine/conversation.ts';
import { runDragoman, type RunningCommand, serveModule } from '../../support/cli/run-command.ts';
import { TestWebhook } from '../../support/push/test-webhook.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-cli-push-'));
const store = `sqlite:${join(folder, 'tasks.db')}`;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An agent that gives webhooks up at once, and looks often whether it should not have. */
function moduleOf(push: object): string {
  const file = join(folder, 'agent.mjs');
  const dist = new URL('../../../dist/index.js', import.meta.url).href;
  writeFileSync(
    file,
    `import { defineAgent } from '${dist}';
    export default defineAgent(
      { name: 'T', description: 'T', pushNotifications: true, process: () => 'Done.' },
      { push: ${JSON.stringify(push)} },
    );`,
  );
  return file;
}

async function serveOn(flags: string[], push: object = { maxAttempts: 1, pollInterval: 50 }) {
  const running: RunningCommand & { url: string } = await serveModule(moduleOf(push), [
    '--store',
    store,
    ...flags,
  ]);
  ends.push(() => running.stop('SIGKILL'));
  return running;
}

const push = (...args: string[]) => runDragoman(['push', ...args]).ended;

describe('dragoman push', () => {
  it('lists what was given up, and a retry reaches the agent that runs', async () => {
    let isUp = false;
    const hook = await new TestWebhook(() => (isUp ? 200 : 500)).start();
    ends.push(() => hook.stop());
    const running = await serveOn(['--allow-loopback-webhooks']);
    const agent = connect(running.url);
    ends.push(() => agent.close());
    const pushConfig = { url: `${hook.url}?key=secret`, id: 'p', token: 'secret' };
    const { id } = expectTask(await agent.send(userRequest('go', {}, { configuration: { pushConfig } })));
    await running.prints(/given up \(attempts: 1\)/, 'stderr');

    const { stdout: text, code } = await push('list', '--store', store);
    expect(text).toMatch(
      new RegExp(
        `^dead +task ${id} config p ${hook.url} \\(0 of \\d arrived, 1 attempt failed, given up .*HTTP 500\\n$`,
      ),
    );
    expect(code).toBe(0);
    const { stdout: json } = await push('list', '--store', store, '--task-id', id, '-o', 'json');
    expect(JSON.parse(json)).toMatchObject([{ status: 'dead', taskId: id, configId: 'p', attempts: 1 }]);
    expect(text + json).not.toContain('secret');
    expect((await push('list', '--store', store, '--config-id', 'x', '-o', 'json')).stdout).toBe('[]\n');

    isUp = true;
    expect((await push('retry', '--store', store, '--config-id', 'x')).stdout).toMatch(/nothing to retry/);
    expect((await push('retry', '--store', store)).stdout).toMatch(new RegExp(`^pending +task ${id}`));
    await hook.waitUntil(
      () => hook.accepted.at(-1)?.body.statusUpdate?.status.state === 'TASK_STATE_COMPLETED',
    );
    await running.stop();
    expect((await push('list', '--store', store)).stdout).toBe('Everything has arrived.\n');
  });

  it.each([
    ['push list', /required option '--store/],
    ['push list --store memory', /cannot be seen from here/],
    ['push list --store sqlite:no-such.db', /there is no file no-such\.db/],
    ['push retry --store nowhere', /is no place for tasks/],
  ])('takes no nonsense: %s', async (args, expected) => {
    const { code, stderr } = await runDragoman(args.split(' ')).ended;
    expect(stderr).toMatch(expected);
    expect(code).toBe(2);
  });

  it('says when a retry is noticed', async () => {
    expect((await push('retry', '--help')).stdout).toMatch(/within 5 seconds/);
  });
});

it('goes on where it was when it is killed in the middle', async () => {
  const hook: TestWebhook = await new TestWebhook(() => (hook.received.length === 1 ? 200 : 'hang')).start();
  ends.push(() => hook.stop());
  const first = await serveOn(['--allow-loopback-webhooks'], {});
  const agent = connect(first.url);
  ends.push(() => agent.close());
  const pushConfig = { url: hook.url, id: 'p' };
  const { id } = expectTask(await agent.send(userRequest('go', {}, { configuration: { pushConfig } })));
  await hook.waitUntil(() => hook.received.length === 2);
  await first.stop('SIGKILL');
  hook.behavior = () => 200;
  await serveOn(['--allow-loopback-webhooks'], {});
  await hook.waitUntil(
    () => hook.accepted.at(-1)?.body.statusUpdate?.status.state === 'TASK_STATE_COMPLETED',
  );
  const last = hook.accepted.length;
  const places = [1, 2, 2, ...Array.from({ length: last - 2 }, (_, n) => n + 3)];
  expect(hook.received.map((posted) => posted.id)).toEqual(places.map((place) => `${id}:p:${place}`));
});

it('sends nothing to this machine unless it is told to', async () => {
  const running = await serveOn([]);
  const agent = connect(running.url);
  ends.push(() => agent.close());
  const pushConfig = { url: 'http://127.0.0.1:9/' };
  await expect(agent.send(userRequest('go', {}, { configuration: { pushConfig } }))).rejects.toMatchObject({
    reason: 'INVALID_PARAMS',
  });
});
