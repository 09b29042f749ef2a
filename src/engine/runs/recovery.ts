import type { TaskStore, TaskLog } from '../../store/task-store.ts';
import type { Message } from '../../protocol/message.ts';
import type { LogEntry, ProcessFunction } from '../agent-definition.ts';

/** What recovery needs of the engine. */
interface RecoveryHost {
  timestamp(): string;
  newId(): string;
  report(entry: LogEntry): void;
  resume(log: TaskLog, process: ProcessFunction, message: Message): void;
}

/** Takes up the tasks that were running when the process before this one ended, or ends them with a reason. */
export async function recoverTasks(
  ledger: TaskStore,
  process: ProcessFunction | undefined,
  host: RecoveryHost,
): Promise<void> {
  for (const { owner, id } of await ledger.listUnfinished()) {
    const log = await ledger.open(owner, id);
    if (!log) continue;
    const message = log.task().history?.findLast(({ role }) => role === 'user');
    if (process && message) {
      host.report({ level: 'info', message: 'Resuming a task that a restart interrupted', taskId: id });
      host.resume(log, process, message);
      continue;
    }
    host.report({ level: 'warn', message: 'A restart interrupted this task', taskId: id });
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
          parts: [{ text: 'The agent was restarted while it worked on this task. Send the message again.' }],
          contextId: log.contextId,
          taskId: id,
        },
      },
    });
    await log.whenPersisted();
  }
}
