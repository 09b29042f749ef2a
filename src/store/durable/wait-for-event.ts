import type { Clock } from '../../primitives/clock.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { TaskLog } from '../task-store.ts';

/** Resolves after an event for which `isDone` returns true, at the latest after a time in milliseconds. */
export async function waitForEvent(
  log: TaskLog,
  isDone: (event: StreamEvent) => boolean,
  milliseconds: number,
  clock: Pick<Clock, 'after'>,
): Promise<void> {
  const events = log.subscribe(log.sequence);
  const cancel = clock.after(milliseconds, () => void events.return?.());
  try {
    for await (const event of events) if (isDone(event)) return;
  } catch {
    // The caller reads the task again.
  } finally {
    cancel();
  }
}
