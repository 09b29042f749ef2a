import type { Dialect, RequestOf, ResultOf, UnaryOperation } from '../../dialects/dialect.ts';
import type { CallContext, Operation } from '../../protocol/agent.ts';
import type { AgentCard, Transport } from '../../protocol/card.ts';
import { A2AError, type ErrorReason } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { hintForStatus, unexpectedResponseError, withHint } from '../http/response-errors.ts';

/** URL, transport and dialect that are used to call an agent. */
export interface Endpoint {
  readonly url: string;
  readonly transport: Transport;
  readonly dialect: Dialect;
  readonly tenant: string | undefined;
  /** Document that lists the URL, such as "The card at …", for hints. */
  readonly namedBy: string | undefined;
  /** Card that lists the URL; credentials may depend on its security schemes. */
  readonly card: AgentCard | undefined;
}

/** One frame of a stream, decoded. */
export interface StreamFrame {
  readonly events: readonly StreamEvent[];
  /** SSE `id` of the frame. */
  readonly id: string | undefined;
  /** Error with which the agent ended the stream. */
  readonly error?: A2AError;
  /** Reconnection delay that the agent requests, in milliseconds. */
  readonly retry?: number;
}

/** An open stream. Leaving the loop closes the connection. */
export type FrameStream = AsyncIterable<readonly StreamFrame[]>;

/** An operation with a stream of events as result. */
export type StreamingOperation = 'stream' | 'subscribe';

/** Options of {@link TransportBinding.open}. */
export interface StreamOpenOptions {
  /** Aborts the stream. */
  signal: AbortSignal;
  /** Resumes after this event (Last-Event-ID). */
  lastEventId?: string;
}

/** A transport at one endpoint. Encodes requests and decodes responses. */
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
    options: StreamOpenOptions,
  ): Promise<FrameStream>;
}

/** Creates the error for an operation that the version does not define. */
export function unsupportedByVersion({ dialect, transport }: Endpoint, operation: Operation): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', `The agent does not support ${operation}`, {
    hint: `A2A ${dialect.version} over ${transport} does not define this operation.`,
  });
}

/** Converts decoding errors of a response to `INVALID_AGENT_RESPONSE`. */
export function unreadableResponse(thrown: unknown, url: string): A2AError {
  const error = A2AError.from(thrown);
  if (error.reason !== 'INVALID_PARAMS') return error;
  return new A2AError('INVALID_AGENT_RESPONSE', `Invalid response from ${url}: ${error.message}`, {
    cause: thrown,
    violations: error.violations,
  });
}

/** Status and headers of a response. */
export interface ResponseInfo {
  readonly status: number;
  header(name: string): string | undefined;
}

/** Creates the error for a response that is not an A2A response. */
export function notA2AResponse(endpoint: Endpoint, response: ResponseInfo, body: string): A2AError {
  return unexpectedResponseError({
    ...describeResponse(endpoint, response),
    contentType: response.header('content-type'),
    body,
  });
}

function describeResponse(endpoint: Endpoint, response: ResponseInfo) {
  return {
    status: response.status,
    url: endpoint.url,
    namedBy: endpoint.namedBy,
    authenticate: response.header('www-authenticate'),
  };
}

const reasonsByStatus: ReadonlyMap<number, ErrorReason> = new Map<number, ErrorReason>([
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [413, 'PAYLOAD_TOO_LARGE'],
  [429, 'RESOURCE_EXHAUSTED'],
  [503, 'UNAVAILABLE'],
]);

/** Replaces a generic error reason by the one of the HTTP status, and adds a hint. */
export function refineError(error: A2AError, endpoint: Endpoint, response: ResponseInfo): A2AError {
  const hint = error.hint ?? hintForStatus(describeResponse(endpoint, response));
  const reason = reasonsByStatus.get(response.status);
  if (reason === undefined || (error.reason !== 'INVALID_REQUEST' && error.reason !== 'INTERNAL_ERROR'))
    return error.reason === 'TASK_NOT_FOUND' ? error : withHint(error, hint);
  const { message, violations, details, cause } = error;
  return new A2AError(reason, message, { violations, details, cause, hint, status: response.status });
}
