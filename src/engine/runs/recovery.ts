import type { TaskLog, TaskStore, UnfinishedTask } from '../../store/task-store.ts';
import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { ProcessFunction } from '../agent-definition.ts';
import { type FailTaskHost, failTask } from './fail-task.ts';

/** Collaborators of {@link recoverTasks}. */
interface RecoveryHost extends FailTaskHost {
  /** Returns true if a run of this process owns the task. */
  isRunning(log: TaskLog): boolean;
  resume(log: TaskLog, process: ProcessFunction, message: Message): void;
}

/** Tasks per transaction. Requests are processed between two batches. */
const batchSize = 256;

/**
 * Resumes or fails the tasks that were unfinished when an earlier process ended. Requests may arrive meanwhile: a task
 * that a client cancels or changes first is left as it is.
 */
export async function recoverTasks(
  taskStore: TaskStore,
  process: ProcessFunction | undefined,
  host: RecoveryHost,
): Promise<void> {
  const unfinished = await taskStore.listUnfinished();
  for (let start = 0; start < unfinished.length; start += batchSize) {
    const batch = unfinished.slice(start, start + batchSize);
    const recovered = await Promise.all(batch.map((task) => recoverTask(taskStore, task, process, host)));
    for (const log of recovered) if (log) await waitUntilStored(log, host);
    await taskStore.outage?.()?.ended;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** @returns the log if the task was changed. */
async function recoverTask(
  taskStore: TaskStore,
  { owner, id }: UnfinishedTask,
  process: ProcessFunction | undefined,
  host: RecoveryHost,
): Promise<TaskLog | undefined> {
  try {
    const opening: MaybePromise<TaskLog | undefined> = taskStore.open(owner, id);
    const log = opening instanceof Promise ? await opening : opening;
    if (!log || (log.state !== 'submitted' && log.state !== 'working') || host.isRunning(log))
      return undefined;
    const message = log.task().history?.findLast(({ role }) => role === 'user');
    if (process && message) {
      host.report({ level: 'info', message: 'Resuming a task after a restart', taskId: id });
      host.resume(log, process, message);
    } else {
      host.report({ level: 'warn', message: 'Task failed because of a restart', taskId: id });
      failTask(log, 'The agent was restarted while it processed this task. Send the message again.', host);
    }
    return log;
  } catch (error) {
    reportFailure(id, error, host);
    return undefined;
  }
}

async function waitUntilStored(log: TaskLog, host: RecoveryHost): Promise<void> {
  try {
    await log.whenPersisted();
  } catch (error) {
    reportFailure(log.id, error, host);
  }
}

/** A conflict is no failure: another process or a client was faster. */
function reportFailure(taskId: string, error: unknown, host: RecoveryHost): void {
  if (A2AError.from(error).reason === 'CONFLICT') return;
  host.report({ level: 'error', message: 'A task could not be recovered after a restart', taskId, error });
}
