import { describe, expect, it } from 'vitest';
import type { TaskState } from '../../protocol/task.ts';
import type { LogBackend } from '../in-memory-log.ts';
import { LogCache } from './log-cache.ts';
import { SqliteTaskLog } from './sqlite-task-log.ts';

const keeper: LogBackend = { appended: () => undefined, settled: () => undefined, replay: () => undefined };

function newLog(id: string, state: TaskState = 'completed'): SqliteTaskLog {
  return new SqliteTaskLog(keeper, 'ann', { id, contextId: 'c', status: { state } });
}

function idsIn(cache: LogCache): string[] {
  return cache.logs().map(({ id }) => id);
}

describe('LogCache', () => {
  it('keeps those that were used last', () => {
    const cache = new LogCache(2, 1e9);
    for (const id of ['a', 'b']) cache.put(newLog(id));
    cache.get('ann', 'a');
    cache.put(newLog('c'));
    expect(idsIn(cache)).toEqual(['a', 'c']);
    expect(cache.get('ann', 'b')).toBeUndefined();
  });

  it('keeps less when they are large, and notices when they grow', () => {
    const cache = new LogCache(100, 10_000);
    const logs = ['a', 'b', 'c'].map((id) => newLog(id));
    for (const log of logs) cache.put(log);
    expect(idsIn(cache)).toEqual(['a', 'b', 'c']);
    const last = logs[2];
    if (last) last.snapshotSize = 4_200;
    if (last) cache.put(last);
    expect(idsIn(cache)).toEqual(['c']);
    cache.put(newLog('d'));
    expect(idsIn(cache)).toEqual(['d']);
  });

  it('keeps those that wait for a commit or are followed, however many', async () => {
    const cache = new LogCache(1, 1e9);
    const dirty = newLog('dirty');
    dirty.isDirty = true;
    const followed = newLog('followed', 'working');
    const follower = followed.subscribe(1);
    const waiting = follower.next();
    for (const log of [dirty, followed]) cache.put(log);
    for (const id of ['a', 'b', 'c']) cache.put(newLog(id));
    expect(idsIn(cache).sort()).toEqual(['dirty', 'followed']);
    await follower.return();
    await waiting;
    dirty.isDirty = false;
    cache.put(newLog('d'));
    expect(cache.logs().length).toBeLessThanOrEqual(2);
  });

  it('forgets what it is told to', () => {
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
