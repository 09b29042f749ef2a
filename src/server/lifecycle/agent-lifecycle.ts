import type { Agent } from '../../protocol/agent.ts';
import { quietLogSink } from '../../primitives/log.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { openTracing } from '../../tracing/tracing.ts';
import { AgentHttpHandler } from '../http/agent-http-handler.ts';
import type { ServerContext } from '../http/server-context.ts';
import type { ServerOptions } from '../server-options.ts';
import { type Drainable, drain } from './drain.ts';

/** Lifecycle of a handler that is mounted in another server. */
export interface MountedAgent extends AsyncDisposable {
  /**
   * Resolves when the agent accepts requests and has recovered its unfinished tasks; `/readyz` responds 200 then. Rejects
   * if that fails. Requests get 503 then, and each of them lets the agent try again.
   */
  readonly ready: Promise<void>;
  /**
   * Responds 503 at `/readyz`, waits as the option `drain` says, ends all streams and rejects further requests. Close the
   * server and then the agent afterwards.
   */
  close(): Promise<void>;
}

/** An agent behind an HTTP handler: readiness, recovery and shutdown, for all server adapters. */
export class AgentLifecycle implements Drainable {
  readonly handler: AgentHttpHandler;
  readonly #agent: Agent;
  readonly #options: ServerOptions;
  #preparing: Promise<void> | undefined = undefined;
  #closing: Promise<void> | undefined = undefined;

  constructor(agent: Agent, options: ServerOptions) {
    const { card, send } = (agent ?? {}) as Partial<Agent>;
    if (typeof card !== 'function' || typeof send !== 'function')
      throw invalidField('agent', 'must be an agent, such as the result of defineAgent() or connect()');
    this.#agent = agent;
    this.#options = options;
    this.handler = new AgentHttpHandler(agent, options);
  }

  readonly contexts = (): Iterable<ServerContext> => [this.handler.context];

  readonly onStopping = (): void => {
    this.handler.isStopping = true;
  };

  readonly whenIdle = async (timeout: number): Promise<void> => this.#agent.whenIdle?.(timeout);

  /** Recovers the tasks of the agent. Later calls return the same promise, unless it failed: then they try again. */
  prepare(): Promise<void> {
    this.#preparing ??= this.#prepare();
    return this.#preparing;
  }

  async #prepare(): Promise<void> {
    const { handler } = this;
    try {
      // Fails if tracing is requested but not available.
      await openTracing(this.#options.tracing);
      await this.#agent.ready?.();
    } catch (error) {
      this.#preparing = undefined;
      handler.refusal ??= new A2AError('UNAVAILABLE', 'The agent is not ready', { cause: error });
      throw error;
    }
    handler.isReady = true;
    if (!this.#closing) handler.refusal = undefined;
  }

  /**
   * Prepares the agent in the background, unless that is under way. Requests are rejected while it fails.
   *
   * @returns a promise that resolves at the end of the attempt, also after a failure.
   */
  prepareInBackground(): Promise<void> {
    const isNew = this.#preparing === undefined;
    return this.prepare().catch((error: unknown) => {
      if (isNew)
        quietLogSink(this.#options.log)({ level: 'error', message: 'The agent is not ready', error });
    });
  }

  close(): Promise<void> {
    this.#closing ??= drain(this, this.#options.drain ?? {}, () => {
      this.handler.refusal = new A2AError('UNAVAILABLE', 'The server is shutting down');
    });
    return this.#closing;
  }

  /** Adds the lifecycle to the function that handles requests. */
  mount<Handle extends object>(handle: Handle): Handle & MountedAgent {
    const close = (): Promise<void> => this.close();
    return Object.defineProperties(handle, {
      ready: { get: () => this.prepare() },
      close: { value: close },
      [Symbol.asyncDispose]: { value: close },
    }) as Handle & MountedAgent;
  }
}
