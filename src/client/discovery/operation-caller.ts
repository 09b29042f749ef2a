import type { RequestOf, ResultOf, UnaryOperation } from '../../dialects/dialect.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TransportBinding } from '../transports/transport-binding.ts';
import { withHint } from '../http/response-errors.ts';
import type { AgentResolver } from './agent-resolver.ts';
import type { EndpointSelection } from './endpoint-selection.ts';

/** Nobody at the agent knows what was asked. */
const isUnknown: ReadonlySet<string> = new Set(['METHOD_NOT_FOUND', 'NOT_FOUND', 'METHOD_NOT_ALLOWED']);

/** Speaks to an agent that may still have to be found. */
export class OperationCaller {
  readonly resolver: AgentResolver;

  constructor(finder: AgentResolver) {
    this.resolver = finder;
  }

  /** Asks once and gives the answer. */
  async call<O extends UnaryOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
  ): Promise<ResultOf[O]> {
    const route = this.resolver.selection ?? (await this.resolver.resolve(call.signal));
    return this.callThrough(route, operation, (binding) => binding.unary(operation, request, call));
  }

  /** Asks in the way that the agent understands. */
  async callThrough<T>(
    route: EndpointSelection,
    operation: keyof RequestOf,
    attempt: (binding: TransportBinding) => Promise<T>,
  ): Promise<T> {
    try {
      return await route.call(operation, attempt);
    } catch (thrown) {
      throw this.#inContext(A2AError.from(thrown), route, operation);
    }
  }

  /** An agent that is known to speak this version and does not know the method does not do this. */
  #inContext(error: A2AError, route: EndpointSelection, operation: keyof RequestOf): A2AError {
    if (!route.confirmed) {
      // Nothing is known of this agent yet: it may be there, with a card, at the next call.
      if (!route.agent.card) this.resolver.invalidate();
      return error;
    }
    const isBasic = operation === 'send';
    if (error.reason === 'VERSION_NOT_SUPPORTED' || (isBasic && error.reason === 'METHOD_NOT_FOUND')) {
      // It was replaced by something else: look again at the next call.
      this.resolver.invalidate();
      return error;
    }
    if (isBasic || !isUnknown.has(error.reason)) return error;
    const { dialect } = route.endpoint;
    return withHint(
      new A2AError('UNSUPPORTED_OPERATION', `The agent has no ${operation}`, {
        cause: error,
        status: error.status,
      }),
      `It speaks A2A ${dialect.version}, where ${operation} may be missing.`,
    );
  }
}
