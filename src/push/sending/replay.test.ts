import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createTask, owner, status } from '../../../test/contracts/task-store/actions.ts';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { TestWebhook, waitUntilTrue } from '../../../test/support/push/test-webhook.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { memoryTaskStore } from '../../store/memory-task-store.ts';
import { sqliteTaskStore } from '../../store/sqlite.ts';
import { listDeadLetters, retryDeadLetters } from './dead-letters.ts';
import { PushOutbox } from './outbox.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
});

const sequences = (hook: TestWebhook): number[] => hook.accepted.map(({ id }) => Number(id.split(':')[2]));

const versions = ['1.0', '0.3', '0.1'] as const;

/** Registers one webhook per version, which all become dead letters, and ends the task. */
async function createDeadLetters(taskStore: TaskStore, hooks: readonly TestWebhook[]): Promise<void> {
  const clock = new ManualClock();
  const outbox = new PushOutbox(taskStore, { clock, maxAttempts: 1, egress: { allowLoopback: true } });
  const log = await createTask(taskStore, 't');
  for (const [n, version] of versions.entries()) {
    const config = { taskId: 't', id: version, url: hooks[n]?.url ?? '', version };
    await outbox.add(owner, config, await taskStore.putPushConfig(owner, config));
  }
  for (const state of ['working', 'input-required', 'completed'] as const) {
    log.append(status(log, state));
    await log.whenPersisted();
  }
  await waitUntilTrue(async () => (await listDeadLetters(taskStore)).length === versions.length);
  await outbox.close();
}

/** Starts webhooks that fail until `recover` is called. */
async function startWebhooks(): Promise<{ hooks: TestWebhook[]; recover: () => void }> {
  let code = 500;
  const hooks: TestWebhook[] = [];
  for (const _version of versions) {
    const hook = await new TestWebhook(() => code).start();
    cleanups.push(() => hook.stop());
    hooks.push(hook);
  }
  return { hooks, recover: () => (code = 200) };
}

async function expectAllEvents(taskStore: TaskStore, hooks: readonly TestWebhook[]): Promise<void> {
  const outbox = new PushOutbox(taskStore, { clock: new ManualClock(), egress: { allowLoopback: true } });
  await retryDeadLetters(taskStore);
  await outbox.resume(await taskStore.listDeliveries());
  await waitUntilTrue(async () => (await taskStore.listDeliveries()).length === 0);
  await outbox.close();
  for (const hook of hooks) expect(sequences(hook)).toEqual([1, 2, 3, 4]);
  const [, v03, v01] = hooks;
  for (const hook of [v03, v01]) {
    const states = hook?.accepted.map(
      ({ text }) => (JSON.parse(text) as { status: { state: string } }).status.state,
    );
    expect(states).toEqual(['submitted', 'working', 'input-required', 'completed']);
  }
}

describe('dead letter that is retried', () => {
  it('delivers every event after a restart, with the task at that event before 1.0', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-replay-'));
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'tasks.db');
    const { hooks, recover } = await startWebhooks();
    const before = await sqliteTaskStore({ file });
    await createDeadLetters(before, hooks);
    await before[Symbol.asyncDispose]();
    recover();
    const after = await sqliteTaskStore({ file });
    cleanups.push(() => after[Symbol.asyncDispose]());
    await expectAllEvents(after, hooks);
  });

  it('delivers every event from memory although many other tasks have finished since', async () => {
    const taskStore = memoryTaskStore({ maxReplayableEvents: 10 });
    const { hooks, recover } = await startWebhooks();
    await createDeadLetters(taskStore, hooks);
    for (let n = 0; n < 50; n++) await createTask(taskStore, `other-${n}`, ['working', 'completed']);
    recover();
    await expectAllEvents(taskStore, hooks);
    // The events are released after the delivery.
    const log = await taskStore.open(owner, 't');
    expect(await log?.subscribe(0).next()).toMatchObject({ value: { kind: 'task', sequence: 4 } });
  });
});

it('delivers the events of a running task beyond maxEvents', async () => {
  const taskStore = memoryTaskStore({ maxEvents: 4 });
  const hook = await new TestWebhook(() => 200).start();
  cleanups.push(() => hook.stop());
  const log = await createTask(taskStore, 't');
  const config = { taskId: 't', id: 'p', url: hook.url };
  const state = await taskStore.putPushConfig(owner, config);
  for (let n = 0; n < 30; n++) log.append(status(log, 'working'));
  log.append(status(log, 'completed'));
  const outbox = new PushOutbox(taskStore, { egress: { allowLoopback: true } });
  cleanups.push(() => outbox.close());
  await outbox.add(owner, config, state);
  await waitUntilTrue(async () => (await taskStore.listDeliveries()).length === 0);
  expect(sequences(hook)).toEqual(Array.from({ length: 32 }, (_, n) => n + 1));
});
