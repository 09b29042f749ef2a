import { describe, expect, it } from 'vitest';
import { reduce } from '../../../src/protocol/reduce.ts';
import type { ContractFixture } from '../task-store.ts';
import { chunk, createTask, message, newTask, owner, sequences, status, collect } from './actions.ts';

export function describeSubscribing(fixture: ContractFixture): void {
  describe('subscribe', () => {
    it('returns all events from sequence 0', async () => {
      const log = await fixture.taskStore.create(owner, newTask('t'));
      log.append(status(log, 'working'));
      log.append(chunk(log, 'x', false));
      log.append(status(log, 'completed'));
      const events = await collect(log.subscribe(0));
      expect(events.map(({ kind }) => kind)).toEqual(['task', 'status', 'artifact', 'status']);
      expect(sequences(events)).toEqual([1, 2, 3, 4]);
      expect(reduce(events)).toEqual(log.task());
    });

    it('returns the events after a sequence number', async () => {
      const log = await createTask(fixture.taskStore, 't', ['working', 'working', 'completed']);
      expect(sequences(await collect(log.subscribe(2)))).toEqual([3, 4]);
    });

    it('returns no events after the last one of a finished task', async () => {
      const log = await createTask(fixture.taskStore, 't', ['completed']);
      expect(await collect(log.subscribe(2))).toEqual([]);
    });

    it('returns new events as they are appended', async () => {
      const log = await createTask(fixture.taskStore, 't', ['working']);
      const subscription = log.subscribe(log.sequence);
      const first = subscription.next();
      const working = chunk(log, 'x', false);
      log.append(working);
      expect((await first).value).toEqual({ ...working, sequence: 3 });
      const second = subscription.next();
      log.append(status(log, 'completed'));
      expect((await second).value).toMatchObject({ kind: 'status', sequence: 4 });
      expect(await subscription.next()).toEqual({ done: true, value: undefined });
    });

    it('returns no event before it is persisted', async () => {
      const log = await createTask(fixture.taskStore, 't');
      const subscription = log.subscribe(log.sequence);
      const next = subscription.next();
      log.append(status(log, 'working', 'hi'));
      const { value } = await next;
      expect(value).toMatchObject({ kind: 'status', sequence: 2 });
      expect(log.whenPersisted()).toBeUndefined();
      expect(log.task().status.message?.messageId).toBe('says hi');
      await subscription.return?.();
    });

    it('starts with a snapshot for "now"', async () => {
      const log = await createTask(fixture.taskStore, 't', ['working', 'working']);
      const subscription = log.subscribe('now');
      expect((await subscription.next()).value).toEqual({ kind: 'task', task: log.task(), sequence: 3 });
      const next = subscription.next();
      log.append(status(log, 'completed'));
      expect((await next).value).toMatchObject({ kind: 'status', sequence: 4 });
      expect((await subscription.next()).done).toBe(true);
    });

    it('starts with event 1 for "now" if the task is not persisted yet', async () => {
      const log = await fixture.taskStore.create(owner, newTask('t'));
      const subscription = log.subscribe('now');
      expect((await subscription.next()).value).toMatchObject({ kind: 'task', sequence: 1 });
      await subscription.return?.();
    });

    it('returns a snapshot and the last event of a finished task', async () => {
      await createTask(fixture.taskStore, 't', ['working', 'completed']);
      const log = await fixture.taskStore.open(owner, 't');
      const events = await collect(log?.subscribe(0));
      expect(events[0]?.kind).toBe('task');
      expect(events.at(-1)?.sequence).toBe(3);
      expect(reduce(events)).toEqual(log?.task());
    });

    it('ends after the event that isLast accepts', async () => {
      const log = await createTask(fixture.taskStore, 't', ['working']);
      const events = collect(
        log.subscribe(1, (event) => event.kind === 'status' && event.status.state === 'input-required'),
      );
      log.append(chunk(log, 'x', false));
      log.append(status(log, 'input-required'));
      log.append(status(log, 'working'));
      expect(sequences(await events)).toEqual([2, 3, 4]);
    });

    it('returns the same events in the same order to all subscribers', async () => {
      const log = await createTask(fixture.taskStore, 't', ['working']);
      const subscriptions = [0, 1, 2, 2, 0].map((after) => collect(log.subscribe(after)));
      for (let n = 0; n < 50; n++) {
        log.append(chunk(log, `${n}`));
        if (n % 7 === 0) await log.whenPersisted();
      }
      log.append(status(log, 'completed'));
      const [all, ...others] = await Promise.all(subscriptions);
      expect(sequences(all ?? [])).toEqual(Array.from({ length: 53 }, (_, n) => n + 1));
      expect(others[0]).toEqual(all?.slice(1));
      expect(others[1]).toEqual(all?.slice(2));
      expect(others[2]).toEqual(all?.slice(2));
      expect(others[3]).toEqual(all);
    });

    it('continues for other subscribers after one closes', async () => {
      const log = await createTask(fixture.taskStore, 't', ['working']);
      const closed = log.subscribe(log.sequence);
      const open = log.subscribe(log.sequence);
      const waiting = closed.next();
      const other = open.next();
      await closed.return?.();
      expect(await waiting).toEqual({ done: true, value: undefined });
      log.append(status(log, 'completed'));
      expect((await other).value).toMatchObject({ sequence: 3 });
      expect(await closed.next()).toEqual({ done: true, value: undefined });
    });

    it('omits input messages from events, but not from history', async () => {
      const log = await createTask(fixture.taskStore, 't', ['input-required']);
      const events = collect(log.subscribe(2));
      log.append({ kind: 'input', message: message('m2') });
      log.append(status(log, 'working'));
      log.append({ kind: 'input', message: message('m3') });
      log.append(status(log, 'completed'));
      expect(sequences(await events)).toEqual([4, 6]);
      expect(log.task().history?.map(({ messageId }) => messageId)).toEqual(['m2', 'm3']);
    });

    it('replays all missed events to a slow subscriber', async () => {
      const log = await createTask(fixture.taskStore, 't', ['working']);
      const slow = log.subscribe(1);
      expect((await slow.next()).value).toMatchObject({ sequence: 2 });
      for (let n = 0; n < 5_000; n++) {
        log.append(chunk(log, `${n} `));
        if (n % 500 === 0) await log.whenPersisted();
      }
      log.append(status(log, 'completed'));
      await log.whenPersisted();
      const rest = await collect(slow);
      expect(rest.at(-1)?.sequence).toBe(5_003);
      expect(sequences(rest)).toEqual(Array.from({ length: 5_001 }, (_, n) => n + 3));
    });
  });
}
