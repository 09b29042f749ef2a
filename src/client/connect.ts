import type { RequestOf, ResultOf, Unary } from '../dialects/dialect.ts';
import type { Agent, Call } from '../protocol/agent.ts';
import type { AgentCard, Version } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { PushConfig } from '../protocol/push.ts';
import type {
  CancelTaskRequest,
  GetTaskRequest,
  ListPushConfigsRequest,
  ListTasksRequest,
  PushConfigPage,
  PushConfigRef,
  SendRequest,
  SubscribeRequest,
  TaskPage,
} from '../protocol/requests.ts';
import { isTask, isTerminal, type Task, withHistory } from '../protocol/task.ts';
import { type Alias, Aliases, claimedTask } from './aliases.ts';
import type { Binding, Frame } from './bindings/binding.ts';
import { closable } from './follow/closable.ts';
import { cardWithout, closed, Finder } from './discovery/finder.ts';
import { type Batches, type Followed, Follower } from './follow/follow.ts';
import { withHint } from './http/hint.ts';
import { type ConnectOptions, type Settings, settle, type Transport } from './options.ts';
import type { Route } from './discovery/route.ts';
import { Sending } from './sending.ts';

/** How an agent is spoken to. */
export interface Description {
  /** Where requests go. */
  url: string;
  version: Version;
  transport: Transport;
  tenant: string | undefined;
  /** Where the card was; undefined when there is none, or when it was given. */
  cardUrl: string | undefined;
  /** False while nobody knows whether what the card says is true. */
  confirmed: boolean;
}

/** An agent somewhere else. */
export interface RemoteAgent extends Agent, AsyncDisposable {
  /** Tells which version and transport were chosen, and finds the agent first if nobody has. */
  describe(call?: Call): Promise<Description>;
  /** Ends everything that is open. */
  close(): Promise<void>;
}

/**
 * Connects to an agent, whatever version it speaks. Nothing happens before the first call.
 *
 * @param where - the address of the agent, of its card, or the card itself in any version.
 *
 * @example
 * ```ts
 * const agent = connect('http://localhost:4000');
 * const answer = await agent.send({ message: { messageId: '1', role: 'user', parts: [{ text: 'hi' }] } });
 * ```
 */
export function connect(where: string | URL | AgentCard | object, options: ConnectOptions = {}): RemoteAgent {
  const remote = new Remote(where, settle(options));
  // Functions of its own, so that a wrapper may spread it.
  return {
    card: (call) => remote.card(call),
    extendedCard: (call) => remote.extendedCard(call),
    send: (request, call) => remote.send(request, call),
    stream: (request, call) => remote.stream(request, call),
    getTask: (request, call) => remote.getTask(request, call),
    listTasks: (request, call) => remote.listTasks(request, call),
    cancelTask: (request, call) => remote.cancelTask(request, call),
    subscribe: (request, call) => remote.subscribe(request, call),
    createPushConfig: (config, call) => remote.createPushConfig(config, call),
    getPushConfig: (ref, call) => remote.getPushConfig(ref, call),
    listPushConfigs: (request, call) => remote.listPushConfigs(request, call),
    deletePushConfig: (ref, call) => remote.deletePushConfig(ref, call),
    describe: (call) => remote.describe(call),
    close: () => remote.close(),
    [Symbol.asyncDispose]: () => remote.close(),
  };
}

/** The agent cannot stream: the same can be had by asking. */
const cannotStream: ReadonlySet<string> = new Set(['METHOD_NOT_FOUND', 'UNSUPPORTED_OPERATION']);

/** Nobody at the agent knows what was asked. */
const isUnknown: ReadonlySet<string> = new Set(['METHOD_NOT_FOUND', 'NOT_FOUND', 'METHOD_NOT_ALLOWED']);

class Remote implements Omit<RemoteAgent, typeof Symbol.asyncDispose> {
  readonly #finder: Finder;
  readonly #settings: Settings;
  readonly #aliases = new Aliases();
  readonly #open = new Set<(reason: unknown) => void>();

  constructor(where: string | URL | object, settings: Settings) {
    this.#finder = new Finder(where, settings);
    this.#settings = settings;
  }

  async card(call: Call = {}): Promise<AgentCard> {
    const route = await this.#finder.found(call.signal);
    if (route.found.card) return route.found.card;
    // Without a card, only an answer proves that there is an agent at all.
    if (!route.confirmed) await this.#probe(route, call);
    return cardWithout(route);
  }

  async describe(call: Call = {}): Promise<Description> {
    const { endpoint, found, confirmed } = await this.#finder.found(call.signal);
    const { url, dialect, transport, tenant } = endpoint;
    return { url, version: dialect.version, transport, tenant, cardUrl: found.cardUrl, confirmed };
  }

  extendedCard(call: Call = {}): Promise<AgentCard> {
    return this.#ask('extendedCard', {}, call);
  }

  async send(request: SendRequest, call: Call = {}): Promise<Task | Message> {
    const route = this.#finder.route ?? (await this.#finder.found(call.signal));
    const answer = await this.#through(route, 'send', async (binding) => {
      const sending = await Sending.prepare(this.#aliases, binding, request, call);
      return sending.answered(() => binding.unary('send', sending.request, call));
    });
    return isTask(answer) ? withHistory(answer, request.configuration?.historyLength) : answer;
  }

  stream(request: SendRequest, call: Call = {}): AsyncIterable<StreamEvent> {
    return closable({ signal: call.signal, open: this.#open }, async (signal) => {
      const route = await this.#finder.found(signal);
      const streams = !route.found.card || route.found.card.capabilities.streaming === true;
      if (!streams) return this.#sendAndPoll(route, request, { ...call, signal });
      const state: { sending?: Sending } = {};
      const follower = new Follower(
        this.#settings,
        {
          ...this.#followed(route, call),
          after: request.after,
          open: (ending, lastEventId) =>
            this.#through(route, 'stream', async (binding) => {
              const sending = await Sending.prepare(this.#aliases, binding, request, call);
              state.sending = sending;
              return sending.opened(() =>
                binding.open(
                  'stream',
                  sending.request,
                  { ...call, signal: ending },
                  { signal: ending, lastEventId },
                ),
              );
            }),
        },
        signal,
      );
      try {
        const events = await follower.start();
        return state.sending?.isNamed ? state.sending.named(events) : events;
      } catch (thrown) {
        if (!cannotStream.has(A2AError.from(thrown).reason)) throw thrown;
        return this.#sendAndPoll(route, request, { ...call, signal });
      }
    });
  }

  async getTask(request: GetTaskRequest, call: Call = {}): Promise<Task> {
    const alias = await this.#alias(request.id, call);
    const task = await this.#ask('getTask', alias ? { ...request, id: alias.taskId } : request, call);
    return withHistory(alias ? claimedTask(task, alias) : task, request.historyLength);
  }

  async listTasks(request: ListTasksRequest, call: Call = {}): Promise<TaskPage> {
    const page = await this.#ask('listTasks', request, call);
    if (request.historyLength === undefined) return page;
    return { ...page, tasks: page.tasks.map((task) => withHistory(task, request.historyLength)) };
  }

  async cancelTask(request: CancelTaskRequest, call: Call = {}): Promise<Task> {
    const alias = await this.#alias(request.id, call);
    const task = await this.#ask('cancelTask', alias ? { ...request, id: alias.taskId } : request, call);
    return alias ? claimedTask(task, alias) : task;
  }

  subscribe(request: SubscribeRequest, call: Call = {}): AsyncIterable<StreamEvent> {
    return closable({ signal: call.signal, open: this.#open }, async (signal) => {
      const route = await this.#finder.found(signal);
      const alias = await this.#alias(request.id, call);
      const taskId = alias?.taskId ?? request.id;
      const followed: Followed = {
        ...this.#followed(route, call),
        taskId,
        after: request.after,
        open: (ending, lastEventId) => this.#subscribe(route, taskId, { call, ending, lastEventId }),
      };
      const follower = new Follower(this.#settings, followed, signal);
      const events = await this.#startOrPoll(route, follower, { taskId, signal, call });
      return alias ? Sending.rename(events, alias) : events;
    });
  }

  async createPushConfig(config: PushConfig, call: Call = {}): Promise<PushConfig> {
    const alias = await this.#alias(config.taskId, call);
    return this.#pushAnswer(
      await this.#ask('createPushConfig', alias ? { ...config, taskId: alias.taskId } : config, call),
      alias,
    );
  }

  async getPushConfig(ref: PushConfigRef, call: Call = {}): Promise<PushConfig> {
    const alias = await this.#alias(ref.taskId, call);
    const asked = alias ? { ...ref, taskId: alias.taskId } : ref;
    const config = asked.id === undefined ? await this.#firstPushConfig(asked.taskId, call) : undefined;
    return this.#pushAnswer(config ?? (await this.#ask('getPushConfig', asked, call)), alias);
  }

  /** Only the oldest versions, which have no list, choose one themselves. */
  async #firstPushConfig(taskId: string, call: Call): Promise<PushConfig | undefined> {
    const { endpoint } = await this.#finder.found(call.signal);
    if (endpoint.dialect.version === '0.1') return undefined;
    try {
      const { configs } = await this.#ask('listPushConfigs', { taskId }, call);
      if (configs[0]) return configs[0];
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (error.reason === 'UNSUPPORTED_OPERATION' && endpoint.dialect.version !== '1.0') return undefined;
      throw error;
    }
    throw new A2AError('TASK_NOT_FOUND', 'The task has no push configuration', { details: { taskId } });
  }

  async listPushConfigs(request: ListPushConfigsRequest, call: Call = {}): Promise<PushConfigPage> {
    const alias = await this.#alias(request.taskId, call);
    const page = await this.#ask(
      'listPushConfigs',
      alias ? { ...request, taskId: alias.taskId } : request,
      call,
    );
    return alias ? { ...page, configs: page.configs.map((each) => this.#pushAnswer(each, alias)) } : page;
  }

  async deletePushConfig(ref: PushConfigRef, call: Call = {}): Promise<void> {
    const alias = await this.#alias(ref.taskId, call);
    await this.#ask('deletePushConfig', alias ? { ...ref, taskId: alias.taskId } : ref, call);
  }

  async close(): Promise<void> {
    this.#finder.close();
    for (const end of this.#open) end(closed());
    if (this.#settings.ownsHttp) await this.#settings.http.close();
  }

  async #ask<O extends Unary>(operation: O, request: RequestOf[O], call: Call): Promise<ResultOf[O]> {
    const route = this.#finder.route ?? (await this.#finder.found(call.signal));
    return this.#through(route, operation, (binding) => binding.unary(operation, request, call));
  }

  async #through<T>(
    route: Route,
    operation: keyof RequestOf,
    attempt: (binding: Binding) => Promise<T>,
  ): Promise<T> {
    try {
      return await route.ask(operation, attempt);
    } catch (thrown) {
      throw this.#inContext(A2AError.from(thrown), route, operation);
    }
  }

  /** An agent that is known to speak this version and does not know the method does not do this. */
  #inContext(error: A2AError, route: Route, operation: keyof RequestOf): A2AError {
    if (!route.confirmed) {
      // Nothing is known of this agent yet: it may be there, with a card, at the next call.
      if (!route.found.card) this.#finder.forget();
      return error;
    }
    const isBasic = operation === 'send';
    if (error.reason === 'VERSION_NOT_SUPPORTED' || (isBasic && error.reason === 'METHOD_NOT_FOUND')) {
      // It was replaced by something else: look again at the next call.
      this.#finder.forget();
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

  /** The other name of a task; an agent of 0.1 knows it by the name that the caller made. */
  async #alias(id: string, call: Call): Promise<Alias | undefined> {
    const alias = this.#aliases.find(call.owner, id);
    if (!alias) return undefined;
    const { endpoint } = await this.#finder.found(call.signal);
    return endpoint.dialect.version === '0.1' ? undefined : alias;
  }

  #pushAnswer(config: PushConfig, alias: Alias | undefined): PushConfig {
    return alias ? { ...config, taskId: alias.claimedId } : config;
  }

  #subscribe(
    route: Route,
    id: string,
    { call, ending, lastEventId }: { call: Call; ending: AbortSignal; lastEventId: string | undefined },
  ) {
    return this.#through(route, 'subscribe', (binding) =>
      binding.open('subscribe', { id }, { ...call, signal: ending }, { signal: ending, lastEventId }),
    );
  }

  #followed(route: Route, call: Call): Omit<Followed, 'open'> {
    return {
      reopen: (taskId, lastEventId, ending) => this.#subscribe(route, taskId, { call, ending, lastEventId }),
      getTask: (id, signal) =>
        this.#through(route, 'getTask', (binding) => binding.unary('getTask', { id }, { ...call, signal })),
      beginsWithTask: (frame) => beginsWithTask(frame, route.endpoint.dialect.version),
    };
  }

  async #startOrPoll(
    route: Route,
    follower: Follower,
    { taskId, signal, call }: { taskId: string; signal: AbortSignal; call: Call },
  ): Promise<Batches> {
    const streams = !route.found.card || route.found.card.capabilities.streaming === true;
    let refused = new A2AError('UNSUPPORTED_OPERATION', 'The agent does not stream');
    if (streams) {
      try {
        return await follower.start();
      } catch (thrown) {
        refused = A2AError.from(thrown);
        if (!cannotStream.has(refused.reason)) throw refused;
      }
    }
    const task = await this.#followed(route, call).getTask(taskId, signal);
    if (isTerminal(task.status.state))
      throw streams ? refused : new A2AError('UNSUPPORTED_OPERATION', 'The task is over');
    this.#settings.report({
      kind: 'poll',
      taskId,
      error: refused,
      message: `Task ${taskId} cannot be followed; it is asked for instead`,
    });
    return follower.poll(task);
  }

  /** Does what a stream does for an agent that has none. */
  async #sendAndPoll(
    route: Route,
    request: SendRequest,
    call: Call & { signal: AbortSignal },
  ): Promise<Batches> {
    const configuration = { ...request.configuration, returnImmediately: true };
    const state: { sending?: Sending } = {};
    const answer = await this.#through(route, 'send', async (binding) => {
      const asked = { ...request, configuration };
      const sending = await Sending.prepare(this.#aliases, binding, asked, call);
      state.sending = sending;
      return sending.opened(() => binding.unary('send', sending.request, call));
    });
    const events = isTask(answer)
      ? new Follower(
          this.#settings,
          {
            ...this.#followed(route, call),
            open: () => Promise.reject(new A2AError('UNSUPPORTED_OPERATION')),
          },
          call.signal,
        ).poll(answer)
      : once({ kind: 'message', message: answer } as const);
    return state.sending?.isNamed ? state.sending.named(events) : events;
  }

  /** Asks for a task that nobody has, which does no harm in any version. */
  async #probe(route: Route, call: Call): Promise<void> {
    try {
      await this.#through(route, 'getTask', (binding) =>
        binding.unary('getTask', { id: crypto.randomUUID() }, call),
      );
    } catch (thrown) {
      if (A2AError.from(thrown).reason !== 'TASK_NOT_FOUND') throw thrown;
    }
  }
}

async function* once(event: StreamEvent): Batches {
  yield [event];
}

/** Before 1.0 a reader may have put a task of its own before the first update; such a task is no picture. */
function beginsWithTask({ events }: Frame, version: Version): boolean {
  const [head] = events;
  if (head?.kind !== 'task') return false;
  if (version === '1.0') return true;
  return events.length === 1 && (version !== '0.1' || head.task.artifacts !== undefined);
}
