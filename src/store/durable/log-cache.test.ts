import { describe, expect, it } from 'vitest';
import type { TaskState } from '../../protocol/task.ts';
import type { LogBackend } from '../in-memory-log.ts';
import { LogCache } from './log-cache.ts';
import { DurableTaskLog } from './durable-task-log.ts';

const backend: LogBackend = {
  appended: () => undefined,
  whenPersisted: () => undefined,
  replay: () => undefined,
};

function newLog(id: string, state: TaskState = 'completed'): DurableTaskLog {
  return new DurableTaskLog(backend, 'ann', { id, contextId: 'c', status: { state } });
}

function listIds(cache: LogCache): string[] {
  return cache.logs().map(({ id }) => id);
}

describe('LogCache', () => {
  it('evicts the least recently used log', () => {
    const cache = new LogCache(2, 1e9);
    for (const id of ['a', 'b']) cache.put(newLog(id));
    cache.get('ann', 'a');
    cache.put(newLog('c'));
    expect(listIds(cache)).toEqual(['a', 'c']);
    expect(cache.get('ann', 'b')).toBeUndefined();
  });

  it('evicts by size and counts the growth of a log', () => {
    const cache = new LogCache(100, 10_000);
    const logs = ['a', 'b', 'c'].map((id) => newLog(id));
    for (const log of logs) cache.put(log);
    expect(listIds(cache)).toEqual(['a', 'b', 'c']);
    const last = logs[2];
    if (last) last.snapshotSize = 4_200;
    if (last) cache.put(last);
    expect(listIds(cache)).toEqual(['c']);
    cache.put(newLog('d'));
    expect(listIds(cache)).toEqual(['d']);
  });

  it('does not evict dirty logs or logs with waiting subscriptions', async () => {
    const cache = new LogCache(1, 1e9);
    const dirty = newLog('dirty');
    dirty.isDirty = true;
    const subscribed = newLog('subscribed', 'working');
    const subscription = subscribed.subscribe(1);
    const waiting = subscription.next();
    for (const log of [dirty, subscribed]) cache.put(log);
    for (const id of ['a', 'b', 'c']) cache.put(newLog(id));
    expect(listIds(cache).sort()).toEqual(['dirty', 'subscribed']);
    await subscription.return();
    await waiting;
    dirty.isDirty = false;
    cache.put(newLog('d'));
    expect(cache.logs().length).toBeLessThanOrEqual(2);
  });

  it('drops a log even if it is still referenced', () => {
    const cache = new LogCache(1, 1e9);
    const [held, other] = [newLog('held', 'working'), newLog('other', 'working')];
    cache.put(held);
    cache.put(other);
    expect(cache.get('ann', 'held')).toBe(held);
    cache.drop(held);
    expect(cache.get('ann', 'held')).toBeUndefined();
    expect(cache.get('ann', 'other')).toBe(other);
  });
});
