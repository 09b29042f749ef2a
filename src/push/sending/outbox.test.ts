import { afterEach, describe, expect, it } from 'vitest';
import { createTask, owner, status } from '../../../test/contracts/task-store/actions.ts';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { waitUntilTrue, TestWebhook } from '../../../test/support/push/test-webhook.ts';
import type { TaskStore, TaskLog } from '../../store/task-store.ts';
import { memoryTaskStore } from '../../store/memory-task-store.ts';
import { A2AError } from '../../protocol/errors.ts';
import { listDeadLetters, listDeliveries, retryDeadLetters } from './dead-letters.ts';
import type { PushOptions } from '../push-options.ts';
import { PushOutbox } from './outbox.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
});

async function webhook(...options: ConstructorParameters<typeof TestWebhook>): Promise<TestWebhook> {
  const hook = await new TestWebhook(...options).start();
  cleanups.push(() => hook.stop());
  return hook;
}

function setUp(options: PushOptions = {}, taskStore: TaskStore = memoryTaskStore()) {
  const clock = new ManualClock();
  const messages: string[] = [];
  const outbox = new PushOutbox(
    taskStore,
    // Retry delays are 1 s, 2 s, 4 s and so on.
    { clock, random: () => 1, ...options, egress: { allowLoopback: true, ...options.egress } },
    ({ message }) => messages.push(message),
  );
  cleanups.push(() => outbox.close());
  return {
    clock,
    taskStore,
    outbox,
    messages,
    register: async (url: string, id = 'p', taskId = 't') => {
      const config = { taskId, id, url };
      outbox.check(config);
      await outbox.add(owner, config, await taskStore.putPushConfig(owner, config));
    },
    /** Waits until a timer with this delay is set, then advances the clock. */
    advanceAfterDelay: async (milliseconds: number, by = milliseconds) => {
      if (!clock.delays.includes(milliseconds)) await clock.waitForDelay((delay) => delay === milliseconds);
      clock.delays.length = 0;
      clock.advance(by);
    },
    readState: async () => (await taskStore.listDeliveries())[0]?.state,
    isComplete: async () => (await taskStore.listDeliveries()).length === 0,
  };
}

/** Returns the sequence numbers of the accepted notifications. */
const sequences = (hook: TestWebhook): number[] => hook.accepted.map(({ id }) => Number(id.split(':')[2]));
const deliveryIds = (hook: TestWebhook): string[] => hook.received.map(({ id }) => id);

function appendStates(log: TaskLog, ...states: Parameters<typeof status>[1][]): void {
  for (const state of states) log.append(status(log, state));
}

describe('PushOutbox', () => {
  it('delivers all events in order and cleanups the worker', async () => {
    const { taskStore, register, isComplete, outbox } = setUp();
    const hook = await webhook();
    const log = await createTask(taskStore, 't');
    await register(hook.url);
    appendStates(log, 'working', 'input-required', 'working', 'completed');
    await waitUntilTrue(isComplete);
    expect(deliveryIds(hook)).toEqual(['t:p:1', 't:p:2', 't:p:3', 't:p:4', 't:p:5']);
    await waitUntilTrue(() => outbox.size === 0);
  });

  it('delivers after more failures of a shared task store than deliveries to one host may run', async () => {
    const taskStore = memoryTaskStore();
    let failures = 3;
    const shared = new Proxy(taskStore, {
      get(target, name) {
        if (name === 'isShared') return true;
        const value: unknown = Reflect.get(target, name);
        if (name !== 'listPushConfigs') return typeof value === 'function' ? value.bind(target) : value;
        return (...args: Parameters<TaskStore['listPushConfigs']>) => {
          if (failures-- > 0) throw new A2AError('UNAVAILABLE');
          return target.listPushConfigs(...args);
        };
      },
    });
    const { clock, register, isComplete } = setUp({ maxPerHost: 1 }, shared);
    const hook = await webhook();
    await createTask(taskStore, 't', ['completed']);
    await register(hook.url);
    await waitUntilTrue(async () => {
      clock.advance(60_000);
      return isComplete();
    });
    expect(sequences(hook)).toEqual([1, 2]);
  });

  it('retries a failed notification with the same id before later ones', async () => {
    const { taskStore, register, advanceAfterDelay, isComplete, readState } = setUp();
    const hook = await webhook(() => (hook.received.length <= 2 ? 500 : 200));
    const log = await createTask(taskStore, 't', ['completed']);
    await register(hook.url);
    await advanceAfterDelay(1_000);
    await hook.waitUntil(() => hook.received.length === 2);
    await waitUntilTrue(async () => (await readState())?.attempts === 2);
    expect(await readState()).toMatchObject({
      delivered: 0,
      error: 'HTTP 500',
      retryAt: expect.stringMatching(/Z$/),
    });
    await advanceAfterDelay(2_000);
    await waitUntilTrue(isComplete);
    expect(deliveryIds(hook)).toEqual(['t:p:1', 't:p:1', 't:p:1', 't:p:2']);
    expect(new Set(hook.received.slice(0, 3).map(({ text }) => text)).size).toBe(1);
    expect(log.state).toBe('completed');
  });

  it('retries after a connection reset', async () => {
    const { taskStore, register, advanceAfterDelay, isComplete } = setUp();
    const hook = await webhook(() => (hook.received.length === 1 ? 'reset' : 200));
    await createTask(taskStore, 't', ['completed']);
    await register(hook.url);
    await advanceAfterDelay(1_000);
    await waitUntilTrue(isComplete);
    expect(sequences(hook)).toEqual([1, 2]);
  });

  it('does not block other webhooks while one hangs', async () => {
    const { taskStore, register, advanceAfterDelay, isComplete, readState } = setUp({
      timeout: 1_500,
      maxPerHost: 1,
    });
    const silent = await webhook(() => (silent.received.length === 1 ? 'hang' : 200));
    const hook = await webhook();
    await createTask(taskStore, 't', ['completed']);
    await register(silent.url, 'silent');
    await silent.waitUntil(() => silent.received.length === 1);
    await register(hook.url, 'p');
    await hook.waitUntil(() => hook.accepted.length === 2);
    expect(silent.accepted).toEqual([]);
    await advanceAfterDelay(1_000);
    await waitUntilTrue(isComplete);
    expect(await readState()).toBeUndefined();
    expect(sequences(silent)).toEqual([1, 2]);
  });

  it('does not follow redirects', async () => {
    const { taskStore, register, readState } = setUp();
    const inner = await webhook();
    const hook = await webhook(() => ({ status: 307, headers: { location: inner.url } }));
    await createTask(taskStore, 't', ['completed']);
    await register(hook.url);
    await waitUntilTrue(async () => (await readState())?.error === 'HTTP 307');
    expect(inner.received).toEqual([]);
  });

  it('does not connect to private addresses after DNS rebinding', async () => {
    const connected: string[] = [];
    const addresses = ['127.0.0.1', '10.0.0.7', '169.254.169.254', '127.0.0.1'];
    const { taskStore, register, advanceAfterDelay, isComplete, readState } = setUp({
      egress: {
        schemes: ['http'],
        resolve: async () => [addresses.length > 1 ? (addresses.shift() ?? '') : (addresses[0] ?? '')],
        onConnect: (address) => connected.push(address),
      },
    });
    const hook = await webhook(() => ({ status: 200, headers: { connection: 'close' } }));
    await createTask(taskStore, 't', ['completed']);
    await register(`http://hook.example:${hook.port}/hook`);
    await advanceAfterDelay(1_000);
    await waitUntilTrue(async () => (await readState())?.attempts === 2);
    expect(await readState()).toMatchObject({
      delivered: 1,
      error: expect.stringContaining('denied'),
    });
    await advanceAfterDelay(2_000);
    await waitUntilTrue(isComplete);
    expect(deliveryIds(hook)).toEqual(['t:p:1', 't:p:2']);
    expect(new Set(connected)).toEqual(new Set(['127.0.0.1']));
  });

  it('delivers all events after an outage of the webhook', async () => {
    const { taskStore, register, advanceAfterDelay, isComplete, readState, clock } = setUp();
    const hook = await webhook();
    const log = await createTask(taskStore, 't');
    await register(hook.url);
    await waitUntilTrue(async () => (await readState())?.delivered === 1);
    await hook.stop();
    appendStates(log, 'working', 'input-required', 'working');
    await advanceAfterDelay(1_000);
    await advanceAfterDelay(2_000);
    appendStates(log, 'completed');
    await advanceAfterDelay(4_000, 0);
    expect(await readState()).toMatchObject({ delivered: 1, error: expect.stringContaining('ECONNREFUSED') });
    await hook.start();
    clock.advance(4_000);
    await waitUntilTrue(isComplete);
    expect(sequences(hook)).toEqual([1, 2, 3, 4, 5]);
  });

  it('deletes the configuration after 410 Gone', async () => {
    const { taskStore, register, messages } = setUp();
    const hook = await webhook(() => 410);
    const log = await createTask(taskStore, 't');
    await register(hook.url);
    await waitUntilTrue(async () => (await taskStore.listPushConfigs(owner, 't')).length === 0);
    appendStates(log, 'working', 'completed');
    expect(hook.received).toHaveLength(1);
    expect(messages).toEqual([expect.stringContaining('410 Gone')]);
  });

  it('respects Retry-After', async () => {
    const { taskStore, register, advanceAfterDelay, isComplete } = setUp();
    const hook = await webhook(() =>
      hook.received.length === 1 ? { status: 503, headers: { 'retry-after': '30' } } : 200,
    );
    await createTask(taskStore, 't', ['completed']);
    await register(hook.url);
    await advanceAfterDelay(31_000);
    await waitUntilTrue(isComplete);
  });

  it('continues from the stored cursor when a configuration is replaced', async () => {
    const { taskStore, register, isComplete } = setUp();
    const broken = await webhook(() => (broken.received.length === 1 ? 200 : 500));
    const hook = await webhook();
    await createTask(taskStore, 't', ['working', 'completed']);
    await register(broken.url);
    await broken.waitUntil(() => broken.received.length === 2);
    await Promise.all([register(broken.url), register(hook.url)]);
    await waitUntilTrue(isComplete);
    expect(sequences(hook)).toEqual([2, 3]);
  });

  it('does not repeat what a worker delivered after the deliveries of this process were read', async () => {
    const { taskStore, register, isComplete, outbox } = setUp();
    const hook = await webhook();
    const log = await createTask(taskStore, 't');
    const config = { taskId: 't', id: 'p', url: hook.url };
    const held = [{ owner, config, state: { delivered: 0, attempts: 0 }, sequence: 3, isHeld: true }];
    await register(hook.url);
    appendStates(log, 'working', 'completed');
    await waitUntilTrue(isComplete);
    await waitUntilTrue(() => outbox.size === 0);
    await outbox.resume(held);
    await waitUntilTrue(() => outbox.size === 0);
    expect(sequences(hook)).toEqual([1, 2, 3]);
  });

  it('continues when the cursor could not be stored', async () => {
    const taskStore = memoryTaskStore();
    const putDelivery = taskStore.putDelivery.bind(taskStore);
    let failures = 1;
    taskStore.putDelivery = (...args) => {
      if (failures-- > 0) throw new A2AError('UNAVAILABLE');
      return putDelivery(...args);
    };
    const { register, advanceAfterDelay, isComplete, messages } = setUp({}, taskStore);
    const hook = await webhook();
    await createTask(taskStore, 't', ['completed']);
    await register(hook.url);
    await advanceAfterDelay(1_000);
    await waitUntilTrue(isComplete);
    expect(deliveryIds(hook)).toEqual(['t:p:1', 't:p:2']);
    expect(messages).toEqual([expect.stringContaining('Task store error')]);
  });

  it('stops the delivery to a removed webhook', async () => {
    const { taskStore, register, outbox } = setUp();
    const hook = await webhook();
    const log = await createTask(taskStore, 't');
    await register(hook.url);
    await waitUntilTrue(async () => (await taskStore.listDeliveries())[0]?.state.delivered === 1);
    await taskStore.deletePushConfig(owner, 't', 'p');
    outbox.remove(owner, 't', 'p');
    appendStates(log, 'working', 'completed');
    await waitUntilTrue(() => outbox.size === 0);
    expect(sequences(hook)).toEqual([1]);
  });
});

describe('dead letter', () => {
  it('lists a dead letter and continues in order after a manual retry', async () => {
    const { taskStore, register, advanceAfterDelay, isComplete, messages, outbox, clock } = setUp({
      maxAttempts: 3,
    });
    const hook = await webhook(() => (hook.received.length === 1 || hook.received.length > 4 ? 200 : 500));
    const log = await createTask(taskStore, 't', ['working']);
    await register(hook.url);
    await advanceAfterDelay(1_000);
    await advanceAfterDelay(2_000);
    await waitUntilTrue(() => outbox.size === 0);
    appendStates(log, 'input-required', 'completed');
    const [dead, ...others] = await listDeadLetters(taskStore);
    expect(others).toEqual([]);
    expect(dead).toMatchObject({
      owner,
      config: { id: 'p' },
      state: { delivered: 1, attempts: 3, error: 'HTTP 500', deadSince: expect.stringMatching(/Z$/) },
      sequence: 4,
    });
    expect(messages).toEqual([expect.stringContaining('failed (attempts: 3)')]);
    expect(await listDeadLetters(taskStore, { taskId: 'x' })).toEqual([]);
    expect(await retryDeadLetters(taskStore, { configId: 'x' })).toEqual([]);
    // Without a manual retry the poll finds nothing.
    await advanceAfterDelay(5_000);
    await waitUntilTrue(() => clock.pending > 0);
    expect(hook.received).toHaveLength(4);
    expect(await retryDeadLetters(taskStore, { taskId: 't', configId: 'p' })).toHaveLength(1);
    expect(await listDeadLetters(taskStore)).toEqual([]);
    expect(await listDeliveries(taskStore)).toHaveLength(1);
    await advanceAfterDelay(5_000);
    await waitUntilTrue(isComplete);
    expect(sequences(hook)).toEqual([1, 2, 3, 4]);
  });

  it('creates a dead letter after maxAge regardless of the number of attempts', async () => {
    const { taskStore, register, advanceAfterDelay } = setUp({ maxAge: 10_000 });
    const hook = await webhook(() => 500);
    await createTask(taskStore, 't', ['completed']);
    await register(hook.url);
    await advanceAfterDelay(1_000);
    await advanceAfterDelay(2_000, 20_000);
    await waitUntilTrue(async () => (await listDeadLetters(taskStore)).length === 1);
  });
});

describe('PushOutbox.close', () => {
  it('waits for current deliveries', async () => {
    const { taskStore, register, outbox } = setUp();
    let answer = (): void => {};
    const hook = await webhook(() => 'hang');
    const held = new Promise<void>((resolve) => (answer = resolve));
    hook.hold = held;
    await createTask(taskStore, 't', ['completed']);
    await register(hook.url);
    await hook.waitUntil(() => hook.received.length === 1);
    hook.behavior = () => 200;
    const closed = outbox.close();
    answer();
    await closed;
    expect(await taskStore.listDeliveries()).toEqual([]);
    expect(outbox.size).toBe(0);
  });

  it('stops waiting after closeTimeout; resume() delivers the rest', async () => {
    const { taskStore, register, outbox, advanceAfterDelay } = setUp();
    const hook = await webhook(() => (hook.received.length === 1 ? 200 : 'hang'));
    const log = await createTask(taskStore, 't', ['working']);
    await register(hook.url);
    await hook.waitUntil(() => hook.received.length === 2);
    const closed = outbox.close();
    await advanceAfterDelay(1_500);
    await closed;
    expect(await taskStore.listDeliveries()).toMatchObject([{ state: { delivered: 1, attempts: 0 } }]);
    appendStates(log, 'completed');
    hook.behavior = () => 200;
    const next = setUp({}, taskStore);
    await next.outbox.resume(await taskStore.listDeliveries());
    await waitUntilTrue(next.isComplete);
    expect(deliveryIds(hook)).toEqual(['t:p:1', 't:p:2', 't:p:2', 't:p:3']);
  });

  it('preserves retry delays and dead letters for resume()', async () => {
    const first = setUp({ maxAttempts: 1 });
    const hook = await webhook(() => 500);
    await createTask(first.taskStore, 't', ['completed']);
    await first.register(hook.url, 'dead');
    await waitUntilTrue(async () => (await listDeadLetters(first.taskStore)).length === 1);
    await first.outbox.close();
    const second = setUp({}, first.taskStore);
    await second.outbox.resume(await first.taskStore.listDeliveries());
    await second.register(hook.url, 'slow');
    await second.advanceAfterDelay(1_000, 0);
    await second.outbox.close();
    hook.behavior = () => 200;
    const third = setUp({}, first.taskStore);
    await third.outbox.resume(await first.taskStore.listDeliveries());
    expect(third.outbox.size).toBe(1);
    await third.advanceAfterDelay(1_000);
    await waitUntilTrue(async () => (await first.taskStore.listDeliveries()).length === 1);
    expect(hook.accepted.map(({ id }) => id)).toEqual(['t:slow:1', 't:slow:2']);
    await retryDeadLetters(first.taskStore);
    third.clock.advance(5_000);
    await waitUntilTrue(third.isComplete);
  });

  it('accepts no further webhooks', async () => {
    const { taskStore, register, outbox } = setUp();
    await outbox.close();
    await createTask(taskStore, 't');
    await register('http://127.0.0.1:9/');
    expect(outbox.size).toBe(0);
  });
});
