import type { RequestOf, ResultOf, UnaryOperation } from '../../dialects/dialect.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TransportBinding } from '../transports/transport-binding.ts';
import { withHint } from '../http/response-errors.ts';
import type { AgentResolver } from './agent-resolver.ts';
import type { EndpointSelection } from './endpoint-selection.ts';

/** Errors of agents that do not recognize an operation. */
const notRecognized: ReadonlySet<string> = new Set(['METHOD_NOT_FOUND', 'NOT_FOUND', 'METHOD_NOT_ALLOWED']);

/** Calls operations of an agent. Discovers it first if necessary. */
export class OperationCaller {
  readonly resolver: AgentResolver;

  constructor(resolver: AgentResolver) {
    this.resolver = resolver;
  }

  async call<O extends UnaryOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
  ): Promise<ResultOf[O]> {
    const selection = this.resolver.selection ?? (await this.resolver.resolve(call.signal));
    return this.callThrough(selection, operation, (binding) => binding.unary(operation, request, call));
  }

  /** Calls an operation at the endpoint of a selection. */
  async callThrough<T>(
    selection: EndpointSelection,
    operation: keyof RequestOf,
    attempt: (binding: TransportBinding) => Promise<T>,
  ): Promise<T> {
    try {
      return await selection.call(operation, attempt);
    } catch (thrown) {
      throw this.#refineError(A2AError.from(thrown), selection, operation);
    }
  }

  /** If the version of the agent is confirmed, an unknown method means that it does not support the operation. */
  #refineError(error: A2AError, selection: EndpointSelection, operation: keyof RequestOf): A2AError {
    if (!selection.confirmed) {
      // The agent may be available, with a card, at the next call.
      if (!selection.agent.card) this.resolver.invalidate();
      return error;
    }
    const isSend = operation === 'send';
    if (error.reason === 'VERSION_NOT_SUPPORTED' || (isSend && error.reason === 'METHOD_NOT_FOUND')) {
      // The agent was replaced; the next call discovers it again.
      this.resolver.invalidate();
      return error;
    }
    if (isSend || !notRecognized.has(error.reason)) return error;
    const { dialect } = selection.endpoint;
    return withHint(
      new A2AError('UNSUPPORTED_OPERATION', `The agent does not support ${operation}`, {
        cause: error,
        status: error.status,
      }),
      `It uses A2A ${dialect.version}, which may not define ${operation}.`,
    );
  }
}
