/**
 * Selection of the endpoint of an agent that works.
 *
 * @module
 */
import { rpcMethodName } from '../../dialects/dialect.ts';
import type { Operation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TransportBinding, Endpoint } from '../transports/transport-binding.ts';
import type { DiscoveredAgent } from './discover.ts';
import { endpointKey } from './endpoints.ts';
import { HttpTransportError } from '../http/http-client.ts';
import { WithheldCredentialsError } from '../http/withheld-credentials-error.ts';
import { jsonRpcBinding } from '../transports/json-rpc.ts';
import { lazyBinding } from '../transports/lazy-binding.ts';
import type { ClientSettings } from '../connect-options.ts';
import { restBinding } from '../transports/rest.ts';
import { traceBinding } from '../transports/trace-binding.ts';

/** Errors of requests that the agent did not recognize, so that they had no effect. */
const notRecognized: ReadonlySet<string> = new Set([
  'METHOD_NOT_FOUND',
  'VERSION_NOT_SUPPORTED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
]);

/** Errors of requests that the agent recognized. */
const recognized: ReadonlySet<string> = new Set([
  'TASK_NOT_FOUND',
  'TASK_NOT_CANCELABLE',
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'INVALID_PARAMS',
]);

/** A discovered agent and the selected endpoint. */
export class EndpointSelection {
  readonly agent: DiscoveredAgent;
  readonly #settings: ClientSettings;
  readonly #bindings: TransportBinding[];
  #current = 0;
  /** True once the agent has responded at this endpoint. */
  confirmed = false;

  constructor(agent: DiscoveredAgent, settings: ClientSettings) {
    this.agent = agent;
    this.#settings = settings;
    this.#bindings = agent.endpoints.map((each) =>
      traceBinding(createBinding(settings, each), settings.tracing, agent.cardUrl),
    );
    const cached = settings.endpointCache.get(agent.cacheKey);
    const index = agent.endpoints.findIndex((each) => endpointKey(each) === cached);
    if (index > 0) this.#bindings.unshift(...this.#bindings.splice(index, 1));
  }

  /** The binding in use, or the one that is tried first. */
  get binding(): TransportBinding {
    return this.#bindings[this.#current] as TransportBinding;
  }

  get endpoint(): Endpoint {
    return this.binding.endpoint;
  }

  /** Calls the operation. Tries the endpoints in order until one of them is confirmed. */
  async call<T>(operation: Operation, attempt: (binding: TransportBinding) => Promise<T>): Promise<T> {
    if (this.confirmed) return attempt(this.binding);
    let first: A2AError | undefined;
    for (let index = this.#current; index < this.#bindings.length; index++) {
      const binding = this.#bindings[index] as TransportBinding;
      try {
        const result = await attempt(binding);
        this.#select(index, operation);
        return result;
      } catch (thrown) {
        const error = A2AError.from(thrown);
        if (recognized.has(error.reason)) this.#select(index, operation);
        if (!mayUseOtherEndpoint(error, binding))
          throw first && isLessInformative(error, first) ? first : this.#withOrigin(error, binding);
        first ??= error;
        this.#warnFallback(index, error);
      }
    }
    throw this.#exhaustedError(first);
  }

  /** Adds to an error which card listed an unreachable URL. */
  #withOrigin(error: A2AError, { endpoint }: TransportBinding): A2AError {
    const { reason, message, hint = '', cause, status, details } = error;
    if (endpoint.namedBy === undefined || !isUnreachable(error)) return error;
    return new A2AError(reason, message, {
      cause,
      status,
      details,
      hint: `${hint} ${endpoint.namedBy} lists ${endpoint.url}.`.trim(),
    });
  }

  #select(index: number, operation: Operation): void {
    const { endpoint } = this.#bindings[index] as TransportBinding;
    const method = rpcMethodName(endpoint.dialect, operation);
    // A method name that several versions share does not confirm a version.
    const isShared = this.#bindings
      .slice(index + 1)
      .some(
        (other) =>
          endpoint.transport === 'JSONRPC' &&
          other.endpoint.transport === 'JSONRPC' &&
          other.endpoint.url === endpoint.url &&
          other.endpoint.dialect !== endpoint.dialect &&
          method !== undefined &&
          other.endpoint.dialect.methods.has(method),
      );
    this.#current = index;
    if (isShared) return;
    this.confirmed = true;
    if (index > 0) this.#settings.endpointCache.set(this.agent.cacheKey, endpointKey(endpoint));
  }

  #warnFallback(index: number, error: A2AError): void {
    const next = this.#bindings[index + 1];
    if (!next) return;
    const { dialect, transport, url } = next.endpoint;
    this.#settings.warn({
      kind: 'fallback',
      error,
      message: `Trying A2A ${dialect.version} over ${transport} at ${url}`,
    });
  }

  #exhaustedError(first: A2AError | undefined): A2AError {
    const tried = this.#bindings.map(
      ({ endpoint: { dialect, transport, url } }) => `${dialect.version} over ${transport} at ${url}`,
    );
    // The correct URL may be the one that the egress policy denied.
    const { reason, message, violations, details, status, cause, hint } =
      this.agent.denied ?? first ?? new A2AError('NOT_FOUND', 'There is no agent');
    const card = this.agent.cardUrl ? `The card is at ${this.agent.cardUrl}. ` : 'There is no agent card. ';
    // What else was tried explains a response that was not recognized, but not a connection that failed.
    const ownHint = notRecognized.has(reason) ? '' : `${hint ?? ''} `.trimStart();
    return new A2AError(reason, message, {
      violations,
      details,
      status,
      cause,
      hint: `${ownHint}${card}Tried: ${tried.join('; ')}.`,
    });
  }
}

function createBinding(settings: ClientSettings, endpoint: Endpoint): TransportBinding {
  switch (endpoint.transport) {
    case 'JSONRPC':
      return jsonRpcBinding(settings, endpoint);
    case 'HTTP+JSON':
      return restBinding(settings, endpoint);
    case 'GRPC':
      return lazyBinding(endpoint, async () => {
        const { grpcBinding } = await import('../transports/grpc.ts');
        return grpcBinding(settings, endpoint);
      });
  }
}

/** An unreachable endpoint is less informative than one that responded. */
function isUnreachable(error: A2AError): boolean {
  return error.reason === 'UNAVAILABLE' || error.reason === 'TIMEOUT';
}

/** Returns true if the first error tells a caller more: which credentials to allow, or how another endpoint responded. */
function isLessInformative(error: A2AError, first: A2AError): boolean {
  if (first.cause instanceof WithheldCredentialsError && !recognized.has(error.reason)) return true;
  return isUnreachable(error);
}

/** Returns true if the agent may use another version or URL, and the request had no effect. */
function mayUseOtherEndpoint(error: A2AError, { endpoint }: TransportBinding): boolean {
  if (notRecognized.has(error.reason)) return true;
  // The first sample servers return "invalid request" for unknown methods.
  if (error.reason === 'INVALID_REQUEST') return error.status === 400 && endpoint.transport === 'JSONRPC';
  if (error.cause instanceof WithheldCredentialsError) return true;
  if (endpoint.transport === 'GRPC' && isRejectionOfHttp(error)) return true;
  if (!(error.cause instanceof HttpTransportError) || error.cause.sent) return false;
  // The time of the whole call has no code, unlike that of a connection.
  return error.reason !== 'TIMEOUT' || error.cause.code !== undefined;
}

/** Statuses with which a server rejects a call although it may speak gRPC. */
const grpcStatuses: ReadonlySet<number> = new Set([401, 403, 408, 413, 429]);

/** Returns true if a server or proxy that does not speak gRPC rejected a call. */
function isRejectionOfHttp({ details, status = 0 }: A2AError): boolean {
  const isRejection = status >= 400 && status < 500 && !grpcStatuses.has(status);
  return isRejection && details.unexpectedResponse === 'true';
}
