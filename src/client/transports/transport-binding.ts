import type { Dialect, RequestOf, ResultOf, UnaryOperation } from '../../dialects/dialect.ts';
import type { CallContext, Operation } from '../../protocol/agent.ts';
import type { AgentCard, Transport } from '../../protocol/card.ts';
import { A2AError, type ErrorReason } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { hintForStatus, unexpectedResponseError, withHint } from '../http/response-errors.ts';

/** One way to speak to an agent. */
export interface Endpoint {
  readonly url: string;
  readonly transport: Transport;
  readonly dialect: Dialect;
  readonly tenant: string | undefined;
  /** Who named this address, for people who look for a mistake. */
  readonly namedBy: string | undefined;
  /** The card that named it, for credentials that depend on what it asks for. */
  readonly card: AgentCard | undefined;
}

/** One event of a stream off the wire. */
export interface StreamFrame {
  readonly events: readonly StreamEvent[];
  /** The `id:` it came with. */
  readonly id: string | undefined;
  /** The agent ended the stream with an error. */
  readonly error?: A2AError;
  /** The agent asks to wait for so many milliseconds before a broken stream is opened again. */
  readonly retry?: number;
}

/** An open stream. Leaving the loop closes it. */
export type FrameStream = AsyncIterable<readonly StreamFrame[]>;

/** An operation that answers with a stream. */
export type StreamingOperation = 'stream' | 'subscribe';

/** How a stream is opened. */
export interface StreamOpenOptions {
  /** Ends the stream. */
  signal: AbortSignal;
  /** Go on after this event. */
  lastEventId?: string;
}

/** A transport, bound to one endpoint: requests of the model in, answers of the model out. */
export interface TransportBinding {
  readonly endpoint: Endpoint;
  unary<O extends UnaryOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
  ): Promise<ResultOf[O]>;
  open<O extends StreamingOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
    opening: StreamOpenOptions,
  ): Promise<FrameStream>;
}

/** Makes the error for an operation that the version has no word for. */
export function unsupportedByVersion({ dialect, transport }: Endpoint, operation: Operation): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', `The agent has no ${operation}`, {
    hint: `The agent speaks A2A ${dialect.version} over ${transport}, which knows nothing of the kind.`,
  });
}

/** Blames the agent for an answer that cannot be read. */
export function unreadableResponse(thrown: unknown, url: string): A2AError {
  const error = A2AError.from(thrown);
  if (error.reason !== 'INVALID_PARAMS') return error;
  return new A2AError('INVALID_AGENT_RESPONSE', `The answer of ${url} makes no sense: ${error.message}`, {
    cause: thrown,
    violations: error.violations,
  });
}

/** What is known of the HTTP side of an answer. */
export interface ResponseInfo {
  readonly status: number;
  header(name: string): string | undefined;
}

/** The error for an answer in which there is no A2A. */
export function notA2AResponse(endpoint: Endpoint, answered: ResponseInfo, body: string): A2AError {
  return unexpectedResponseError({
    ...about(endpoint, answered),
    contentType: answered.header('content-type'),
    body,
  });
}

function about(endpoint: Endpoint, answered: ResponseInfo) {
  return {
    status: answered.status,
    url: endpoint.url,
    toldBy: endpoint.namedBy,
    authenticate: answered.header('www-authenticate'),
  };
}

const plainer: ReadonlyMap<number, ErrorReason> = new Map<number, ErrorReason>([
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [413, 'PAYLOAD_TOO_LARGE'],
  [429, 'RESOURCE_EXHAUSTED'],
  [503, 'UNAVAILABLE'],
]);

/** Lets the HTTP status speak where the agent's own code says nothing, and adds a hint. */
export function refineError(error: A2AError, endpoint: Endpoint, answered: ResponseInfo): A2AError {
  const hint = error.hint ?? hintForStatus(about(endpoint, answered));
  const reason = plainer.get(answered.status);
  if (reason === undefined || (error.reason !== 'INVALID_REQUEST' && error.reason !== 'INTERNAL_ERROR'))
    return error.reason === 'TASK_NOT_FOUND' ? error : withHint(error, hint);
  const { message, violations, details, cause } = error;
  return new A2AError(reason, message, { violations, details, cause, hint, status: answered.status });
}
