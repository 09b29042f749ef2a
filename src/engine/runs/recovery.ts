import type { TaskStore, TaskLog } from '../../store/task-store.ts';
import type { Message } from '../../protocol/message.ts';
import type { LogEntry, ProcessFunction } from '../agent-definition.ts';

/** Collaborators of {@link recoverTasks}. */
interface RecoveryHost {
  timestamp(): string;
  newId(): string;
  report(entry: LogEntry): void;
  resume(log: TaskLog, process: ProcessFunction, message: Message): void;
}

/** Resumes or fails the tasks that were unfinished when an earlier process ended. */
export async function recoverTasks(
  taskStore: TaskStore,
  process: ProcessFunction | undefined,
  host: RecoveryHost,
): Promise<void> {
  for (const { owner, id } of await taskStore.listUnfinished()) {
    const log = await taskStore.open(owner, id);
    if (!log) continue;
    const message = log.task().history?.findLast(({ role }) => role === 'user');
    if (process && message) {
      host.report({ level: 'info', message: 'Resuming a task after a restart', taskId: id });
      host.resume(log, process, message);
      continue;
    }
    host.report({ level: 'warn', message: 'Task failed because of a restart', taskId: id });
    log.append({
      kind: 'status',
      taskId: id,
      contextId: log.contextId,
      status: {
        state: 'failed',
        timestamp: host.timestamp(),
        message: {
          messageId: host.newId(),
          role: 'agent',
          parts: [{ text: 'The agent was restarted while it processed this task. Send the message again.' }],
          contextId: log.contextId,
          taskId: id,
        },
      },
    });
    await log.whenPersisted();
  }
}
