import { describe, expect, it } from 'vitest';
import { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import type { TaskState } from '../protocol/task.ts';
import { InMemoryTaskLog, type LogBackend } from './in-memory-log.ts';

/** A keeper that stores when it is told to, and replays in pieces of its choice. */
class SlowKeeper implements LogBackend {
  stored: TaskChange[] = [];
  pieces = 2;

  appended(_log: InMemoryTaskLog, change: TaskChange): void {
    this.stored.push(change);
  }

  settled(): undefined {
    return undefined;
  }

  async replay(_log: InMemoryTaskLog, after: number): Promise<TaskChange[]> {
    return this.stored.filter(({ sequence = 0 }) => sequence > after).slice(0, this.pieces);
  }
}

function newLog(): { log: InMemoryTaskLog; keeper: SlowKeeper } {
  const keeper = new SlowKeeper();
  const log = new InMemoryTaskLog(keeper, 'ann', { id: 't', contextId: 'c', status: { state: 'submitted' } });
  return { log, keeper };
}

const status = (state: TaskState): TaskChange => ({
  kind: 'status',
  taskId: 't',
  contextId: 'c',
  status: { state },
});
const input = (): TaskChange => ({ kind: 'input', message: { messageId: 'm', role: 'user', parts: [] } });

async function sequencesOf(events: AsyncIterable<StreamEvent>): Promise<(number | undefined)[]> {
  const taken: (number | undefined)[] = [];
  for await (const { sequence } of events) taken.push(sequence);
  return taken;
}

describe('Follower', () => {
  it('waits for what is appended until it is published', async () => {
    const { log } = newLog();
    const follower = log.subscribe(1);
    let isThere = false;
    const next = follower.next().then((result) => {
      isThere = true;
      return result;
    });
    log.append(status('working'));
    await Promise.resolve();
    expect(isThere).toBe(false);
    expect(log.task().status.state).toBe('submitted');
    log.publish();
    expect((await next).value).toMatchObject({ sequence: 2 });
    expect(log.task().status.state).toBe('working');
  });

  it('reads what is no longer in memory piece by piece, then goes on in memory', async () => {
    const { log } = newLog();
    for (let n = 0; n < 9; n++) log.append(status('working'));
    log.publish();
    log.trim(2);
    const events = sequencesOf(log.subscribe(1));
    log.append(status('completed'));
    log.publish();
    expect(await events).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('is not misled by pieces of which it may show nothing', async () => {
    const { log } = newLog();
    for (let n = 0; n < 6; n++) log.append(input());
    log.append(status('completed'));
    log.publish();
    log.trim(0);
    expect(await sequencesOf(log.subscribe(1))).toEqual([8]);
  });

  it('gives without waiting what is there', () => {
    const { log } = newLog();
    for (let n = 0; n < 3; n++) log.append(status('working'));
    log.publish();
    const follower = log.subscribe(1);
    expect([follower.pull(), follower.pull(), follower.pull()].map((event) => event?.sequence)).toEqual([
      2, 3, 4,
    ]);
    expect(follower.pull()).toBeUndefined();
    expect(follower.isOver).toBe(false);
  });

  it('wakes whoever is parked once, when there is more', () => {
    const { log } = newLog();
    const follower = log.subscribe(1);
    let woken = 0;
    expect(follower.park({ wake: () => woken++ })).toBe(true);
    log.append(status('working'));
    log.publish();
    log.append(status('completed'));
    log.publish();
    expect(woken).toBe(1);
    expect([follower.pull(), follower.pull()].map((event) => event?.sequence)).toEqual([2, 3]);
    expect(follower.isOver).toBe(true);
    expect(follower.park({ wake: () => woken++ })).toBe(false);
  });

  it('does not wake whoever left', async () => {
    const { log } = newLog();
    const follower = log.subscribe(1);
    let woken = 0;
    follower.park({ wake: () => woken++ });
    await follower.return();
    log.append(status('working'));
    log.publish();
    expect(woken).toBe(0);
  });

  it('cannot park where it has to look for what is no longer in memory', () => {
    const { log } = newLog();
    log.append(status('working'));
    log.publish();
    log.trim(0);
    expect(log.subscribe(1).park({ wake: () => {} })).toBe(false);
  });

  it('ends with the task as it stands when its reader calls that the last', async () => {
    const { log, keeper } = newLog();
    log.append(status('input-required'));
    log.publish();
    log.trim(0);
    keeper.stored = [];
    const follower = log.subscribe(1, (event) => event.kind === 'task');
    expect((await follower.next()).value).toMatchObject({ kind: 'task', sequence: 2 });
    expect((await follower.next()).done).toBe(true);
  });

  it('leaves while it reads from disk', async () => {
    const { log } = newLog();
    for (let n = 0; n < 3; n++) log.append(status('working'));
    log.publish();
    log.trim(0);
    const follower = log.subscribe(1);
    const next = follower.next();
    await follower.return();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(log.isFollowed).toBe(false);
  });

  it('takes only itself off the list when it leaves', async () => {
    const { log } = newLog();
    const followers = [log.subscribe(1), log.subscribe(1), log.subscribe(1)];
    const waiting = followers.map((follower) => follower.next());
    await followers[1]?.return();
    log.append(status('working'));
    log.publish();
    const results = await Promise.all(waiting);
    expect(results.map(({ done }) => done ?? false)).toEqual([false, true, false]);
    expect(log.isFollowed).toBe(false);
  });

  it('gives what is visible and then the fault of a log that was given up', async () => {
    const { log } = newLog();
    log.append(status('working'));
    log.publish();
    const late = log.subscribe(1);
    const waiting = log.subscribe(2).next();
    log.append(status('completed'));
    const folded = log.reducer();
    expect(folded.status.state).toBe('completed');
    const fault = new A2AError('UNAVAILABLE');
    log.abandon(fault);
    await expect(waiting).rejects.toBe(fault);
    expect((await late.next()).value).toMatchObject({ sequence: 2 });
    await expect(late.next()).rejects.toBe(fault);
    expect((await late.next()).done).toBe(true);
    expect(log.task().status.state).toBe('working');
    expect(() => log.append(status('failed'))).toThrow(fault);
    await expect(log.whenPersisted()).rejects.toBe(fault);
  });

  it('sees what somebody else stored', async () => {
    const { log } = newLog();
    const events = sequencesOf(log.subscribe(0));
    log.receive([status('working'), status('completed')]);
    expect(await events).toEqual([1, 2, 3]);
    expect(log).toMatchObject({ sequence: 3, state: 'completed', isFinished: true });
  });
});
