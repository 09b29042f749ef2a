import { describe, expect, it } from 'vitest';
import { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import type { TaskState } from '../protocol/task.ts';
import { InMemoryTaskLog, type LogBackend } from './in-memory-log.ts';

/** A backend that leaves publishing to the test and replays two changes at a time. */
class ManualBackend implements LogBackend {
  stored: TaskChange[] = [];
  pageSize = 2;

  appended(_log: InMemoryTaskLog, change: TaskChange): void {
    this.stored.push(change);
  }

  whenPersisted(): undefined {
    return undefined;
  }

  async replay(_log: InMemoryTaskLog, after: number): Promise<TaskChange[]> {
    return this.stored.filter(({ sequence = 0 }) => sequence > after).slice(0, this.pageSize);
  }
}

function newLog(): { log: InMemoryTaskLog; backend: ManualBackend } {
  const backend = new ManualBackend();
  const log = new InMemoryTaskLog(backend, 'ann', {
    id: 't',
    contextId: 'c',
    status: { state: 'submitted' },
  });
  return { log, backend };
}

const status = (state: TaskState): TaskChange => ({
  kind: 'status',
  taskId: 't',
  contextId: 'c',
  status: { state },
});
const input = (): TaskChange => ({ kind: 'input', message: { messageId: 'm', role: 'user', parts: [] } });

async function collectSequences(events: AsyncIterable<StreamEvent>): Promise<(number | undefined)[]> {
  const sequences: (number | undefined)[] = [];
  for await (const { sequence } of events) sequences.push(sequence);
  return sequences;
}

describe('LogSubscription', () => {
  it('returns an appended event only after it is published', async () => {
    const { log } = newLog();
    const subscription = log.subscribe(1);
    let hasArrived = false;
    const next = subscription.next().then((result) => {
      hasArrived = true;
      return result;
    });
    log.append(status('working'));
    await Promise.resolve();
    expect(hasArrived).toBe(false);
    expect(log.task().status.state).toBe('submitted');
    log.publish();
    expect((await next).value).toMatchObject({ sequence: 2 });
    expect(log.task().status.state).toBe('working');
  });

  it('replays evicted events from storage in pages, then continues in memory', async () => {
    const { log } = newLog();
    for (let n = 0; n < 9; n++) log.append(status('working'));
    log.publish();
    log.trim(2);
    const events = collectSequences(log.subscribe(1));
    log.append(status('completed'));
    log.publish();
    expect(await events).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('continues after replayed pages without visible events', async () => {
    const { log } = newLog();
    for (let n = 0; n < 6; n++) log.append(input());
    log.append(status('completed'));
    log.publish();
    log.trim(0);
    expect(await collectSequences(log.subscribe(1))).toEqual([8]);
  });

  it('pulls buffered events synchronously', () => {
    const { log } = newLog();
    for (let n = 0; n < 3; n++) log.append(status('working'));
    log.publish();
    const subscription = log.subscribe(1);
    expect(
      [subscription.pull(), subscription.pull(), subscription.pull()].map((event) => event?.sequence),
    ).toEqual([2, 3, 4]);
    expect(subscription.pull()).toBeUndefined();
    expect(subscription.isOver).toBe(false);
  });

  it('wakes a parked waiter once', () => {
    const { log } = newLog();
    const subscription = log.subscribe(1);
    let woken = 0;
    expect(subscription.park({ wake: () => woken++ })).toBe(true);
    log.append(status('working'));
    log.publish();
    log.append(status('completed'));
    log.publish();
    expect(woken).toBe(1);
    expect([subscription.pull(), subscription.pull()].map((event) => event?.sequence)).toEqual([2, 3]);
    expect(subscription.isOver).toBe(true);
    expect(subscription.park({ wake: () => woken++ })).toBe(false);
  });

  it('does not wake a closed subscription', async () => {
    const { log } = newLog();
    const subscription = log.subscribe(1);
    let woken = 0;
    subscription.park({ wake: () => woken++ });
    await subscription.return();
    log.append(status('working'));
    log.publish();
    expect(woken).toBe(0);
  });

  it('does not park when the next event must be read from storage', () => {
    const { log } = newLog();
    log.append(status('working'));
    log.publish();
    log.trim(0);
    expect(log.subscribe(1).park({ wake: () => {} })).toBe(false);
  });

  it('ends with a snapshot that isLast accepts', async () => {
    const { log, backend } = newLog();
    log.append(status('input-required'));
    log.publish();
    log.trim(0);
    backend.stored = [];
    const subscription = log.subscribe(1, (event) => event.kind === 'task');
    expect((await subscription.next()).value).toMatchObject({ kind: 'task', sequence: 2 });
    expect((await subscription.next()).done).toBe(true);
  });

  it('closes during a replay', async () => {
    const { log } = newLog();
    for (let n = 0; n < 3; n++) log.append(status('working'));
    log.publish();
    log.trim(0);
    const subscription = log.subscribe(1);
    const next = subscription.next();
    await subscription.return();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(log.hasWaitingSubscriptions).toBe(false);
  });

  it('removes only itself from the waiting list when closed', async () => {
    const { log } = newLog();
    const subscriptions = [log.subscribe(1), log.subscribe(1), log.subscribe(1)];
    const waiting = subscriptions.map((subscription) => subscription.next());
    await subscriptions[1]?.return();
    log.append(status('working'));
    log.publish();
    const results = await Promise.all(waiting);
    expect(results.map(({ done }) => done ?? false)).toEqual([false, true, false]);
    expect(log.hasWaitingSubscriptions).toBe(false);
  });

  it('returns visible events, then the error of an abandoned log', async () => {
    const { log } = newLog();
    log.append(status('working'));
    log.publish();
    const late = log.subscribe(1);
    const waiting = log.subscribe(2).next();
    log.append(status('completed'));
    const reduced = log.reducePending();
    expect(reduced.status.state).toBe('completed');
    const error = new A2AError('UNAVAILABLE');
    log.abandon(error);
    await expect(waiting).rejects.toBe(error);
    expect((await late.next()).value).toMatchObject({ sequence: 2 });
    await expect(late.next()).rejects.toBe(error);
    expect((await late.next()).done).toBe(true);
    expect(log.task().status.state).toBe('working');
    expect(() => log.append(status('failed'))).toThrow(error);
    await expect(log.whenPersisted()).rejects.toBe(error);
  });

  it('returns events stored by another process', async () => {
    const { log } = newLog();
    const events = collectSequences(log.subscribe(0));
    log.receive([status('working'), status('completed')]);
    expect(await events).toEqual([1, 2, 3]);
    expect(log).toMatchObject({ sequence: 3, state: 'completed', isFinished: true });
  });
});
