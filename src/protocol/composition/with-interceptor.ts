import { isThenable } from '../../primitives/maybe-promise.ts';
import { type Agent, type CallContext, isStreamingOperation, type Operation } from '../agent.ts';
import { bindAgent } from './bind-agent.ts';
import { deferredStream } from './deferred-stream.ts';
import { invalidField } from '../errors.ts';
import type { StreamEvent } from '../event.ts';
import type { RequestOf } from '../requests.ts';
import { toSendRequest } from '../user-message.ts';

/** Requests by operation. The card has none. */
interface OperationRequests extends RequestOf {
  card: RequestOf['extendedCard'];
}

/** Names of the operations that {@link AgentInterceptor} can intercept. */
type Interceptable = keyof OperationRequests;

/** Calls the intercepted agent. */
type Next<Name extends Interceptable> = (
  request: OperationRequests[Name],
  call: CallContext,
) => ReturnType<Agent[Name]>;

/** Intercepts one operation. */
type OperationInterceptor<Name extends Interceptable> = (
  request: OperationRequests[Name],
  call: CallContext,
  next: Next<Name>,
) => ReturnType<Agent[Name]> | PromiseLike<Awaited<ReturnType<Agent[Name]>>>;

/** Result of an operation: a promise, or the events of a stream. */
export type OperationResult = PromiseLike<unknown> | AsyncIterable<StreamEvent>;

/**
 * Functions that are called instead of the operations of an agent. Each gets the complete request, the call and `next`,
 * which calls the agent. It may change the request or the result, call `next` again, or not at all. The functions of
 * streams return the events, or a promise of them.
 */
export type AgentInterceptor = { [Name in Interceptable]?: OperationInterceptor<Name> } & {
  /**
   * Intercepts all operations that have no function of their own, except `card`, which servers call for themselves. An
   * async function suits all of them: `await next(request, call)` is the result of `send`, or the events of `stream`.
   */
  '*'?: (
    operation: Operation,
    request: unknown,
    call: CallContext,
    next: (request: unknown, call: CallContext) => OperationResult,
  ) => OperationResult;
};

const operationNames = Object.keys({
  card: 0,
  extendedCard: 0,
  send: 0,
  stream: 0,
  getTask: 0,
  listTasks: 0,
  cancelTask: 0,
  subscribe: 0,
  createPushConfig: 0,
  getPushConfig: 0,
  listPushConfigs: 0,
  deletePushConfig: 0,
} satisfies { [Name in Interceptable]: 0 }) as Interceptable[];

/**
 * Middleware that calls functions of yours instead of the operations of an agent. All other members stay those of the
 * agent. The last interceptor that was added sees a call first and its result last.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` if a name is not that of an operation
 *
 * @example
 * ```ts
 * const guarded = withInterceptor(agent, {
 *   async send(request, call, next) {
 *     console.log('asked:', textOf(request.message));
 *     return next(request, call);
 *   },
 * });
 * ```
 */
export function withInterceptor<A extends Agent>(agent: A, interceptor: AgentInterceptor): A {
  for (const name of Object.keys(interceptor))
    if (name !== '*' && !operationNames.includes(name as Interceptable))
      throw invalidField(name, `must be one of ${operationNames.join(', ')} and '*'`);
  const intercepted = bindAgent<Agent>(agent);
  for (const name of operationNames) {
    const intercept = interceptorOf(interceptor, name);
    if (intercept) Object.assign(intercepted, { [name]: operationOf(agent, name, intercept) });
  }
  return intercepted as A;
}

type AnyInterceptor = (
  request: unknown,
  call: CallContext,
  next: (request: unknown, call: CallContext) => OperationResult,
) => OperationResult;

function interceptorOf(interceptor: AgentInterceptor, name: Interceptable): AnyInterceptor | undefined {
  const own = interceptor[name] as AnyInterceptor | undefined;
  if (own) return own.bind(interceptor);
  const { '*': any } = interceptor;
  return any && name !== 'card' ? any.bind(interceptor, name) : undefined;
}

const noCall: CallContext = {};

function operationOf(agent: Agent, name: Interceptable, intercept: AnyInterceptor): unknown {
  if (name === 'card' || name === 'extendedCard') {
    const next = (_request: unknown, call: CallContext): OperationResult => agent[name](call);
    return (call = noCall) => toPromise(() => intercept({}, call, next));
  }
  const next = (request: unknown, call: CallContext): OperationResult => agent[name](request as never, call);
  if (isStreamingOperation(name)) {
    const toRequest = name === 'stream' ? toSendRequest : identity;
    return (request: never, call = noCall) => toStream(() => intercept(toRequest(request), call, next));
  }
  const toRequest = name === 'send' ? toSendRequest : identity;
  return (request: never, call = noCall) => toPromise(() => intercept(toRequest(request), call, next));
}

const identity = <T>(value: T): T => value;

/** A function that throws rejects the call, like an async one. */
async function toPromise(operate: () => OperationResult): Promise<unknown> {
  return operate();
}

/** Opens the stream at once if the interceptor returns events; a promise or an error is handled when it is read. */
function toStream(operate: () => OperationResult): AsyncIterable<StreamEvent> {
  let result: OperationResult;
  try {
    result = operate();
  } catch (error) {
    result = Promise.reject(error);
  }
  return isThenable(result) ? deferredStream(result as PromiseLike<AsyncIterable<StreamEvent>>) : result;
}
