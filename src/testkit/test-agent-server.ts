import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Agent } from '../protocol/agent.ts';
import { A2AError } from '../protocol/errors.ts';
import type { ServerContext } from '../server/http/server-context.ts';
import { AgentHttpHandler } from '../server/http/agent-http-handler.ts';
import { resolveGrpc } from '../server/grpc/grpc-options.ts';
import { listen, type RunningServer } from '../server/node/listen.ts';
import { nodeListener } from '../server/node/node-listener.ts';
import type { ServerOptions } from '../server/server-options.ts';
import { AdminApi } from './admin/admin-api.ts';
import type { CardDraft } from './agent/card-draft.ts';
import { systemTestClock, type TestClock } from './clock/test-clock.ts';
import { VirtualClock } from './clock/virtual-clock.ts';
import { MessageDirectives, missingDirectives } from './agent/message-directives.ts';
import {
  type AuthValidation,
  RequestInterceptor,
  type InjectedHttpError,
} from './http/request-interceptor.ts';
import { createHttpPipeline, type NodeRequestListener } from './http/http-pipeline.ts';
import { FaultSelector } from './faults/fault-selector.ts';
import type { Fault } from './faults/fault.ts';
import type { FaultContext } from './faults/fault-context.ts';
import { PortOutage } from './faults/port-outage.ts';
import { MockGrpcServer } from './grpc/mock-grpc-server.ts';
import type { CapturedRequest, JournalEntry, JournalFilter } from './journal/journal-entry.ts';
import { Journal, type JournalWaitOptions } from './journal/journal.ts';
import { failurePlan } from './playback/failure-plan.ts';
import { PrimedResponses, type PrimeOptions } from './agent/primed-responses.ts';
import { createSeededRandom } from './seeded-random.ts';
import { bindAgent } from '../protocol/composition/bind-agent.ts';
import { ScriptedAgent } from './agent/scripted-agent.ts';
import { ScriptStack } from './agent/script-stack.ts';
import type { ResponsePlan } from './agent/response-plan.ts';
import { ReplayAgent } from './replay/replay-agent.ts';
import type { TestAgentOptions } from './test-agent-options.ts';
import { stripTrailing } from '../primitives/text.ts';

/**
 * Mock agent (test agent) with an HTTP server for all protocol versions and transports.
 *
 * The response to a message comes from the first of: directives in the message, primed responses, the mock script.
 * Without any of them the task fails.
 *
 * @example
 * ```ts
 * await using agent = await TestAgentServer.start();
 * agent.prime([{ kind: 'task', status: { state: 'completed' } }]);
 * ```
 */
export class TestAgentServer implements AsyncDisposable {
  /** Record of all requests and responses. */
  readonly journal: Journal;
  readonly clock: TestClock;
  /** The agent itself, for calls without HTTP. The journal does not record such calls. */
  readonly agent: Agent;
  readonly #options: TestAgentOptions;
  readonly #scripts: ScriptStack;
  readonly #primedResponses = new PrimedResponses();
  readonly #directives = new MessageDirectives();
  readonly #interceptor = new RequestInterceptor();
  readonly #faultSelector: FaultSelector;
  readonly #agent: ScriptedAgent | ReplayAgent;
  readonly #serverContexts = new Set<ServerContext>();
  readonly #startedAt: number;
  #faults: readonly Fault[] = [];
  #card: CardDraft = {};
  #listener: NodeRequestListener = () => {};
  #handler: AgentHttpHandler | undefined = undefined;
  #running: RunningServer | undefined = undefined;
  #outage: PortOutage | undefined = undefined;
  #isStarting = false;

  /** @throws DocumentError if the script is invalid. */
  constructor(options: TestAgentOptions = {}) {
    this.#options = options;
    this.#scripts = new ScriptStack(options.seed);
    const { scriptFile, script = scriptFile === undefined ? undefined : readFileSync(scriptFile, 'utf8') } =
      options;
    if (script !== undefined)
      this.#scripts.load(script, scriptFile ?? 'script.yaml', 'replace', folderOf(scriptFile));
    this.clock = resolveClock(options.clock ?? this.#scripts.main?.clock);
    this.#startedAt = this.clock.now();
    this.journal = new Journal(this.clock, options.journal);
    this.#faultSelector = new FaultSelector(this.#createRandom(0));
    this.#updateCard();
    this.#agent = this.#createAgent();
    this.agent = bindAgent<Agent>(this.#agent);
  }

  #createAgent(): ScriptedAgent | ReplayAgent {
    const { clock, journal } = this;
    const { replay, taskStore, generateId, streamStart } = this.#options;
    const selectFaults = (plan: ResponsePlan): readonly Fault[] =>
      this.#faultSelector.select([...plan.faults, ...this.#faults]);
    if (replay) return new ReplayAgent({ ...replay, clock, journal, generateId, selectFaults });
    return new ScriptedAgent({
      card: () => this.#card,
      clock,
      journal,
      taskStore,
      generateId,
      hideInitialTask: streamStart === 'played',
      selectFaults,
      decide: (received) =>
        this.#directives.decide(received) ??
        this.#primedResponses.decide(received) ??
        (this.#scripts.hasScripts ? this.#scripts.decide(received) : failurePlan(missingDirectives)),
    });
  }

  /** Creates and starts a test agent. */
  static start(options: TestAgentOptions = {}): Promise<TestAgentServer> {
    return new TestAgentServer(options).start();
  }

  /** Starts to listen. @throws A2AError `UNSUPPORTED_OPERATION` if it is already running. */
  async start(): Promise<this> {
    if (this.#running ?? this.#isStarting)
      throw new A2AError('UNSUPPORTED_OPERATION', 'The test agent is already running');
    this.#isStarting = true;
    const { port, host, limits, heartbeat, basePath = '', admin = true, allowAdminFrom = [] } = this.#options;
    this.#createHandler();
    const faultContext = {
      clock: this.clock,
      random: this.#createRandom(1),
      startOutage: (milliseconds: number | undefined) => this.#outage?.start(milliseconds),
    };
    const grpc = this.#createGrpcServer(faultContext);
    const pipeline = createHttpPipeline((request, response) => this.#listener(request, response), {
      journal: this.journal,
      interceptor: this.#interceptor,
      basePath: stripTrailing(basePath, '/'),
      admin: admin ? new AdminApi(this.#adminTarget(), allowAdminFrom).listener : undefined,
      selectFaults: (path) =>
        path.includes('/.well-known/')
          ? this.#faultSelector.select([...this.#scripts.cardFaults, ...this.#faults], 'card')
          : [],
      faultContext,
    });
    try {
      this.#running = await listen(
        { listener: pipeline, contexts: () => this.#serverContexts, metrics: undefined, grpc },
        { port, host, limits, heartbeat },
      );
      this.#outage = new PortOutage(this.#running.server, this.clock, grpc);
      await this.#agent.ready();
    } finally {
      this.#isStarting = false;
    }
    return this;
  }

  #createGrpcServer(faultContext: FaultContext): MockGrpcServer | undefined {
    const settings = resolveGrpc(this.#options.grpc);
    const handler = () => this.#handler as AgentHttpHandler;
    const context = { handler, journal: this.journal, interceptor: this.#interceptor, faultContext };
    return settings && new MockGrpcServer(context, settings, this.#options);
  }

  /** Stops the server and closes all connections; open requests have 100 ms to finish. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    this.#outage?.cancel();
    const stopping = running?.stop(stopTimeout);
    await this.#agent.close();
    await stopping;
    this.journal.close();
    if (this.clock instanceof VirtualClock && !isClock(this.#options.clock)) this.clock.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** URL of the server without the base path, such as `http://127.0.0.1:4000`. */
  get url(): string {
    if (this.#running) return this.#running.url;
    throw new A2AError('UNSUPPORTED_OPERATION', 'The test agent is not running; call start() first');
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** URL of the agent: {@link url} plus the base path. */
  get endpoint(): string {
    return `${this.url}${stripTrailing(this.#options.basePath ?? '', '/')}`;
  }

  get cardUrl(): string {
    return `${this.url}/.well-known/agent-card.json`;
  }

  get adminUrl(): string {
    return `${this.url}/__admin`;
  }

  /** The loaded scripts; the first one is evaluated first. */
  get scripts(): ScriptStack['list'] {
    return this.#scripts.list;
  }

  /**
   * Queues events as responses to the next messages. Each message consumes the events up to the first that ends or
   * interrupts its task.
   *
   * @throws A2AError `INVALID_PARAMS` with index and field of an invalid event.
   */
  prime(responses: unknown, options?: PrimeOptions): void {
    this.#primedResponses.prime(responses, options);
  }

  /** Number of primed events in the queue. */
  get primedCount(): number {
    return this.#primedResponses.size;
  }

  /**
   * Replaces all scripts, or adds one that is evaluated before them.
   *
   * @throws DocumentError if the script is invalid; the loaded scripts remain unchanged.
   */
  load(text: string, file?: string, mode: 'replace' | 'add' = 'replace'): void {
    this.#loadScript(text, file, mode, folderOf(file));
  }

  #loadScript(text: string, file = 'script.yaml', mode: 'replace' | 'add', folder: string | undefined): void {
    this.#scripts.load(text, file, mode, folder);
    this.#updateCard();
    if (this.#serverContexts.size > 0) this.#createHandler();
  }

  /** Requires credentials for all requests except card requests; `undefined` disables the check. */
  requireAuth(validation: AuthValidation | undefined): void {
    this.#interceptor.requireAuth(validation);
  }

  /** Responds to the next request with an HTTP error, once. */
  injectHttpError(error: InjectedHttpError): void {
    this.#interceptor.enqueueError(error);
  }

  /** Sets the faults that are injected into all responses. */
  injectFaults(faults: readonly Fault[]): void {
    this.#faults = faults;
  }

  /** The requests that sent a message to the agent, oldest first. */
  get receivedMessages(): JournalEntry[] {
    return this.journal.entries({ where: ({ call }) => call?.message !== undefined });
  }

  /** The newest request, including rejected ones and excluding card requests. */
  get lastRequest(): CapturedRequest | undefined {
    return this.journal.last({ where: ({ request }) => !request.path.includes('/.well-known/') })?.request;
  }

  get cancelRequests(): JournalEntry[] {
    return this.journal.entries({ operation: 'cancelTask' });
  }

  /** Ids of the tasks for which a cancel request was received. */
  get canceledTaskIds(): string[] {
    return this.cancelRequests.flatMap(({ call }) => call?.taskId ?? []);
  }

  /** The captured requests, oldest first. */
  requests(filter?: JournalFilter): CapturedRequest[] {
    return this.journal.requests(filter);
  }

  /** Waits for requests; see {@link Journal.waitFor}. */
  waitFor(filter?: JournalFilter, options?: JournalWaitOptions): Promise<JournalEntry[]> {
    return this.journal.waitFor(filter, options);
  }

  /** Removes all primed responses. */
  clearPrimed(): void {
    this.#primedResponses.reset();
  }

  /** Clears the journal. */
  clearRequests(): void {
    this.journal.clear();
  }

  /** Disables the check of {@link requireAuth}. */
  clearAuthValidation(): void {
    this.#interceptor.requireAuth(undefined);
  }

  /** Removes all queued HTTP errors. */
  clearHttpErrors(): void {
    this.#interceptor.clearErrors();
  }

  /** Resets all state except the scripts: journal, queues, faults, test cases, conversations and counters. */
  reset(): void {
    this.journal.clear();
    this.#primedResponses.reset();
    this.#directives.reset();
    this.#interceptor.reset();
    this.#faultSelector.reset();
    this.#scripts.reset();
    this.#agent.reset();
    this.#faults = [];
  }

  #updateCard(): void {
    this.#card = { ...this.#scripts.main?.card, ...this.#options.card };
  }

  /** Creates a new HTTP handler, because a script may change authentication. Open streams of the old one continue. */
  #createHandler(): void {
    const { basePath, publicUrl, limits, lenientVersion, onlyVersion, heartbeat, auth, onTraffic } =
      this.#options;
    const { cors, allowedHosts } = this.#options;
    const options: ServerOptions = {
      basePath,
      publicUrl,
      limits,
      lenientVersion,
      onlyVersion,
      heartbeat,
      onTraffic,
      cors,
      allowedHosts,
      auth: auth ?? this.#scripts.main?.auth,
      // The next script may change the card.
      cardMaxAge: 0,
      tracing: false,
    };
    const handler = new AgentHttpHandler(this.#agent, options);
    handler.isReady = true;
    handler.context.cards.hasGrpc = resolveGrpc(this.#options.grpc) !== undefined;
    this.#handler = handler;
    for (const context of this.#serverContexts)
      if (context.openStreams === 0) this.#serverContexts.delete(context);
    this.#serverContexts.add(handler.context);
    this.#listener = nodeListener(handler, options);
  }

  #createRandom(stream: number): ReturnType<typeof createSeededRandom> {
    return createSeededRandom(this.#scripts.main?.seed ?? this.#options.seed ?? 0, stream);
  }

  #adminTarget(): ConstructorParameters<typeof AdminApi>[0] {
    const { clock } = this;
    const virtual = clock instanceof VirtualClock ? clock : undefined;
    return {
      journal: this.journal,
      startedAt: this.#startedAt,
      rules: () => this.#scripts.list.map(({ file, text, script: { rules } }) => ({ file, text, rules })),
      // No folder: the client chooses the file name and must not gain access to files.
      load: (text, file, mode) => this.#loadScript(text, file, mode, undefined),
      clearRules: () => {
        this.#scripts.clear();
        this.#updateCard();
        this.#createHandler();
      },
      rule: (name) => this.#scripts.rule(name),
      putRule: (name, text, before) => this.#scripts.putRule(name, text, before),
      removeRule: (name) => this.#scripts.removeRule(name),
      reset: () => this.reset(),
      prime: (responses) => this.prime(responses),
      primedCount: () => this.primedCount,
      clock: {
        now: () => clock.now(),
        isVirtual: virtual !== undefined,
        isAuto: () => virtual?.isAuto ?? false,
        advance: (milliseconds) => virtual?.advance(milliseconds) ?? Promise.resolve(),
        setAuto: (isAuto) => {
          if (virtual) virtual.isAuto = isAuto;
        },
      },
    };
  }
}

/** Milliseconds in which open requests may finish on stop. */
const stopTimeout = 100;

function folderOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : dirname(file);
}

function isClock(clock: TestAgentOptions['clock']): clock is TestClock {
  return typeof clock === 'object';
}

function resolveClock(clock: TestAgentOptions['clock']): TestClock {
  if (isClock(clock)) return clock;
  return clock === 'virtual' ? new VirtualClock({ auto: true }) : systemTestClock;
}
