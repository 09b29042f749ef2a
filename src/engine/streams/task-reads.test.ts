import { describe, expect, it } from 'vitest';
import { memoryTaskStore } from '../../store/memory-task-store.ts';
import type { TaskLog } from '../../store/task-store.ts';
import { TaskReads } from './task-reads.ts';

/** A task that works, and the timers of its reads. */
async function start() {
  const taskStore = memoryTaskStore();
  const timers = new Set<() => void>();
  const every = (_milliseconds: number, tick: () => void): (() => void) => {
    timers.add(tick);
    return () => timers.delete(tick);
  };
  const log: TaskLog = await taskStore.create('', {
    id: 't',
    contextId: 'c',
    status: { state: 'working' },
    generation: 1,
  });
  const { getTask } = new TaskReads(taskStore, { every });
  const change = (state: 'working' | 'completed'): number =>
    log.append({ kind: 'status', taskId: 't', contextId: 'c', status: { state } });
  return { getTask, timers, change };
}

describe('getTask with a known generation', () => {
  it('waits for a greater one', async () => {
    const { getTask, timers, change } = await start();
    const waiting = getTask({ id: 't', currentGeneration: 2 });
    change('working');
    expect(await Promise.race([waiting, Promise.resolve('still waiting')])).toBe('still waiting');
    change('working');
    expect(await waiting).toMatchObject({ generation: 3 });
    expect(timers.size).toBe(0);
  });

  it('returns the task as it is after a time, and when the client disconnects', async () => {
    const { getTask, timers } = await start();
    const timed = getTask({ id: 't', currentGeneration: 1 });
    for (const tick of timers) tick();
    expect(await timed).toMatchObject({ generation: 1 });
    const controller = new AbortController();
    const aborted = getTask({ id: 't', currentGeneration: 1 }, { signal: controller.signal });
    controller.abort();
    expect(await aborted).toMatchObject({ generation: 1 });
    expect(timers.size).toBe(0);
  });

  it('does not wait for a task that has ended, or has exceeded it', async () => {
    const { getTask, timers, change } = await start();
    expect(await getTask({ id: 't', currentGeneration: 0 })).toMatchObject({ generation: 1 });
    change('completed');
    expect(await getTask({ id: 't', currentGeneration: 9 })).toMatchObject({ generation: 2 });
    expect(timers.size).toBe(0);
    await expect(getTask({ id: 'none', currentGeneration: 1 })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });
});
