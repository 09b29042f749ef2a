/**
 * Which of the ways to speak to an agent is the one that works.
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
import { jsonRpcBinding } from '../transports/json-rpc.ts';
import type { ClientSettings } from '../connect-options.ts';
import { restBinding } from '../transports/rest.ts';
import { traceBinding } from '../transports/trace-binding.ts';

/** Errors that say that nobody knows what was asked, so that nothing has happened. */
const unknownHere: ReadonlySet<string> = new Set([
  'METHOD_NOT_FOUND',
  'VERSION_NOT_SUPPORTED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
]);

/** Errors that an agent gives for a question it understood. */
const understood: ReadonlySet<string> = new Set([
  'TASK_NOT_FOUND',
  'TASK_NOT_CANCELABLE',
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'INVALID_PARAMS',
]);

/** An agent that was found, and the way of speaking that was chosen for it. */
export class EndpointSelection {
  readonly agent: DiscoveredAgent;
  readonly #settings: ClientSettings;
  readonly #bindings: TransportBinding[];
  #current = 0;
  /** The way was seen to work. */
  confirmed = false;

  constructor(found: DiscoveredAgent, settings: ClientSettings) {
    this.agent = found;
    this.#settings = settings;
    this.#bindings = found.endpoints.map((each) =>
      traceBinding(
        each.transport === 'JSONRPC' ? jsonRpcBinding(settings, each) : restBinding(settings, each),
        settings.tracing,
      ),
    );
    const remembered = settings.memory.get(found.place);
    const at = found.endpoints.findIndex((each) => endpointKey(each) === remembered);
    if (at > 0) this.#bindings.unshift(...this.#bindings.splice(at, 1));
  }

  /** The way that is used, or will be tried first. */
  get binding(): TransportBinding {
    return this.#bindings[this.#current] as TransportBinding;
  }

  get endpoint(): Endpoint {
    return this.binding.endpoint;
  }

  /** Asks in the way that works, and finds out which one that is as long as nobody knows. */
  async call<T>(operation: Operation, attempt: (binding: TransportBinding) => Promise<T>): Promise<T> {
    if (this.confirmed) return attempt(this.binding);
    let first: A2AError | undefined;
    for (let at = this.#current; at < this.#bindings.length; at++) {
      const binding = this.#bindings[at] as TransportBinding;
      try {
        const answer = await attempt(binding);
        this.#settle(at, operation);
        return answer;
      } catch (thrown) {
        const error = A2AError.from(thrown);
        if (understood.has(error.reason)) this.#settle(at, operation);
        if (!speaksOtherwise(error, binding))
          throw first && isNoBetter(error) ? first : this.#placed(error, binding);
        first ??= error;
        this.#report(at, error);
      }
    }
    throw this.#exhausted(first);
  }

  /** Says who named an address that cannot be reached. */
  #placed(error: A2AError, { endpoint }: TransportBinding): A2AError {
    const { reason, message, hint = '', cause, status, details } = error;
    if (endpoint.namedBy === undefined || !isNoBetter(error)) return error;
    return new A2AError(reason, message, {
      cause,
      status,
      details,
      hint: `${hint} ${endpoint.namedBy} said to look at ${endpoint.url}.`.trim(),
    });
  }

  #settle(at: number, operation: Operation): void {
    const { endpoint } = this.#bindings[at] as TransportBinding;
    const method = rpcMethodName(endpoint.dialect, operation);
    // A name that several versions share proves none of them.
    const isShared = this.#bindings
      .slice(at + 1)
      .some(
        (other) =>
          endpoint.transport === 'JSONRPC' &&
          other.endpoint.url === endpoint.url &&
          other.endpoint.dialect !== endpoint.dialect &&
          method !== undefined &&
          other.endpoint.dialect.methods.has(method),
      );
    this.#current = at;
    if (isShared) return;
    this.confirmed = true;
    if (at > 0) this.#settings.memory.set(this.agent.place, endpointKey(endpoint));
  }

  #report(at: number, error: A2AError): void {
    const next = this.#bindings[at + 1];
    if (!next) return;
    const { dialect, transport, url } = next.endpoint;
    this.#settings.report({
      kind: 'fallback',
      error,
      message: `Trying A2A ${dialect.version} over ${transport} at ${url}`,
    });
  }

  #exhausted(first: A2AError | undefined): A2AError {
    const tried = this.#bindings.map(
      ({ endpoint: { dialect, transport, url } }) => `${dialect.version} over ${transport} at ${url}`,
    );
    // The address that may not be used may be the right one.
    const { reason, message, violations, details, status, cause, hint } =
      this.agent.refused ?? first ?? new A2AError('NOT_FOUND', 'There is no agent');
    const whose = this.agent.cardUrl ? `The card is at ${this.agent.cardUrl}. ` : 'There is no agent card. ';
    return new A2AError(reason, message, {
      violations,
      details,
      status,
      cause,
      hint: `${this.agent.refused ? `${hint} ` : ''}${whose}Tried: ${tried.join('; ')}.`,
    });
  }
}

/** A way that cannot even be reached says less than one that answered. */
function isNoBetter(error: A2AError): boolean {
  return error.reason === 'UNAVAILABLE' || error.reason === 'TIMEOUT';
}

/** True when the agent may speak another version, or be elsewhere, and nothing has happened so far. */
function speaksOtherwise(error: A2AError, { endpoint }: TransportBinding): boolean {
  if (unknownHere.has(error.reason)) return true;
  // The first sample servers call an unknown method an invalid request.
  if (error.reason === 'INVALID_REQUEST') return error.status === 400 && endpoint.transport === 'JSONRPC';
  return error.reason === 'UNAVAILABLE' && error.cause instanceof HttpTransportError && !error.cause.sent;
}
