import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { userRequest, expectTask } from '../../support/engine/conversation.ts';
import { type RunningCommand, serveModule } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { TestWebhook } from '../../support/push/test-webhook.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-cli-push-'));
const store = `sqlite:${join(directory, 'tasks.db')}`;
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Writes the module of an agent with the given push options. */
function writeModule(push: object): string {
  const file = join(directory, 'agent.mjs');
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
  const running: RunningCommand & { url: string } = await serveModule(writeModule(push), [
    '--store',
    store,
    ...flags,
  ]);
  cleanups.push(() => running.stop('SIGKILL'));
  return running;
}

const push = (...args: string[]) => runInProcess(['push', ...args]);

describe('dragoman push', () => {
  it('lists dead deliveries, and a retry reaches the running agent', async () => {
    let isUp = false;
    const hook = await new TestWebhook(() => (isUp ? 200 : 500)).start();
    cleanups.push(() => hook.stop());
    const running = await serveOn(['--allow-loopback-webhooks']);
    const agent = connect(running.url);
    cleanups.push(() => agent.close());
    const pushConfig = { url: `${hook.url}?key=secret`, id: 'p', token: 'secret' };
    const { id } = expectTask(await agent.send(userRequest('go', {}, { configuration: { pushConfig } })));
    await running.prints(/Dead letter: .* \(attempts: 1\)/, 'stderr');

    const { stdout: text, code } = await push('list', '--store', store);
    expect(text).toMatch(
      new RegExp(
        `^dead +task ${id} config p ${hook.url} \\(0 of \\d delivered, 1 attempt failed, dead since .*HTTP 500\\n$`,
      ),
    );
    expect(code).toBe(0);
    const { stdout: json } = await push('list', '--store', store, '--task-id', id, '-o', 'json');
    expect(JSON.parse(json)).toMatchObject([{ status: 'dead', taskId: id, configId: 'p', attempts: 1 }]);
    expect(text + json).not.toContain('secret');
    expect((await push('list', '--store', store, '--config-id', 'x', '-o', 'json')).stdout).toBe('[]\n');

    isUp = true;
    expect((await push('retry', '--store', store, '--config-id', 'x')).stdout).toBe(
      'No dead deliveries to retry.\n',
    );
    expect((await push('retry', '--store', store)).stdout).toMatch(new RegExp(`^pending +task ${id}`));
    await hook.waitUntil(
      () => hook.accepted.at(-1)?.body.statusUpdate?.status.state === 'TASK_STATE_COMPLETED',
    );
    await running.stop();
    expect((await push('list', '--store', store)).stdout).toBe('No pending, failing or dead deliveries.\n');
  });

  it.each([
    ['push list', /Required option '--store/],
    ['push list --store memory', /--store memory cannot be read from another process/],
    ['push list --store sqlite:no-such.db', /File not found: no-such\.db/],
    ['push retry --store nowhere', /Invalid task store "nowhere"/],
  ])('exits with 2 for: dragoman %s', async (args, expected) => {
    const { code, stderr } = await runInProcess(args.split(' '));
    expect(stderr).toMatch(expected);
    expect(code).toBe(2);
  });

  it('documents when a retry takes effect', async () => {
    expect((await push('retry', '--help')).stdout).toMatch(/within 5 seconds/);
  });
});

it('dragoman serve resumes push delivery after it was killed', async () => {
  const hook: TestWebhook = await new TestWebhook(() => (hook.received.length === 1 ? 200 : 'hang')).start();
  cleanups.push(() => hook.stop());
  const first = await serveOn(['--allow-loopback-webhooks'], {});
  const agent = connect(first.url);
  cleanups.push(() => agent.close());
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
  const sequences = [1, 2, 2, ...Array.from({ length: last - 2 }, (_, n) => n + 3)];
  expect(hook.received.map((posted) => posted.id)).toEqual(
    sequences.map((sequence) => `${id}:p:${sequence}`),
  );
});

it('dragoman serve rejects loopback webhooks by default', async () => {
  const running = await serveOn([]);
  const agent = connect(running.url);
  cleanups.push(() => agent.close());
  const pushConfig = { url: 'http://127.0.0.1:9/' };
  await expect(agent.send(userRequest('go', {}, { configuration: { pushConfig } }))).rejects.toMatchObject({
    reason: 'INVALID_PARAMS',
  });
});
