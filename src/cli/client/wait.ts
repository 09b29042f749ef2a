import { sleep, systemClock } from '../../client/abortable-sleep.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { TaskReducer } from '../../protocol/reduce.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isInterrupted, isTask, isTerminal, type Task } from '../../protocol/task.ts';
import { isTerminalOrInterrupted, wireState } from './output.ts';
import { type ClientSession, quoteShellWord, printWarning } from './session.ts';
import { sanitizeForTerminal } from '../terminal/sanitize.ts';

/** A stream that broke for one of these is no end of the task. */
const lostTouch: ReadonlySet<string> = new Set([
  'UNAVAILABLE',
  'TIMEOUT',
  'INVALID_AGENT_RESPONSE',
  'UNSUPPORTED_OPERATION',
  'METHOD_NOT_FOUND',
]);

/** How long a task may take before a person is told that it is being waited for, in milliseconds. */
const patience = 1_000;

/** Sends, and waits until the task is over or needs something. */
export async function sendAndWait(session: ClientSession, request: SendRequest): Promise<Task | Message> {
  const { agent, card, call } = session;
  if (card.capabilities.streaming === true)
    return followToEnd(session, agent.stream(request, call), () => {}, isContinuation(request));
  // The task that a reply belongs to waits until the agent has heard it, so only the agent can tell when that is over.
  const configuration = { ...request.configuration, returnImmediately: !isContinuation(request) };
  const answer = await agent.send({ ...request, configuration }, call);
  return isTask(answer) ? pollToEnd(session, answer) : answer;
}

/** True when a message goes on with a task. */
export function isContinuation({ message }: SendRequest): boolean {
  return message.taskId !== undefined;
}

/**
 * Follows events until the task is over or needs something. When they break off, the task is asked for instead.
 *
 * @param tell - is told each event.
 * @param mayBeBefore - the first event may show a task that has not heard its reply yet, and still waits for it.
 */
export async function followToEnd(
  session: ClientSession,
  events: AsyncIterable<StreamEvent>,
  tell: (event: StreamEvent) => void,
  mayBeBefore = false,
): Promise<Task | Message> {
  let fold: TaskReducer | undefined;
  let isOver = false;
  const stopWatching = watch(session, () => fold?.task());
  try {
    for await (const event of events) {
      tell(event);
      if (event.kind === 'message') return event.message;
      const isBefore = mayBeBefore && fold === undefined && event.kind === 'task';
      fold ??= new TaskReducer(event.kind === 'task' ? event.task : begun(event));
      fold.apply(event);
      session.taskId = fold.id;
      isOver = isTerminalOrInterrupted(fold.status) && !(isBefore && isInterrupted(fold.status.state));
      if (isOver) break;
    }
  } catch (thrown) {
    const { reason } = A2AError.from(thrown);
    if (!fold || !lostTouch.has(reason) || session.call.signal?.aborted) throw thrown;
    printWarning('the stream broke off; the task is asked for instead');
  } finally {
    stopWatching();
  }
  if (!fold) throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent closed the stream without a word');
  if (isOver) return fold.task();
  const task = await pollToEnd(session, fold.task());
  tell({ kind: 'task', task });
  return task;
}

/** An agent that does not begin with the task is understood all the same. */
function begun(event: Exclude<StreamEvent, { kind: 'task' | 'message' }>): Task {
  return { id: event.taskId, contextId: event.contextId, status: { state: 'unknown' } };
}

/** Asks for a task, again and again, until it is over or needs something. */
export async function pollToEnd(session: ClientSession, first: Task, historyLength?: number): Promise<Task> {
  const { agent, call, flags } = session;
  let task = first;
  session.taskId = task.id;
  // A peer must not be asked without a pause, whatever was configured.
  const shortest = Math.max(flags.pollInterval, 50);
  let interval = shortest;
  const stopWatching = watch(session, () => task);
  try {
    for (let failures = 0; !isTerminalOrInterrupted(task.status); ) {
      await sleep(systemClock, interval, call.signal);
      interval = Math.min(interval * 1.25, shortest * 5);
      try {
        task = await agent.getTask(
          { id: task.id, ...(historyLength !== undefined && { historyLength }) },
          call,
        );
        failures = 0;
      } catch (thrown) {
        const isPassing = ['UNAVAILABLE', 'TIMEOUT'].includes(A2AError.from(thrown).reason);
        if (!isPassing || call.signal?.aborted || ++failures >= 3) throw thrown;
      }
    }
  } finally {
    stopWatching();
  }
  return task;
}

/** While a task is waited for: says so when it takes long, and says how to come back when somebody gives up. */
function watch(session: ClientSession, current: () => Task | undefined): () => void {
  const tell = () => {
    const task = session.flags.stream || session.isTalk ? undefined : current();
    if (task)
      process.stderr.write(
        `Waiting: task ${sanitizeForTerminal(task.id, 'line')} is ${wireState(task.status)} (Ctrl-C leaves it running)\n`,
      );
  };
  const timer = setTimeout(tell, patience).unref();
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

/** Says how a task may be continued, and what became of it where that is not what one hopes for. */
export function printOutcome(session: ClientSession, answer: Task | Message): void {
  const { out } = session;
  if (!isTask(answer)) {
    if (!out.isJson && answer.contextId !== undefined)
      out.field('Resume', session.command(`send --context-id ${quoteShellWord(answer.contextId)} "<next>"`));
    return;
  }
  const { state } = answer.status;
  const id = quoteShellWord(answer.id);
  if (!out.isJson) {
    if (isInterrupted(state)) out.field('Resume', session.command(`send --task-id ${id} "<reply>"`));
    else if (isTerminal(state) && answer.contextId !== '')
      out.field('Resume', session.command(`send --context-id ${quoteShellWord(answer.contextId)} "<next>"`));
    else if (!isTerminal(state)) out.field('Resume', session.command(`task get ${id} --wait`));
  }
  out.end();
  if (state === 'auth-required')
    printWarning(
      `the task waits for an authorization (${wireState(answer.status)}): give it, then send a reply`,
    );
  else if (isInterrupted(state)) printWarning(`the task waits for you (${wireState(answer.status)})`);
  else if (isTerminal(state) && state !== 'completed')
    printWarning(`the task ended as ${wireState(answer.status)}`);
}
