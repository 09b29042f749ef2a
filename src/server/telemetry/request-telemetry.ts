import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { type Agent, type CallContext, operationNames } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { isTask, type Task, type TaskState } from '../../protocol/task.ts';
import { requestAttributes, taskStateName } from '../../tracing/a2a-attributes.ts';
import type { Attributes, Span } from '../../tracing/tracing.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import { clientKey } from '../limits/client-limiter.ts';
import type { OperationCall } from '../operations/invoke-agent.ts';
import type { ServerTelemetry } from './server-telemetry.ts';

/** Transport of a request. */
export type TransportName = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';

/** Cards of traced agents; undefined until the card is known. A request does not wait for it. */
const knownCards = new WeakMap<Agent, AgentCard | undefined>();

/** Reads the card of an agent once, for the names in its spans. */
async function learnName(agent: Agent, call: CallContext): Promise<void> {
  if (knownCards.has(agent)) return;
  knownCards.set(agent, undefined);
  try {
    knownCards.set(agent, await agent.card(call));
  } catch {
    knownCards.delete(agent);
  }
}

function nameAttributes(agent: Agent): Attributes {
  const card = knownCards.get(agent);
  return { 'gen_ai.agent.name': card?.name, 'gen_ai.agent.version': card?.version };
}

/** Telemetry of one request: operation, version, transport, outcome and tracing span. */
export class RequestTelemetry {
  /** `none` until the operation is known. */
  operation = 'none';
  version = '';
  transport: TransportName | '' = '';
  /** Reason of the error, if the request failed. */
  reason: string | undefined = undefined;
  /** Name of the limit that the request exceeded. */
  limit: string | undefined = undefined;
  taskId: string | undefined = undefined;
  contextId: string | undefined = undefined;
  /** State of the task in the response; undefined for a stream. */
  state: TaskState | undefined = undefined;
  /** Principal or address key of the client. */
  client = '';
  readonly method: string;
  readonly path: string;
  readonly startedAt = performance.now();
  readonly #telemetry: ServerTelemetry;
  #span: Span | undefined = undefined;
  #agent: Agent | undefined = undefined;
  #hasEnded = false;

  constructor(telemetry: ServerTelemetry, request: HttpServerRequest) {
    this.#telemetry = telemetry;
    this.method = request.method;
    // Without the query, which may contain secrets.
    this.path = request.path.slice(0, 200);
    this.client = clientKey(request);
  }

  setOperation({ operation, dialect, request }: OperationCall, httpRequest: HttpServerRequest): void {
    this.client = clientKey(httpRequest);
    this.operation = operation;
    this.version = dialect.version;
    const { id, taskId, message, clientTaskId } = request as {
      id?: string;
      taskId?: string;
      clientTaskId?: string;
      message?: Message;
    };
    // `id` is the task id, except in push configuration requests.
    this.taskId = taskId ?? message?.taskId ?? clientTaskId ?? id;
    this.contextId = message?.contextId;
  }

  setResult(result: Task | Message): void {
    this.state = isTask(result) ? result.status.state : undefined;
    this.taskId = isTask(result) ? result.id : (result.taskId ?? this.taskId);
    this.contextId = result.contextId ?? this.contextId;
  }

  streamStarted(first: StreamEvent | undefined): void {
    if (first === undefined) return;
    if (first.kind === 'task') this.setResult(first.task);
    else if (first.kind === 'message') this.setResult(first.message);
    else ({ taskId: this.taskId, contextId: this.contextId } = first);
    this.state = undefined;
  }

  setError(error: unknown): void {
    this.reason ??= A2AError.from(error).reason;
    const limit = error instanceof A2AError ? error.details.limit : undefined;
    if (limit === undefined) return;
    this.limit ??= limit;
    this.#telemetry.metrics?.countLimitHit(limit);
  }

  /** Runs a function in a tracing span, if tracing is enabled. */
  async trace<T>({ agent, operation, request, call }: OperationCall, work: () => Promise<T>): Promise<T> {
    const { tracing } = this.#telemetry;
    if (tracing.pending) await tracing.pending;
    if (!tracing.current) return work();
    this.#agent = agent;
    void learnName(agent, call);
    this.#span = tracing.current.start(operationNames[operation], {
      kind: 'server',
      from: call.headers ?? {},
      attributes: {
        ...requestAttributes(operation, request, {
          version: this.version,
          binding: this.transport,
          tenant: call.tenant,
        }),
        ...nameAttributes(agent),
      },
    });
    return this.#span.run(work);
  }

  /**
   * Ends the span and records the request. Further calls are ignored.
   *
   * @param events - number of events sent on a stream.
   */
  end(status: number, events?: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#span?.set({
      ...(this.#agent && nameAttributes(this.#agent)),
      'a2a.task.id': this.taskId,
      'a2a.task.state': this.state && taskStateName(this.state),
      'gen_ai.conversation.id': this.contextId,
    });
    this.#span?.end(this.reason);
    this.#telemetry.recordRequest(this, status, performance.now() - this.startedAt, events);
  }
}
