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

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function webhook(...options: ConstructorParameters<typeof TestWebhook>): Promise<TestWebhook> {
  const hook = await new TestWebhook(...options).start();
  ends.push(() => hook.stop());
  return hook;
}

function setUp(options: PushOptions = {}, ledger: TaskStore = memoryTaskStore()) {
  const clock = new ManualClock();
  const told: string[] = [];
  const outbox = new PushOutbox(
    ledger,
    // Pauses are then 1 s, 2 s, 4 s and so on, and an outbox that closes waits for nobody.
    { clock, random: () => 1, ...options, egress: { allowLoopback: true, ...options.egress } },
    ({ message }) => told.push(message),
  );
  ends.push(() => outbox.close());
  return {
    clock,
    ledger,
    outbox,
    told,
    register: async (url: string, id = 'p', taskId = 't') => {
      const config = { taskId, id, url };
      outbox.check(config);
      await outbox.add(owner, config, await ledger.putPushConfig(owner, config));
    },
    /** Waits until somebody wants to wait so long, and lets that time pass, or more. */
    pass: async (milliseconds: number, by = milliseconds) => {
      if (!clock.delays.includes(milliseconds)) await clock.waitForDelay((delay) => delay === milliseconds);
      clock.delays.length = 0;
      clock.advance(by);
    },
    stateOf: async () => (await ledger.listDeliveries())[0]?.state,
    isOver: async () => (await ledger.listDeliveries()).length === 0,
  };
}

/** Where each notification stands in its task. */
const places = (hook: TestWebhook): number[] => hook.accepted.map(({ id }) => Number(id.split(':')[2]));
const names = (hook: TestWebhook): string[] => hook.received.map(({ id }) => id);

function goOn(log: TaskLog, ...states: Parameters<typeof status>[1][]): void {
  for (const state of states) log.append(status(log, state));
}

describe('a webhook', () => {
  it('gets everything in order, and then is done with', async () => {
    const { ledger, register, isOver, outbox } = setUp();
    const hook = await webhook();
    const log = await createTask(ledger, 't');
    await register(hook.url);
    goOn(log, 'working', 'input-required', 'working', 'completed');
    await waitUntilTrue(isOver);
    expect(names(hook)).toEqual(['t:p:1', 't:p:2', 't:p:3', 't:p:4', 't:p:5']);
    await waitUntilTrue(() => outbox.size === 0);
  });

  it('that fails gets the same again, under the same name, before anything else', async () => {
    const { ledger, register, pass, isOver, stateOf } = setUp();
    const hook = await webhook(() => (hook.received.length <= 2 ? 500 : 200));
    const log = await createTask(ledger, 't', ['completed']);
    await register(hook.url);
    await pass(1_000);
    await hook.waitUntil(() => hook.received.length === 2);
    await waitUntilTrue(async () => (await stateOf())?.attempts === 2);
    expect(await stateOf()).toMatchObject({
      delivered: 0,
      error: 'HTTP 500',
      retryAt: expect.stringMatching(/Z$/),
    });
    await pass(2_000);
    await waitUntilTrue(isOver);
    expect(names(hook)).toEqual(['t:p:1', 't:p:1', 't:p:1', 't:p:2']);
    expect(new Set(hook.received.slice(0, 3).map(({ text }) => text)).size).toBe(1);
    expect(log.state).toBe('completed');
  });

  it('that breaks the connection gets it again', async () => {
    const { ledger, register, pass, isOver } = setUp();
    const hook = await webhook(() => (hook.received.length === 1 ? 'reset' : 200));
    await createTask(ledger, 't', ['completed']);
    await register(hook.url);
    await pass(1_000);
    await waitUntilTrue(isOver);
    expect(places(hook)).toEqual([1, 2]);
  });

  it('that says nothing is in nobody’s way', async () => {
    const { ledger, register, pass, isOver, stateOf } = setUp({ timeout: 300, maxPerHost: 1 });
    const silent = await webhook(() => (silent.received.length === 1 ? 'hang' : 200));
    const hook = await webhook();
    await createTask(ledger, 't', ['completed']);
    await register(silent.url, 'silent');
    await silent.waitUntil(() => silent.received.length === 1);
    await register(hook.url, 'p');
    await hook.waitUntil(() => hook.accepted.length === 2);
    expect(silent.accepted).toEqual([]);
    await pass(1_000);
    await waitUntilTrue(isOver);
    expect(await stateOf()).toBeUndefined();
    expect(places(silent)).toEqual([1, 2]);
  });

  it('is not followed to where it redirects', async () => {
    const { ledger, register, stateOf } = setUp();
    const inner = await webhook();
    const hook = await webhook(() => ({ status: 307, headers: { location: inner.url } }));
    await createTask(ledger, 't', ['completed']);
    await register(hook.url);
    await waitUntilTrue(async () => (await stateOf())?.error === 'HTTP 307');
    expect(inner.received).toEqual([]);
  });

  it('whose name suddenly leads into the own network gets nothing there', async () => {
    const connected: string[] = [];
    const addresses = ['127.0.0.1', '10.0.0.7', '169.254.169.254', '127.0.0.1'];
    const { ledger, register, pass, isOver, stateOf } = setUp({
      egress: {
        schemes: ['http'],
        resolve: async () => [addresses.length > 1 ? (addresses.shift() ?? '') : (addresses[0] ?? '')],
        onConnect: (address) => connected.push(address),
      },
    });
    const hook = await webhook(() => ({ status: 200, headers: { connection: 'close' } }));
    await createTask(ledger, 't', ['completed']);
    await register(`http://hook.example:${hook.port}/hook`);
    await pass(1_000);
    await waitUntilTrue(async () => (await stateOf())?.attempts === 2);
    expect(await stateOf()).toMatchObject({
      delivered: 1,
      error: expect.stringContaining('denied'),
    });
    await pass(2_000);
    await waitUntilTrue(isOver);
    expect(names(hook)).toEqual(['t:p:1', 't:p:2']);
    expect(new Set(connected)).toEqual(new Set(['127.0.0.1']));
  });

  it('that is down for a while misses nothing', async () => {
    const { ledger, register, pass, isOver, stateOf, clock } = setUp();
    const hook = await webhook();
    const log = await createTask(ledger, 't');
    await register(hook.url);
    await waitUntilTrue(async () => (await stateOf())?.delivered === 1);
    await hook.stop();
    goOn(log, 'working', 'input-required', 'working');
    await pass(1_000);
    await pass(2_000);
    goOn(log, 'completed');
    await pass(4_000, 0);
    expect(await stateOf()).toMatchObject({ delivered: 1, error: expect.stringContaining('ECONNREFUSED') });
    await hook.start();
    clock.advance(4_000);
    await waitUntilTrue(isOver);
    expect(places(hook)).toEqual([1, 2, 3, 4, 5]);
  });

  it('that is gone for good is removed', async () => {
    const { ledger, register, told } = setUp();
    const hook = await webhook(() => 410);
    const log = await createTask(ledger, 't');
    await register(hook.url);
    await waitUntilTrue(async () => (await ledger.listPushConfigs(owner, 't')).length === 0);
    goOn(log, 'working', 'completed');
    expect(hook.received).toHaveLength(1);
    expect(told).toEqual([expect.stringContaining('is gone')]);
  });

  it('may say when to come again', async () => {
    const { ledger, register, pass, isOver } = setUp();
    const hook = await webhook(() =>
      hook.received.length === 1 ? { status: 503, headers: { 'retry-after': '30' } } : 200,
    );
    await createTask(ledger, 't', ['completed']);
    await register(hook.url);
    await pass(31_000);
    await waitUntilTrue(isOver);
  });

  it('that is replaced goes on where it was', async () => {
    const { ledger, register, isOver } = setUp();
    const broken = await webhook(() => (broken.received.length === 1 ? 200 : 500));
    const hook = await webhook();
    await createTask(ledger, 't', ['working', 'completed']);
    await register(broken.url);
    await broken.waitUntil(() => broken.received.length === 2);
    await Promise.all([register(broken.url), register(hook.url)]);
    await waitUntilTrue(isOver);
    expect(places(hook)).toEqual([2, 3]);
  });

  it('gets the rest when its place could not be noted', async () => {
    const ledger = memoryTaskStore();
    const note = ledger.putDelivery.bind(ledger);
    let faults = 1;
    ledger.putDelivery = (...noted) => {
      if (faults-- > 0) throw new A2AError('UNAVAILABLE');
      return note(...noted);
    };
    const { register, pass, isOver, told } = setUp({}, ledger);
    const hook = await webhook();
    await createTask(ledger, 't', ['completed']);
    await register(hook.url);
    await pass(1_000);
    await waitUntilTrue(isOver);
    expect(names(hook)).toEqual(['t:p:1', 't:p:2']);
    expect(told).toEqual([expect.stringContaining('ledger failed')]);
  });

  it('that is removed hears nothing more', async () => {
    const { ledger, register, outbox } = setUp();
    const hook = await webhook();
    const log = await createTask(ledger, 't');
    await register(hook.url);
    await waitUntilTrue(async () => (await ledger.listDeliveries())[0]?.state.delivered === 1);
    await ledger.deletePushConfig(owner, 't', 'p');
    outbox.remove(owner, 't', 'p');
    goOn(log, 'working', 'completed');
    await waitUntilTrue(() => outbox.size === 0);
    expect(places(hook)).toEqual([1]);
  });
});

describe('a webhook that is given up', () => {
  it('is listed, and goes on in order when it is retried', async () => {
    const { ledger, register, pass, isOver, told, outbox, clock } = setUp({ maxAttempts: 3 });
    const hook = await webhook(() => (hook.received.length === 1 || hook.received.length > 4 ? 200 : 500));
    const log = await createTask(ledger, 't', ['working']);
    await register(hook.url);
    await pass(1_000);
    await pass(2_000);
    await waitUntilTrue(() => outbox.size === 0);
    goOn(log, 'input-required', 'completed');
    const [dead, ...others] = await listDeadLetters(ledger);
    expect(others).toEqual([]);
    expect(dead).toMatchObject({
      owner,
      config: { id: 'p' },
      state: { delivered: 1, attempts: 3, error: 'HTTP 500', deadSince: expect.stringMatching(/Z$/) },
      sequence: 4,
    });
    expect(told).toEqual([expect.stringContaining('given up (attempts: 3)')]);
    expect(await listDeadLetters(ledger, { taskId: 'x' })).toEqual([]);
    expect(await retryDeadLetters(ledger, { configId: 'x' })).toEqual([]);
    // Nobody has asked for it, so looking finds nothing to do.
    await pass(5_000);
    await waitUntilTrue(() => clock.pending > 0);
    expect(hook.received).toHaveLength(4);
    expect(await retryDeadLetters(ledger, { taskId: 't', configId: 'p' })).toHaveLength(1);
    expect(await listDeadLetters(ledger)).toEqual([]);
    expect(await listDeliveries(ledger)).toHaveLength(1);
    await pass(5_000);
    await waitUntilTrue(isOver);
    expect(places(hook)).toEqual([1, 2, 3, 4]);
  });

  it('is so after a time, however few attempts there were', async () => {
    const { ledger, register, pass } = setUp({ maxAge: 10_000 });
    const hook = await webhook(() => 500);
    await createTask(ledger, 't', ['completed']);
    await register(hook.url);
    await pass(1_000);
    await pass(2_000, 20_000);
    await waitUntilTrue(async () => (await listDeadLetters(ledger)).length === 1);
  });
});

describe('an outbox that closes', () => {
  it('waits for what is on its way', async () => {
    const { ledger, register, outbox } = setUp();
    let answer = (): void => {};
    const hook = await webhook(() => 'hang');
    const held = new Promise<void>((resolve) => (answer = resolve));
    hook.hold = held;
    await createTask(ledger, 't', ['completed']);
    await register(hook.url);
    await hook.waitUntil(() => hook.received.length === 1);
    hook.behavior = () => 200;
    const closed = outbox.close();
    answer();
    await closed;
    expect(await ledger.listDeliveries()).toEqual([]);
    expect(outbox.size).toBe(0);
  });

  it('does not wait for ever, and the next one sends what is left', async () => {
    const { ledger, register, outbox, pass } = setUp();
    const hook = await webhook(() => (hook.received.length === 1 ? 200 : 'hang'));
    const log = await createTask(ledger, 't', ['working']);
    await register(hook.url);
    await hook.waitUntil(() => hook.received.length === 2);
    const closed = outbox.close();
    await pass(1_500);
    await closed;
    expect(await ledger.listDeliveries()).toMatchObject([{ state: { delivered: 1, attempts: 0 } }]);
    goOn(log, 'completed');
    hook.behavior = () => 200;
    const next = setUp({}, ledger);
    await next.outbox.resume(await ledger.listDeliveries());
    await waitUntilTrue(next.isOver);
    expect(names(hook)).toEqual(['t:p:1', 't:p:2', 't:p:2', 't:p:3']);
  });

  it('leaves a pause to the next, which keeps it, and the dead', async () => {
    const first = setUp({ maxAttempts: 1 });
    const hook = await webhook(() => 500);
    await createTask(first.ledger, 't', ['completed']);
    await first.register(hook.url, 'dead');
    await waitUntilTrue(async () => (await listDeadLetters(first.ledger)).length === 1);
    await first.outbox.close();
    const second = setUp({}, first.ledger);
    await second.outbox.resume(await first.ledger.listDeliveries());
    await second.register(hook.url, 'slow');
    await second.pass(1_000, 0);
    await second.outbox.close();
    hook.behavior = () => 200;
    const third = setUp({}, first.ledger);
    await third.outbox.resume(await first.ledger.listDeliveries());
    expect(third.outbox.size).toBe(1);
    await third.pass(1_000);
    await waitUntilTrue(async () => (await first.ledger.listDeliveries()).length === 1);
    expect(hook.accepted.map(({ id }) => id)).toEqual(['t:slow:1', 't:slow:2']);
    await retryDeadLetters(first.ledger);
    third.clock.advance(5_000);
    await waitUntilTrue(third.isOver);
  });

  it('takes nothing more', async () => {
    const { ledger, register, outbox } = setUp();
    await outbox.close();
    await createTask(ledger, 't');
    await register('http://127.0.0.1:9/');
    expect(outbox.size).toBe(0);
  });
});
