import type { Clock } from '../primitives/clock.ts';
import type { LogSink } from '../primitives/log.ts';
import { sharedViewOf } from '../primitives/copies/shared-view.ts';
import { memoryTaskStore } from '../store/memory-task-store.ts';
import type { TaskStore } from '../store/task-store.ts';

/** Returns the task store of an agent, by default one in memory, which reports when it is full. */
export function agentTaskStore(
  given: TaskStore | undefined,
  clock: Pick<Clock, 'now'>,
  report: LogSink,
): TaskStore {
  const taskStore = sharedViewOf(given ?? memoryTaskStore({ now: () => clock.now() }));
  taskStore.onEvicted = (count) =>
    report({ level: 'warn', message: 'The task store is full: it evicts finished tasks', fields: { count } });
  return taskStore;
}
