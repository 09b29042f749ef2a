import { describe, expect, it } from 'vitest';
import { reduce } from '../../../src/protocol/reduce.ts';
import type { Bench } from '../task-store.ts';
import { chunk, given, message, newTask, owner, sequences, status, take } from './actions.ts';

export function describeFollowing(bench: Bench): void {
  describe('following', () => {
    it('gives everything from the beginning', async () => {
      const log = await bench.ledger.create(owner, newTask('t'));
      log.append(status(log, 'working'));
      log.append(chunk(log, 'x', false));
      log.append(status(log, 'completed'));
      const events = await take(log.subscribe(0));
      expect(events.map(({ kind }) => kind)).toEqual(['task', 'status', 'artifact', 'status']);
      expect(sequences(events)).toEqual([1, 2, 3, 4]);
      expect(reduce(events)).toEqual(log.task());
    });

    it('gives what comes after a place in the middle', async () => {
      const log = await given(bench.ledger, 't', ['working', 'working', 'completed']);
      expect(sequences(await take(log.subscribe(2)))).toEqual([3, 4]);
    });

    it('gives nothing after the end of a finished task', async () => {
      const log = await given(bench.ledger, 't', ['completed']);
      expect(await take(log.subscribe(2))).toEqual([]);
    });

    it('gives what comes, when it comes', async () => {
      const log = await given(bench.ledger, 't', ['working']);
      const follower = log.subscribe(log.sequence);
      const first = follower.next();
      const working = chunk(log, 'x', false);
      log.append(working);
      expect((await first).value).toEqual({ ...working, sequence: 3 });
      const second = follower.next();
      log.append(status(log, 'completed'));
      expect((await second).value).toMatchObject({ kind: 'status', sequence: 4 });
      expect(await follower.next()).toEqual({ done: true, value: undefined });
    });

    it('shows nothing before it is stored', async () => {
      const log = await given(bench.ledger, 't');
      const follower = log.subscribe(log.sequence);
      const next = follower.next();
      log.append(status(log, 'working', 'hi'));
      const { value } = await next;
      expect(value).toMatchObject({ kind: 'status', sequence: 2 });
      expect(log.whenPersisted()).toBeUndefined();
      expect(log.task().status.message?.messageId).toBe('says hi');
      await follower.return?.();
    });

    it('begins with the task as it stands when asked to begin now', async () => {
      const log = await given(bench.ledger, 't', ['working', 'working']);
      const follower = log.subscribe('now');
      expect((await follower.next()).value).toEqual({ kind: 'task', task: log.task(), sequence: 3 });
      const next = follower.next();
      log.append(status(log, 'completed'));
      expect((await next).value).toMatchObject({ kind: 'status', sequence: 4 });
      expect((await follower.next()).done).toBe(true);
    });

    it('begins now with a task that is not stored yet', async () => {
      const log = await bench.ledger.create(owner, newTask('t'));
      const follower = log.subscribe('now');
      expect((await follower.next()).value).toMatchObject({ kind: 'task', sequence: 1 });
      await follower.return?.();
    });

    it('gives the task as it stands where it was finished long ago', async () => {
      await given(bench.ledger, 't', ['working', 'completed']);
      const log = await bench.ledger.open(owner, 't');
      const events = await take(log?.subscribe(0));
      expect(events[0]?.kind).toBe('task');
      expect(events.at(-1)?.sequence).toBe(3);
      expect(reduce(events)).toEqual(log?.task());
    });

    it('ends after the event that its reader calls the last', async () => {
      const log = await given(bench.ledger, 't', ['working']);
      const events = take(
        log.subscribe(1, (event) => event.kind === 'status' && event.status.state === 'input-required'),
      );
      log.append(chunk(log, 'x', false));
      log.append(status(log, 'input-required'));
      log.append(status(log, 'working'));
      expect(sequences(await events)).toEqual([2, 3, 4]);
    });

    it('gives every reader the same events in the same order', async () => {
      const log = await given(bench.ledger, 't', ['working']);
      const readers = [0, 1, 2, 2, 0].map((after) => take(log.subscribe(after)));
      for (let n = 0; n < 50; n++) {
        log.append(chunk(log, `${n}`));
        if (n % 7 === 0) await log.whenPersisted();
      }
      log.append(status(log, 'completed'));
      const [all, ...others] = await Promise.all(readers);
      expect(sequences(all ?? [])).toEqual(Array.from({ length: 53 }, (_, n) => n + 1));
      expect(others[0]).toEqual(all?.slice(1));
      expect(others[1]).toEqual(all?.slice(2));
      expect(others[2]).toEqual(all?.slice(2));
      expect(others[3]).toEqual(all);
    });

    it('goes on without a reader that leaves', async () => {
      const log = await given(bench.ledger, 't', ['working']);
      const gone = log.subscribe(log.sequence);
      const stays = log.subscribe(log.sequence);
      const waiting = gone.next();
      const other = stays.next();
      await gone.return?.();
      expect(await waiting).toEqual({ done: true, value: undefined });
      log.append(status(log, 'completed'));
      expect((await other).value).toMatchObject({ sequence: 3 });
      expect(await gone.next()).toEqual({ done: true, value: undefined });
    });

    it('hides what the caller said from readers, but not from history', async () => {
      const log = await given(bench.ledger, 't', ['input-required']);
      const events = take(log.subscribe(2));
      log.append({ kind: 'input', message: message('m2') });
      log.append(status(log, 'working'));
      log.append({ kind: 'input', message: message('m3') });
      log.append(status(log, 'completed'));
      expect(sequences(await events)).toEqual([4, 6]);
      expect(log.task().history?.map(({ messageId }) => messageId)).toEqual(['m2', 'm3']);
    });

    it('lets a slow reader catch up with a long task', async () => {
      const log = await given(bench.ledger, 't', ['working']);
      const reader = log.subscribe(1);
      expect((await reader.next()).value).toMatchObject({ sequence: 2 });
      for (let n = 0; n < 5_000; n++) {
        log.append(chunk(log, `${n} `));
        if (n % 500 === 0) await log.whenPersisted();
      }
      log.append(status(log, 'completed'));
      await log.whenPersisted();
      const rest = await take(reader);
      expect(rest.at(-1)?.sequence).toBe(5_003);
      expect(sequences(rest)).toEqual(Array.from({ length: 5_001 }, (_, n) => n + 3));
    });
  });
}
