import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import {
  isInterrupted,
  isTerminal,
  isTerminalOrInterrupted,
  type Task,
  type TraceContext,
} from '../../protocol/task.ts';
import type { TaskCommand, TaskLog, TaskStore } from '../../store/task-store.ts';
import { isTurnEnd } from '../messages/turn.ts';
import type { ProcessFunction } from '../agent-definition.ts';
import { isConflict, persistedTask, whenSettled } from './persisted-task.ts';
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
    if (log.state === 'canceled') {
      // Cancellation is idempotent. Another process may become the writer before the state is stored.
      const task = await persistedTask(log);
      if (task.status.state === 'canceled') return task;
    }
    if (isTerminal(log.state)) {
      throw new A2AError('TASK_NOT_CANCELABLE', `The task is already ${log.state}`, {
        details: { taskId: log.id },
      });
    }
    const isWriter = runs.find(log) || (await claimOrCommand(taskStore, log, { kind: 'cancel' }, isTurnEnd));
    // The task may have ended meanwhile.
    if (!isWriter || isTerminal(log.state)) continue;
    (runs.find(log) ?? createRun()).stop('canceled');
    const task = await persistedTask(log);
    // Another process may have become the writer meanwhile.
    if (task.status.state === 'canceled') return task;
  }
}

/** Collaborators of {@link passMessage}. */
interface PassingContext {
  /** Trace context of the request. */
  readonly trace: TraceContext | undefined;
  /** Leaves an unfinished task without a run to recovery. */
  readonly leave: (log: TaskLog) => Promise<void>;
}

/**
 * Prepares a task for a message.
 *
 * @returns false if the process that holds it has received the message.
 */
export async function passMessage(
  taskStore: TaskStore,
  runs: TaskRunTable,
  log: TaskLog,
  message: Message,
  { trace, leave }: PassingContext,
): Promise<boolean> {
  if (runs.find(log)) return true;
  const command: TaskCommand = { kind: 'message', message, sequence: log.sequence, trace };
  if (!(await claimOrCommand(taskStore, log, command, () => true))) return false;
  if (!taskStore.isShared || isTerminalOrInterrupted(log.state) || runs.find(log)) return true;
  // The task has continued meanwhile, and then its process has ended: recovery continues it.
  await leave(log);
  return false;
}

/**
 * Stores a message of a task that this process holds, and passes it to its run, or starts one.
 *
 * @returns undefined if another process has become the writer of the task: the message is not stored.
 */
export async function acceptMessage(
  taskStore: TaskStore,
  runs: TaskRunTable,
  log: TaskLog,
  message: Message,
  createRun: () => TaskRun,
  process: ProcessFunction,
): Promise<TaskRun | undefined> {
  const activeRun = runs.find(log);
  if (activeRun && !activeRun.isAsking) {
    throw new A2AError('UNSUPPORTED_OPERATION', 'The task does not accept messages in its current state', {
      details: { taskId: log.id },
    });
  }
  try {
    log.append({ kind: 'input', message });
    const run = activeRun ?? createRun();
    // The message and the state are stored together, so that a takeover finds a task to continue.
    if (activeRun) activeRun.answer(message);
    else run.status('working');
    // In a shared store, the message runs only after it is stored, because another process may store it instead.
    const persisting = taskStore.isShared ? log.whenPersisted() : undefined;
    if (activeRun) await persisting;
    else if (persisting) await runWhen(persisting, () => run.runProcess(process, message));
    else run.runProcess(process, message);
    return run;
  } catch (error) {
    if (!isConflict(error)) throw error;
    await log.refresh?.();
    return undefined;
  }

  /** During an outage of the store, the client receives the error, and the run starts when the message is persisted. */
  async function runWhen(persisted: PromiseLike<void>, start: () => void): Promise<void> {
    try {
      await persisted;
    } catch (error) {
      const ended = isConflict(error) ? undefined : taskStore.outage?.()?.ended;
      void ended
        ?.then(() => runWhen(log.whenPersisted() ?? Promise.resolve(), start))
        .then(undefined, () => undefined);
      throw error;
    }
    start();
  }
}

/** Executes commands of other processes for the runs of this one. */
export function executeCommand(runs: TaskRunTable, log: TaskLog, command: TaskCommand): void {
  // The sequence number is final when all events are persisted.
  const settling = command.kind === 'message' ? whenSettled(log) : undefined;
  if (settling) {
    settling.then(() => executeCommand(runs, log, command)).catch(() => undefined);
    return;
  }
  const run = runs.find(log);
  if (!run) {
    // A claim that was not followed by a run: the sender claims the task itself.
    if (isInterrupted(log.state)) log.release?.();
  } else if (command.kind === 'cancel') run.stop('canceled');
  // A command that arrives twice finds the message that it has appended.
  else if (run.isAsking && log.sequence === command.sequence) {
    log.append({ kind: 'input', message: command.message });
    run.answer(command.message);
  }
}
