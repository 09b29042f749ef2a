import type { TaskLog, TaskStore } from '../../store/task-store.ts';
import { A2AError } from '../../protocol/errors.ts';
import { isTerminalOrInterrupted } from '../../protocol/task.ts';
import type { LogEntry } from '../agent-definition.ts';

/** Collaborators of {@link failTask}. */
export interface FailTaskHost {
  timestamp(): string;
  newId(): string;
  report(entry: LogEntry): void;
}

/** Fails a task that has no run. */
export function failTask(log: TaskLog, text: string, host: FailTaskHost): void {
  const { id: taskId, contextId } = log;
  log.append({
    kind: 'status',
    taskId,
    contextId,
    status: {
      state: 'failed',
      timestamp: host.timestamp(),
      message: { messageId: host.newId(), role: 'agent', parts: [{ text }], contextId, taskId },
    },
  });
}

/** Fails a task whose log was abandoned, unless another process has changed or finished it. */
export async function failAbandonedTask(
  taskStore: TaskStore,
  { owner, id }: TaskLog,
  error: A2AError,
  host: FailTaskHost,
): Promise<void> {
  if (error.reason === 'CONFLICT') return;
  host.report({ level: 'error', message: 'The events of a task could not be stored', taskId: id, error });
  try {
    const log = await taskStore.open(owner, id);
    if (!log || isTerminalOrInterrupted(log.state) || !(await (log.claim?.() ?? true))) return;
    failTask(log, 'The agent could not finish this task.', host);
    await log.whenPersisted();
  } catch (thrown) {
    const message = 'The final status of a task could not be stored';
    host.report({ level: 'error', message, taskId: id, error: A2AError.from(thrown) });
  }
}
