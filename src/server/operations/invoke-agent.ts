import { type Dialect, serializeResult } from '../../dialects/dialect.ts';
import type { Agent, CallContext, Operation } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { isPullStream } from '../../primitives/pull-stream.ts';
import { defaultLimits } from '../limits/limits.ts';
import { listPage } from './list-page.ts';
import type {
  GetTaskRequest,
  ListTasksRequest,
  SendRequest,
  SubscribeRequest,
} from '../../protocol/requests.ts';
import { isTask, isTerminal, type Task, limitHistory } from '../../protocol/task.ts';
import type { SerializationCache } from './serialization-cache.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';

/** A decoded operation that has not been executed yet. */
export interface OperationCall {
  agent: Agent;
  dialect: Dialect;
  operation: Operation;
  request: unknown;
  call: CallContext;
  serializationCache: SerializationCache;
  telemetry: RequestTelemetry | undefined;
  /** Size above which a page of tasks is shortened, in bytes. */
  pageBytes: number | undefined;
  /** Adds the interfaces of this server and the signature to a card. */
  finalizeCard(card: AgentCard): AgentCard | Promise<AgentCard>;
}

/**
 * Executes an operation with a single response. Resolves to the JSON of the result.
 *
 * @param inOrigin - returns the dialect in which a task was created, if the version of the request is ambiguous.
 */
export function invokeUnary(
  operationCall: OperationCall,
  originDialect?: (task: Task) => Dialect,
): Promise<string> {
  const { agent, dialect, operation, request, call, serializationCache } = operationCall;
  const { results } = dialect;
  switch (operation) {
    case 'send':
      return agent.send(request as SendRequest, call).then((sent) => {
        const result = withClientTaskId(sent, operationCall);
        operationCall.telemetry?.setResult(result);
        return dialect.texts
          ? dialect.texts.sent(result)
          : serializeResult(dialect, operation, results.send.write(result));
      });
    case 'getTask':
      return agent
        .getTask(request as GetTaskRequest, call)
        .then((task) =>
          originDialect && task.originVersion
            ? serializeWithHistory(task, originDialect(task), request as GetTaskRequest)
            : serializationCache.serializeTask(task),
        );
    case 'cancelTask':
      return agent
        .cancelTask(request as { id: string }, call)
        .then((task) =>
          originDialect && task.originVersion
            ? serializeWithHistory(task, originDialect(task), {})
            : serializationCache.serializeTask(task),
        );
    case 'listTasks':
      return listPage(
        (page) => agent.listTasks(page, call),
        request as ListTasksRequest,
        dialect,
        operationCall.pageBytes ?? defaultLimits.pageBytes,
      );
    case 'deletePushConfig':
      return agent
        .deletePushConfig(request as never, call)
        .then(() => serializeResult(dialect, operation, results.deletePushConfig.write()));
    case 'extendedCard':
      return agent
        .extendedCard(call)
        .then((card) => operationCall.finalizeCard(card))
        .then((card) => serializeResult(dialect, operation, results.extendedCard.write(card)));
    case 'stream':
    case 'subscribe':
      throw new A2AError('INTERNAL_ERROR', 'Streaming operation without a stream');
    default:
      return (agent[operation](request as never, call) as Promise<unknown>).then((result) =>
        serializeResult(dialect, operation, results[operation].write(result as never)),
      );
  }
}

/** Adds the client-defined task id to a direct message, by which the client identifies the response. */
function withClientTaskId<T extends Task | Message>(result: T, { request }: OperationCall): T {
  const { clientTaskId } = request as SendRequest;
  return clientTaskId === undefined || isTask(result) ? result : { ...result, taskId: clientTaskId };
}

/** In 0.1 the history is omitted unless it is requested. */
function serializeWithHistory(
  task: Task,
  dialect: Dialect,
  { historyLength = 0 }: Partial<GetTaskRequest>,
): string {
  return JSON.stringify(dialect.results.getTask.write(limitHistory(task, historyLength)));
}

/** A stream whose first event has been read, so that an immediate failure becomes an error response. */
export interface OpenedStream {
  events: AsyncIterator<StreamEvent>;
  first: StreamEvent | undefined;
}

/**
 * Opens a stream, synchronously if its first event is available. Versions before 1.0 allow subscriptions to finished
 * tasks: the stream consists of the task.
 */
export function invokeStream(operationCall: OperationCall): Promise<OpenedStream> | OpenedStream {
  const { agent, operation, request, call } = operationCall;
  const events = (
    operation === 'stream'
      ? agent.stream(request as SendRequest, call)
      : agent.subscribe(request as SubscribeRequest, call)
  )[Symbol.asyncIterator]();
  const first = isPullStream(events) ? events.pull() : undefined;
  return first ? openWithFirst(first, events, operationCall) : openAsync(events, operationCall);
}

async function openAsync(
  events: AsyncIterator<StreamEvent>,
  operationCall: OperationCall,
): Promise<OpenedStream> {
  const { agent, dialect, operation, request, call } = operationCall;
  try {
    const step = await events.next();
    return step.done ? { events, first: undefined } : openWithFirst(step.value, events, operationCall);
  } catch (error) {
    const isFinished = error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION';
    if (!isFinished || operation !== 'subscribe' || !dialect.allowsFinishedSubscribe) throw error;
    const task = await agent.getTask({ id: (request as SubscribeRequest).id }, call);
    if (!isTerminal(task.status.state)) throw error;
    return { events: emptyIterator, first: { kind: 'task', task } };
  }
}

function openWithFirst(
  first: StreamEvent,
  events: AsyncIterator<StreamEvent>,
  operationCall: OperationCall,
): OpenedStream {
  if (first.kind !== 'message') return { events, first };
  return { events, first: { ...first, message: withClientTaskId(first.message, operationCall) } };
}

const emptyIterator: AsyncIterator<StreamEvent> = {
  next: () => Promise.resolve({ done: true, value: undefined }),
};

/** Returns the task of a stream: from the first event, or from the agent if the stream was resumed. */
export async function resolveStreamTask(
  { agent, call }: OperationCall,
  first: StreamEvent | undefined,
): Promise<Task | undefined> {
  if (first === undefined || first.kind === 'message') return undefined;
  if (first.kind === 'task') return first.task;
  return agent.getTask({ id: first.taskId }, call).catch(() => undefined);
}
