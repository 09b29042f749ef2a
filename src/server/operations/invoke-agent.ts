import type { Dialect } from '../../dialects/dialect.ts';
import type { Agent, CallContext, Operation } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { isPullStream } from '../../primitives/pull-stream.ts';
import type { GetTaskRequest, SendRequest, SubscribeRequest } from '../../protocol/requests.ts';
import { isTask, isTerminal, type Task, limitHistory } from '../../protocol/task.ts';
import type { SerializationCache } from './serialization-cache.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';

/** An operation that somebody asked for, read but not yet done. */
export interface OperationCall {
  agent: Agent;
  dialect: Dialect;
  operation: Operation;
  request: unknown;
  call: CallContext;
  texts: SerializationCache;
  /** What is noted about it, if anybody watches. */
  visit: RequestTelemetry | undefined;
  /** Puts the addresses of this face, and its signature, into a card. */
  place(card: AgentCard): AgentCard | Promise<AgentCard>;
}

/** True for the operations that answer with a stream. */
export function isStreamingOperation(operation: Operation): operation is 'stream' | 'subscribe' {
  return operation === 'stream' || operation === 'subscribe';
}

/**
 * Does an operation that answers once, and gives the answer as text.
 *
 * @param inOrigin - the dialect of a task's own caller, where the request could be of either.
 */
export function invokeUnary(asked: OperationCall, inOrigin?: (task: Task) => Dialect): Promise<string> {
  const { agent, dialect, operation, request, call, texts } = asked;
  const { results } = dialect;
  switch (operation) {
    case 'send':
      return agent.send(request as SendRequest, call).then((sent) => {
        const result = claimed(sent, asked);
        asked.visit?.setResult(result);
        return dialect.texts ? dialect.texts.sent(result) : JSON.stringify(results.send.write(result));
      });
    case 'getTask':
      return agent
        .getTask(request as GetTaskRequest, call)
        .then((task) =>
          inOrigin && task.originVersion
            ? taskText(task, inOrigin(task), request as GetTaskRequest)
            : texts.ofTask(task),
        );
    case 'cancelTask':
      return agent
        .cancelTask(request as { id: string }, call)
        .then((task) =>
          inOrigin && task.originVersion ? taskText(task, inOrigin(task), {}) : texts.ofTask(task),
        );
    case 'deletePushConfig':
      return agent
        .deletePushConfig(request as never, call)
        .then(() => JSON.stringify(results.deletePushConfig.write()));
    case 'extendedCard':
      return agent
        .extendedCard(call)
        .then((card) => asked.place(card))
        .then((card) => JSON.stringify(results.extendedCard.write(card)));
    case 'stream':
    case 'subscribe':
      throw new A2AError('INTERNAL_ERROR', 'A stream has no single answer');
    default:
      return (agent[operation](request as never, call) as Promise<unknown>).then((result) =>
        JSON.stringify(results[operation].write(result as never)),
      );
  }
}

/** A caller that named its task knows a direct answer by that name only. */
function claimed<T extends Task | Message>(result: T, { request }: OperationCall): T {
  const { clientTaskId } = request as SendRequest;
  return clientTaskId === undefined || isTask(result) ? result : { ...result, taskId: clientTaskId };
}

/** In 0.1 no history is sent unless it is asked for. */
function taskText(task: Task, dialect: Dialect, { historyLength = 0 }: Partial<GetTaskRequest>): string {
  return JSON.stringify(dialect.results.getTask.write(limitHistory(task, historyLength)));
}

/** A stream with its first event taken, so that what fails at once fails before anything is sent. */
export interface OpenedStream {
  events: AsyncIterator<StreamEvent>;
  first: StreamEvent | undefined;
}

/**
 * Opens a stream, at once where its first event is there. Versions before 1.0 let a finished task be followed: it is
 * shown and the stream ends.
 */
export function invokeStream(asked: OperationCall): Promise<OpenedStream> | OpenedStream {
  const { agent, operation, request, call } = asked;
  const events = (
    operation === 'stream'
      ? agent.stream(request as SendRequest, call)
      : agent.subscribe(request as SubscribeRequest, call)
  )[Symbol.asyncIterator]();
  const first = isPullStream(events) ? events.pull() : undefined;
  return first ? openedWith(first, events, asked) : openLater(events, asked);
}

async function openLater(events: AsyncIterator<StreamEvent>, asked: OperationCall): Promise<OpenedStream> {
  const { agent, dialect, operation, request, call } = asked;
  try {
    const step = await events.next();
    return step.done ? { events, first: undefined } : openedWith(step.value, events, asked);
  } catch (error) {
    const isFinished = error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION';
    if (!isFinished || operation !== 'subscribe' || !dialect.allowsFinishedSubscribe) throw error;
    const task = await agent.getTask({ id: (request as SubscribeRequest).id }, call);
    if (!isTerminal(task.status.state)) throw error;
    return { events: nothing, first: { kind: 'task', task } };
  }
}

function openedWith(
  first: StreamEvent,
  events: AsyncIterator<StreamEvent>,
  asked: OperationCall,
): OpenedStream {
  if (first.kind !== 'message') return { events, first };
  return { events, first: { ...first, message: claimed(first.message, asked) } };
}

const nothing: AsyncIterator<StreamEvent> = { next: () => Promise.resolve({ done: true, value: undefined }) };

/** The task that a stream is of: what it begins with or, where it goes on in the middle, what is asked for. */
export async function resolveStreamTask(
  { agent, call }: OperationCall,
  first: StreamEvent | undefined,
): Promise<Task | undefined> {
  if (first === undefined || first.kind === 'message') return undefined;
  if (first.kind === 'task') return first.task;
  return agent.getTask({ id: first.taskId }, call).catch(() => undefined);
}
