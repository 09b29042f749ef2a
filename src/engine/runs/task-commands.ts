import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { isInterrupted, isTerminal, type Task } from '../../protocol/task.ts';
import type { TaskCommand, TaskLog, TaskStore } from '../../store/task-store.ts';
import { isDuplicate } from '../messages/classify-message.ts';
import { isTurnEnd } from '../messages/turn.ts';
import { persistedTask } from './persisted-task.ts';
import type { TaskRun } from './task-run.ts';
import type { TaskRunTable } from './run-table.ts';

/**
 * Commands to one holder. The store waits for a second or more after each, and takes the task over when the lease of the
 * holder ends, so that a holder that does not respond is busy with something else.
 */
const maxCommands = 20;

/**
 * Makes this process the writer of a task, or passes a command to the process that holds it.
 *
 * @param isDone - returns true for the event with which the holder answers.
 * @returns true if this process may write; false if the holder has changed the task, which the caller then reads again.
 */
async function claimOrCommand(
  taskStore: TaskStore,
  log: TaskLog,
  command: TaskCommand,
  isDone: (event: StreamEvent) => boolean,
): Promise<boolean> {
  const { state, sequence } = log;
  const hasChanged = (): boolean =>
    log.state !== state || (command.kind === 'message' && log.sequence !== sequence);
  for (let sent = 0; sent < maxCommands; sent++) {
    if (await (log.claim?.() ?? true)) return true;
    if (hasChanged()) return false;
    await taskStore.command?.(log, command, isDone);
    if (hasChanged()) return false;
  }
  throw new A2AError('UNAVAILABLE', 'The process that runs the task does not respond', {
    details: { taskId: log.id, retryAfter: '1' },
  });
}

/**
 * Cancels a task, in this process or in the one that holds it.
 *
 * @param createRun - creates a run that ends the task, if there is none.
 */
export async function cancelHeldTask(
  taskStore: TaskStore,
  runs: TaskRunTable,
  log: TaskLog,
  createRun: () => TaskRun,
): Promise<Task> {
  for (;;) {
    // Cancellation is idempotent.
    if (log.state === 'canceled') return persistedTask(log);
    if (isTerminal(log.state)) {
      throw new A2AError('TASK_NOT_CANCELABLE', `The task is already ${log.state}`, {
        details: { taskId: log.id },
      });
    }
    const isWriter = runs.find(log) || (await claimOrCommand(taskStore, log, { kind: 'cancel' }, isTurnEnd));
    // The task may have ended meanwhile.
    if (!isWriter || isTerminal(log.state)) continue;
    (runs.find(log) ?? createRun()).stop('canceled');
    return persistedTask(log);
  }
}

/** Prepares a task for a message. @returns false if the process that holds it has received the message. */
export async function passMessage(
  taskStore: TaskStore,
  runs: TaskRunTable,
  log: TaskLog,
  message: Message,
): Promise<boolean> {
  if (runs.find(log)) return true;
  return claimOrCommand(taskStore, log, { kind: 'message', message }, () => true);
}

/** Executes commands of other processes for the runs of this one. */
export function executeCommand(runs: TaskRunTable, log: TaskLog, command: TaskCommand): void {
  const run = runs.find(log);
  if (!run) {
    // A claim that was not followed by a run: the sender claims the task itself.
    if (isInterrupted(log.state)) log.release?.();
  } else if (command.kind === 'cancel') run.stop('canceled');
  else if (run.isAsking && !isDuplicate(log.task(), command.message)) {
    log.append({ kind: 'input', message: command.message });
    run.answer(command.message);
  }
}
