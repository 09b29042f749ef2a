import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { isTask, type Task } from '../../protocol/task.ts';
import type { Span } from '../../tracing/tracing.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import { clientKey } from '../limits/client-limiter.ts';
import type { OperationCall } from '../operations/invoke-agent.ts';
import type { ServerTelemetry } from './server-telemetry.ts';

/** The way a request came in. */
export type TransportName = 'JSONRPC' | 'HTTP+JSON';

/** What is known of one request while it is answered, for metrics, traces and logs. */
export class RequestTelemetry {
  /** What was asked for, as far as anybody knows. */
  operation = 'none';
  version = '';
  transport: TransportName | '' = '';
  /** Why it failed. */
  reason: string | undefined = undefined;
  taskId: string | undefined = undefined;
  contextId: string | undefined = undefined;
  /** Who asks, once that is known. */
  client = '';
  readonly method: string;
  readonly path: string;
  readonly startedAt = performance.now();
  readonly #watch: ServerTelemetry;
  #span: Span | undefined = undefined;
  #isOver = false;

  constructor(watch: ServerTelemetry, exchange: HttpServerRequest) {
    this.#watch = watch;
    this.method = exchange.method;
    // The query may hold secrets.
    this.path = exchange.path.slice(0, 200);
    this.client = clientKey(exchange);
  }

  /** It is clear what is asked for. */
  setOperation({ operation, dialect, request }: OperationCall, exchange: HttpServerRequest): void {
    this.client = clientKey(exchange);
    this.operation = operation;
    this.version = dialect.version;
    const { id, taskId, message, clientTaskId } = request as {
      id?: string;
      taskId?: string;
      clientTaskId?: string;
      message?: Message;
    };
    // A push configuration has an id of its own beside that of its task.
    this.taskId = taskId ?? message?.taskId ?? clientTaskId ?? id;
    this.contextId = message?.contextId;
  }

  /** It is clear which task the answer is of. */
  setResult(answer: Task | Message): void {
    this.taskId = isTask(answer) ? answer.id : (answer.taskId ?? this.taskId);
    this.contextId = answer.contextId ?? this.contextId;
  }

  /** A stream begins. */
  streamStarted(first: StreamEvent | undefined): void {
    if (first === undefined) return;
    if (first.kind === 'task') this.setResult(first.task);
    else if (first.kind === 'message') this.setResult(first.message);
    else ({ taskId: this.taskId, contextId: this.contextId } = first);
  }

  /** It went wrong. */
  failed(error: unknown): void {
    this.reason ??= A2AError.from(error).reason;
    const limit = error instanceof A2AError ? error.details.limit : undefined;
    if (limit !== undefined) this.#watch.metrics?.countLimitHit(limit);
  }

  /** Does the work in a span of its own, if there are traces. */
  async traced<T>({ call }: OperationCall, work: () => Promise<T>): Promise<T> {
    const { tracing } = this.#watch;
    if (tracing.pending) await tracing.pending;
    this.#span = tracing.current?.start(`a2a.server/${this.operation}`, {
      kind: 'server',
      from: call.headers ?? {},
      attributes: {
        'a2a.operation': this.operation,
        'a2a.version': this.version,
        'a2a.transport': this.transport,
      },
    });
    return this.#span ? this.#span.run(work) : work();
  }

  /**
   * It is over.
   *
   * @param events - how many were sent, if it was a stream.
   */
  end(status: number, events?: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#span?.set({ 'a2a.task.id': this.taskId, 'a2a.context.id': this.contextId });
    this.#span?.end(this.reason);
    this.#watch.recordRequest(this, status, performance.now() - this.startedAt, events);
  }
}
