import { sleep, systemClock } from '../../primitives/clock.ts';
import { A2AError, canceledError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { TaskReducer } from '../../protocol/reduce.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import {
  isInterrupted,
  isTask,
  isTerminal,
  isTerminalOrInterrupted,
  type Task,
} from '../../protocol/task.ts';
import { wireState } from './output.ts';
import type { ClientSession } from './session.ts';
import { printWarning } from '../terminal/print-error.ts';
import { quoteShellWord } from '../terminal/quote-shell-word.ts';
import { sanitizeForTerminal } from '../terminal/sanitize.ts';

/** Errors of a stream after which the task is polled instead. */
const pollableErrors: ReadonlySet<string> = new Set([
  'UNAVAILABLE',
  'TIMEOUT',
  'INVALID_AGENT_RESPONSE',
  'UNSUPPORTED_OPERATION',
  'METHOD_NOT_FOUND',
]);

/** Texts that stand for the message in commands to resume. */
export const placeholders = { reply: '<reply>', next: '<next>' } as const;

/** Delay before the message that a task is being waited for, in milliseconds. */
const waitingMessageDelay = 1_000;

/** Sends a message and waits until the task reaches a terminal or interrupted state. */
export async function sendAndWait(session: ClientSession, request: SendRequest): Promise<Task | Message> {
  const { agent, card, call } = session;
  if (card.capabilities.streaming === true)
    return followToEnd(session, agent.stream(request, call), () => {}, isContinuation(request));
  // An interrupted task stays interrupted until the agent processes the reply, so polling could return too early: the
  // agent has to block.
  const configuration = { ...request.configuration, returnImmediately: !isContinuation(request) };
  const result = await agent.send({ ...request, configuration }, call);
  return isTask(result) ? pollToEnd(session, result) : result;
}

/** Returns true if a message continues a task. */
export function isContinuation({ message }: SendRequest): boolean {
  return message.taskId !== undefined;
}

/**
 * Reads events until the task reaches a terminal or interrupted state. If the stream breaks, polls the task instead.
 *
 * @param onEvent - called with each event.
 * @param isReply - the message continues a task: the first snapshot may still be interrupted from before the reply.
 */
export async function followToEnd(
  session: ClientSession,
  events: AsyncIterable<StreamEvent>,
  onEvent: (event: StreamEvent) => void,
  isReply = false,
): Promise<Task | Message> {
  let reducer: TaskReducer | undefined;
  let isDone = false;
  const stopProgress = showProgress(session, () => reducer?.task());
  try {
    for await (const event of events) {
      onEvent(event);
      if (event.kind === 'message') return event.message;
      const isStale = isReply && reducer === undefined && event.kind === 'task';
      reducer ??= new TaskReducer(event.kind === 'task' ? event.task : initialTask(event));
      reducer.apply(event);
      session.taskId = reducer.id;
      const { state } = reducer.status;
      isDone = isTerminalOrInterrupted(state) && !(isStale && isInterrupted(state));
      if (isDone) break;
    }
  } catch (thrown) {
    const { reason } = A2AError.from(thrown);
    if (!reducer || !pollableErrors.has(reason) || session.call.signal?.aborted) throw thrown;
    printWarning('The stream was interrupted; polling the task instead');
  } finally {
    stopProgress();
  }
  if (!reducer) throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent closed the stream without an event');
  if (isDone) return reducer.task();
  const task = await pollToEnd(session, reducer.task());
  onEvent({ kind: 'task', task });
  return task;
}

/** Returns the initial task of a stream that does not start with a task snapshot. */
function initialTask(event: Exclude<StreamEvent, { kind: 'task' | 'message' }>): Task {
  return { id: event.taskId, contextId: event.contextId, status: { state: 'unknown' } };
}

/** Polls a task until it reaches a terminal or interrupted state, with bounded backoff. */
export async function pollToEnd(session: ClientSession, first: Task, historyLength?: number): Promise<Task> {
  const { agent, call, flags } = session;
  let task = first;
  session.taskId = task.id;
  // At least 50 ms, so that no setting makes a busy loop.
  const minInterval = Math.max(flags.pollInterval, 50);
  let interval = minInterval;
  const stopProgress = showProgress(session, () => task);
  try {
    for (let failures = 0; !isTerminalOrInterrupted(task.status.state); ) {
      await sleep(systemClock, interval, call.signal, canceledError);
      interval = Math.min(interval * 1.25, minInterval * 5);
      try {
        task = await agent.getTask({ id: task.id, historyLength }, call);
        failures = 0;
      } catch (thrown) {
        const isTransient = ['UNAVAILABLE', 'TIMEOUT'].includes(A2AError.from(thrown).reason);
        if (!isTransient || call.signal?.aborted || ++failures >= 3) throw thrown;
      }
    }
  } finally {
    stopProgress();
  }
  return task;
}

/** Prints a message if waiting takes long, and the command to resume on SIGINT. @returns a function that stops it. */
function showProgress(session: ClientSession, current: () => Task | undefined): () => void {
  const printWaiting = () => {
    const task = session.flags.stream || session.isInteractive ? undefined : current();
    if (task)
      process.stderr.write(
        `Waiting: task ${sanitizeForTerminal(task.id, 'line')} is ${wireState(task.status)} (Ctrl-C stops waiting; the task keeps running)\n`,
      );
  };
  const timer = setTimeout(printWaiting, waitingMessageDelay).unref();
  const onInterrupt = () => {
    const id = sanitizeForTerminal(current()?.id ?? '', 'line');
    if (id !== '')
      process.stderr.write(
        `\nTask ID: ${id}\nResume: ${session.command(`task get ${quoteShellWord(id)} --wait`)}\n`,
      );
    process.exit(130);
  };
  process.once('SIGINT', onInterrupt);
  return () => {
    clearTimeout(timer);
    process.off('SIGINT', onInterrupt);
  };
}

function continueContext(session: ClientSession, contextId: string): string {
  return session.command(`send --context-id ${quoteShellWord(contextId)}`, ` "${placeholders.next}"`);
}

/** Prints the command to resume, and a warning unless the task was completed. */
export function printOutcome(session: ClientSession, result: Task | Message): void {
  const { out } = session;
  if (!isTask(result)) {
    if (!out.isJson && result.contextId !== undefined)
      out.field('Resume', continueContext(session, result.contextId));
    return;
  }
  const { state } = result.status;
  const id = quoteShellWord(result.id);
  if (!out.isJson) {
    if (isInterrupted(state))
      out.field('Resume', session.command(`send --task-id ${id}`, ` "${placeholders.reply}"`));
    else if (isTerminal(state) && result.contextId !== '')
      out.field('Resume', continueContext(session, result.contextId));
    else if (!isTerminal(state)) out.field('Resume', session.command(`task get ${id} --wait`));
  }
  out.end();
  if (state === 'auth-required')
    printWarning(
      `The task requires authorization (${wireState(result.status)}): authorize it, then send a reply`,
    );
  else if (isInterrupted(state)) printWarning(`The task requires input (${wireState(result.status)})`);
  else if (isTerminal(state) && state !== 'completed')
    printWarning(`The task ended as ${wireState(result.status)}`);
}
