import type { Dialect, RequestOf, ResultOf, Unary } from '../../dialects/dialect.ts';
import type { Call, Operation } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError, type Reason } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { hintOf, oddAnswer, withHint } from '../http/response-errors.ts';
import type { Transport } from '../connect-options.ts';

/** One way to speak to an agent. */
export interface Endpoint {
  readonly url: string;
  readonly transport: Transport;
  readonly dialect: Dialect;
  readonly tenant: string | undefined;
  /** Who named this address, for people who look for a mistake. */
  readonly toldBy: string | undefined;
  /** The card that named it, for credentials that depend on what it asks for. */
  readonly card: AgentCard | undefined;
}

/** One event of a stream off the wire. */
export interface Frame {
  readonly events: readonly StreamEvent[];
  /** The `id:` it came with. */
  readonly id: string | undefined;
  /** The agent ended the stream with an error. */
  readonly error?: A2AError;
  /** The agent asks to wait for so many milliseconds before a broken stream is opened again. */
  readonly retry?: number;
}

/** An open stream. Leaving the loop closes it. */
export type Source = AsyncIterable<readonly Frame[]>;

/** An operation that answers with a stream. */
export type Streaming = 'stream' | 'subscribe';

/** How a stream is opened. */
export interface Opening {
  /** Ends the stream. */
  signal: AbortSignal;
  /** Go on after this event. */
  lastEventId?: string;
}

/** A transport, bound to one endpoint: requests of the model in, answers of the model out. */
export interface Binding {
  readonly endpoint: Endpoint;
  unary<O extends Unary>(operation: O, request: RequestOf[O], call: Call): Promise<ResultOf[O]>;
  open<O extends Streaming>(
    operation: O,
    request: RequestOf[O],
    call: Call,
    opening: Opening,
  ): Promise<Source>;
}

/** Makes the error for an operation that the version has no word for. */
export function hasNoWord({ dialect, transport }: Endpoint, operation: Operation): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', `The agent has no ${operation}`, {
    hint: `The agent speaks A2A ${dialect.version} over ${transport}, which knows nothing of the kind.`,
  });
}

/** Blames the agent for an answer that cannot be read. */
export function unreadable(thrown: unknown, url: string): A2AError {
  const error = A2AError.from(thrown);
  if (error.reason !== 'INVALID_PARAMS') return error;
  return new A2AError('INVALID_AGENT_RESPONSE', `The answer of ${url} makes no sense: ${error.message}`, {
    cause: thrown,
    violations: error.violations,
  });
}

/** What is known of the HTTP side of an answer. */
export interface Answered {
  readonly status: number;
  header(name: string): string | undefined;
}

/** The error for an answer in which there is no A2A. */
export function notA2A(endpoint: Endpoint, answered: Answered, body: string): A2AError {
  return oddAnswer({ ...about(endpoint, answered), contentType: answered.header('content-type'), body });
}

function about(endpoint: Endpoint, answered: Answered) {
  return {
    status: answered.status,
    url: endpoint.url,
    toldBy: endpoint.toldBy,
    authenticate: answered.header('www-authenticate'),
  };
}

const plainer: ReadonlyMap<number, Reason> = new Map<number, Reason>([
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [413, 'PAYLOAD_TOO_LARGE'],
  [429, 'RESOURCE_EXHAUSTED'],
  [503, 'UNAVAILABLE'],
]);

/** Lets the HTTP status speak where the agent's own code says nothing, and adds a hint. */
export function explained(error: A2AError, endpoint: Endpoint, answered: Answered): A2AError {
  const hint = error.hint ?? hintOf(about(endpoint, answered));
  const reason = plainer.get(answered.status);
  if (reason === undefined || (error.reason !== 'INVALID_REQUEST' && error.reason !== 'INTERNAL_ERROR'))
    return error.reason === 'TASK_NOT_FOUND' ? error : withHint(error, hint);
  const { message, violations, details, cause } = error;
  return new A2AError(reason, message, { violations, details, cause, hint, status: answered.status });
}
