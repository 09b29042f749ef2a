import { afterEach, describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../src/protocol/event.ts';
import type { TaskLog, TaskStore } from '../../src/store/task-store.ts';
import { createTask, owner, status } from './task-store/actions.ts';

/** Declares the contract of subscriptions to the tasks of another process. Neither may depend on periodic reads. */
export function describeFollowedTasks(
  name: string,
  open: () => Promise<TaskStore>,
  reset: () => void,
  isSkipped = false,
): void {
  let stores: TaskStore[] = [];
  afterEach(async () => {
    for (const store of stores) await store[Symbol.asyncDispose]();
    stores = [];
  });

  async function openBoth(): Promise<readonly [holder: TaskStore, follower: TaskStore]> {
    reset();
    for (let at = 0; at < 2; at++) stores.push(await open());
    return stores as [TaskStore, TaskStore];
  }

  async function append(log: TaskLog): Promise<void> {
    log.append(status(log, 'working'));
    await log.whenPersisted();
  }

  async function subscribe(store: TaskStore, id: string): Promise<AsyncIterator<StreamEvent>> {
    const log = await store.open(owner, id);
    if (!log) throw new Error(`Task ${id} was not found`);
    return log.subscribe(log.sequence);
  }

  describe.skipIf(isSkipped)(`subscriptions to tasks of another process in ${name}`, () => {
    it('receive each event', async () => {
      const [holder, follower] = await openBoth();
      const log = await createTask(holder, 'a');
      const events = await subscribe(follower, 'a');
      for (let at = 0; at < 20; at++) {
        const next = events.next();
        await append(log);
        expect((await next).value).toMatchObject({ kind: 'status', sequence: log.sequence });
      }
      await events.return?.();
    });

    it('receive an event that was stored while they did not wait', async () => {
      const [holder, follower] = await openBoth();
      const first = await createTask(holder, 'a');
      const second = await createTask(holder, 'b');
      const [ofFirst, ofSecond] = [await subscribe(follower, 'a'), await subscribe(follower, 'b')];
      const next = ofFirst.next();
      await append(first);
      await next;
      const later = ofSecond.next();
      await append(first);
      await append(second);
      // The follower has now noticed both.
      await later;
      expect((await ofFirst.next()).value).toMatchObject({ kind: 'status', sequence: first.sequence });
      await Promise.all([ofFirst.return?.(), ofSecond.return?.()]);
    });
  });
}
