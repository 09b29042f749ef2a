import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Agent } from '../protocol/agent.ts';
import { A2AError } from '../protocol/errors.ts';
import type { ServerContext } from '../server/http/server-context.ts';
import { AgentHttpHandler } from '../server/http/agent-http-handler.ts';
import { listen, type RunningServer } from '../server/node/listen.ts';
import { nodeListener } from '../server/node/serve.ts';
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
import { PortOutage } from './faults/port-outage.ts';
import type { CapturedRequest, JournalEntry, JournalFilter } from './journal/journal-entry.ts';
import { Journal, type JournalWaitOptions } from './journal/journal.ts';
import { failurePlan } from './playback/failure-plan.ts';
import { PrimedResponses, type PrimeOptions } from './agent/primed-responses.ts';
import { createSeededRandom } from './seeded-random.ts';
import { ScriptedAgent } from './agent/scripted-agent.ts';
import { ScriptStack } from './agent/script-stack.ts';
import type { TestAgentOptions } from './test-agent-options.ts';

/**
 * An agent that does what a test says, over every version and transport: the engine, the ledger and the server of this
 * package with a script for a mind.
 *
 * What it does about a message is said, in this order, by directives in the message, by primed responses, by its script;
 * otherwise the task fails and says what is missing.
 *
 * @example
 * ```ts
 * await using agent = await TestAgentServer.start();
 * agent.prime([{ kind: 'task', status: { state: 'completed' } }]);
 * ```
 */
export class TestAgentServer implements AsyncDisposable {
  /** Everything that was asked and answered. */
  readonly journal: Journal;
  readonly clock: TestClock;
  readonly #options: TestAgentOptions;
  readonly #scripts: ScriptStack;
  readonly #queue = new PrimedResponses();
  readonly #directives = new MessageDirectives();
  readonly #door = new RequestInterceptor();
  readonly #draw: FaultSelector;
  readonly #agent: ScriptedAgent;
  readonly #faces = new Set<ServerContext>();
  readonly #startedAt: number;
  #faults: readonly Fault[] = [];
  #card: CardDraft = {};
  #listener: NodeRequestListener = () => {};
  #running: RunningServer | undefined = undefined;
  #refusal: PortOutage | undefined = undefined;
  #isStarting = false;

  /** @throws DocumentError when the script is wrong. */
  constructor(options: TestAgentOptions = {}) {
    this.#options = options;
    this.#scripts = new ScriptStack(options.seed);
    const { scriptFile, script = scriptFile === undefined ? undefined : readFileSync(scriptFile, 'utf8') } =
      options;
    if (script !== undefined)
      this.#scripts.load(script, scriptFile ?? 'script.yaml', 'replace', folderOf(scriptFile));
    this.clock = clockOf(options.clock ?? this.#scripts.main?.clock);
    this.#startedAt = this.clock.now();
    this.journal = new Journal(this.clock, options.journal);
    this.#draw = new FaultSelector(this.#random(0));
    this.#describe();
    this.#agent = new ScriptedAgent({
      card: () => this.#card,
      clock: this.clock,
      journal: this.journal,
      ledger: options.taskStore,
      newId: options.generateId,
      hideInitialTask: options.streamStart === 'played',
      drawFaults: (plan) => this.#draw.select([...plan.faults, ...this.#faults]),
      decide: (incoming, ids) =>
        this.#directives.decide(incoming, ids) ??
        this.#queue.decide(incoming) ??
        (this.#scripts.isPresent ? this.#scripts.decide(incoming) : failurePlan(missingDirectives)),
    });
  }

  /** Makes a test agent and starts it. */
  static start(options: TestAgentOptions = {}): Promise<TestAgentServer> {
    return new TestAgentServer(options).start();
  }

  /** Starts to listen. */
  async start(): Promise<this> {
    if (this.#running ?? this.#isStarting)
      throw new A2AError('UNSUPPORTED_OPERATION', 'It has been started already');
    this.#isStarting = true;
    const { port, host, limits, heartbeat, basePath = '', admin = true, allowAdminFrom = [] } = this.#options;
    this.#show();
    const edge = createHttpPipeline((request, response) => this.#listener(request, response), {
      journal: this.journal,
      door: this.#door,
      basePath: basePath.replace(/\/+$/, ''),
      admin: admin ? new AdminApi(this.#administered(), allowAdminFrom).listener : undefined,
      faultsAt: (path) =>
        path.includes('/.well-known/')
          ? this.#draw.select([...this.#scripts.cardFaults, ...this.#faults], 'card')
          : [],
      tools: {
        clock: this.clock,
        random: this.#random(1),
        refuse: (milliseconds) => this.#refusal?.begin(milliseconds),
      },
    });
    try {
      this.#running = await listen(
        { listener: edge, contexts: () => this.#faces, metrics: undefined },
        { port, host, limits, heartbeat },
      );
      this.#refusal = new PortOutage(this.#running.server, this.clock);
      await this.#agent.ready();
    } finally {
      this.#isStarting = false;
    }
    return this;
  }

  /** Stops: whatever is under way ends, and nothing is left open. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    this.#refusal?.forget();
    const stopping = running?.stop(patience);
    await this.#agent.close();
    await stopping;
    this.journal.close();
    if (this.clock instanceof VirtualClock && !isClock(this.#options.clock)) this.clock.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Where it is, such as `http://127.0.0.1:4000`, without the base path. */
  get url(): string {
    if (this.#running) return this.#running.url;
    throw new A2AError('UNSUPPORTED_OPERATION', 'It is not running: call start() first');
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Where the agent takes calls: the URL with the base path. */
  get endpoint(): string {
    return `${this.url}${(this.#options.basePath ?? '').replace(/\/+$/, '')}`;
  }

  get cardUrl(): string {
    return `${this.url}/.well-known/agent-card.json`;
  }

  get adminUrl(): string {
    return `${this.url}/__admin`;
  }

  /** The agent itself, for whoever wants to ask it without HTTP. Such calls are not in the journal. */
  get agent(): Agent {
    return this.#agent;
  }

  /** The scripts in force, in the order in which they are asked. */
  get scripts(): ScriptStack['list'] {
    return this.#scripts.list;
  }

  /**
   * Plays events to the next messages: each takes those up to the first that ends or interrupts its task.
   *
   * @throws A2AError `INVALID_PARAMS` that names the index and the field.
   */
  prime(responses: unknown, options?: PrimeOptions): void {
    this.#queue.prime(responses, options);
  }

  /** How many primed events wait. */
  get primed(): number {
    return this.#queue.size;
  }

  /**
   * Replaces the script, or puts one before it.
   *
   * @throws DocumentError when it is wrong; then the rules before stay in force.
   */
  load(text: string, file?: string, mode: 'replace' | 'add' = 'replace'): void {
    this.#load(text, file, mode, folderOf(file));
  }

  #load(text: string, file = 'script.yaml', mode: 'replace' | 'add', folder: string | undefined): void {
    this.#scripts.load(text, file, mode, folder);
    this.#describe();
    if (this.#faces.size > 0) this.#show();
  }

  /** Demands credentials of every request but those for the card; undefined for none. */
  requireAuth(validation: AuthValidation | undefined): void {
    this.#door.requireAuth(validation);
  }

  /** Answers the next request with an error, once. */
  injectHttpError(error: InjectedHttpError): void {
    this.#door.enqueueError(error);
  }

  /** Sets what goes wrong with every answer, whatever is played. */
  injectFaults(faults: readonly Fault[]): void {
    this.#faults = faults;
  }

  /** The requests that brought a message to the agent, oldest first. */
  get receivedMessages(): JournalEntry[] {
    return this.journal.entries({ where: ({ call }) => call?.message !== undefined });
  }

  /** The newest request to the agent, whoever answered it; requests for the card do not count. */
  get lastRequest(): CapturedRequest | undefined {
    return this.journal.last({ where: ({ request }) => !request.path.includes('/.well-known/') })?.request;
  }

  /** The requests to cancel a task. */
  get cancelRequests(): JournalEntry[] {
    return this.journal.entries({ operation: 'cancelTask' });
  }

  /** The ids of the tasks that somebody asked to cancel. */
  get canceledTaskIds(): string[] {
    return this.cancelRequests.flatMap(({ call }) => call?.taskId ?? []);
  }

  /** What was asked, oldest first. */
  requests(filter?: JournalFilter): CapturedRequest[] {
    return this.journal.requests(filter);
  }

  /** Waits for requests. */
  waitFor(filter?: JournalFilter, options?: JournalWaitOptions): Promise<JournalEntry[]> {
    return this.journal.waitFor(filter, options);
  }

  /** Forgets the primed responses that wait. */
  clearPrimed(): void {
    this.#queue.reset();
  }

  /** Forgets what was captured. */
  clearRequests(): void {
    this.journal.clear();
  }

  /** Lets everybody in. */
  clearAuthValidation(): void {
    this.#door.requireAuth(undefined);
  }

  /** Forgets the errors that wait. */
  clearHttpErrors(): void {
    this.#door.clearErrors();
  }

  /** Forgets everything but the scripts: captures, queues, errors, test cases, conversations, counters. */
  reset(): void {
    this.journal.clear();
    this.#queue.reset();
    this.#directives.reset();
    this.#door.reset();
    this.#draw.reset();
    this.#scripts.reset();
    this.#agent.reset();
    this.#faults = [];
  }

  /** Says anew who the agent is. */
  #describe(): void {
    this.#card = { ...this.#scripts.main?.card, ...this.#options.card };
  }

  /** Shows the agent anew: who is let in may have changed. Streams that are open go on. */
  #show(): void {
    const {
      basePath,
      publicUrl,
      limits,
      lenientVersion,
      onlyVersion: speaks,
      heartbeat,
      auth,
      onTraffic: onWire,
    } = this.#options;
    const options: ServerOptions = {
      basePath,
      publicUrl,
      limits,
      lenientVersion,
      onlyVersion: speaks,
      heartbeat,
      onTraffic: onWire,
      auth: auth ?? this.#scripts.main?.auth,
      // A card may change with the next script.
      cardMaxAge: 0,
      tracing: false,
    };
    const httpFace = new AgentHttpHandler(this.#agent, options);
    httpFace.isReady = true;
    for (const face of this.#faces) if (face.openStreams === 0) this.#faces.delete(face);
    this.#faces.add(httpFace.context);
    this.#listener = nodeListener(httpFace, options);
  }

  #random(stream: number): ReturnType<typeof createSeededRandom> {
    return createSeededRandom(this.#scripts.main?.seed ?? this.#options.seed ?? 0, stream);
  }

  #administered(): ConstructorParameters<typeof AdminApi>[0] {
    const { clock } = this;
    const virtual = clock instanceof VirtualClock ? clock : undefined;
    return {
      journal: this.journal,
      startedAt: this.#startedAt,
      rules: () => this.#scripts.list.map(({ file, text, script: { rules } }) => ({ file, text, rules })),
      // Whoever sends a script chooses its name, so no folder goes with it.
      load: (text, file, mode) => this.#load(text, file, mode, undefined),
      clearRules: () => {
        this.#scripts.clear();
        this.#describe();
        this.#show();
      },
      rule: (name) => this.#scripts.rule(name),
      putRule: (name, text, before) => this.#scripts.putRule(name, text, before),
      removeRule: (name) => this.#scripts.removeRule(name),
      reset: () => this.reset(),
      prime: (responses) => this.prime(responses),
      primed: () => this.primed,
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

/** For how many milliseconds requests may finish when it stops. */
const patience = 100;

function folderOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : dirname(file);
}

function isClock(clock: TestAgentOptions['clock']): clock is TestClock {
  return typeof clock === 'object';
}

function clockOf(clock: TestAgentOptions['clock']): TestClock {
  if (isClock(clock)) return clock;
  return clock === 'virtual' ? new VirtualClock({ auto: true }) : systemTestClock;
}
