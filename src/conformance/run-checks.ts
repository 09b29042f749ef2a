import type { Check, Precondition } from './check.ts';
import { buildRuleResult, InvariantMonitor } from './observation/invariant-monitor.ts';
import { findCards } from './discovery/find-cards.ts';
import { cardVariants, type PublishedCard, createDriver } from './discovery/card-variants.ts';
import type {
  RequirementLevel,
  RuleResult,
  CheckedTransport,
  RuleVerdict,
  CheckedVersion,
} from './rule-model.ts';
import { RuleViolationError, InconclusiveError, NotApplicableError } from './check-errors.ts';
import { Probe, type ProbeContext, verdictForLevel } from './probe.ts';
import { cardExamples, PromptCatalog, type OutcomePrompts } from './prompts/prompt-catalog.ts';
import { TaskTracker } from './observation/task-tracker.ts';
import type { Invariant } from './observation/observation.ts';
import type { ProtocolDriver } from './drivers/protocol-driver.ts';
import { isJsonObject, type JsonObject, asList, asText } from './drivers/normalized-views.ts';
import { type HttpExchange, toEvidence } from './wire/http-exchange.ts';
import { RawHttpClient } from './wire/raw-http-client.ts';
import { WebhookReceiver } from './wire/webhook-receiver.ts';

/** How a run is made. */
export interface RunChecksOptions {
  readonly checks: readonly Check[];
  readonly invariants: readonly Invariant[];
  /** Milliseconds for one task. @defaultValue 60,000 */
  readonly timeout?: number;
  /** Sent with every request: credentials. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The credentials of somebody else, for checks of isolation. */
  readonly otherUserHeaders?: Readonly<Record<string, string>>;
  /** The credentials of somebody who is known to the agent and may not send messages. */
  readonly restrictedUserHeaders?: Readonly<Record<string, string>>;
  /** Messages that lead to states. */
  readonly prompts?: OutcomePrompts;
  readonly versions?: readonly CheckedVersion[];
  readonly transports?: readonly CheckedTransport[];
  /** Ids, sections or beginnings of them. */
  readonly only?: readonly string[];
  /** The weakest level that is looked at. @defaultValue `MAY` */
  readonly level?: RequirementLevel;
  /** Only these skills' examples are used. */
  readonly skills?: readonly string[];
  /** How many messages may be sent in all. @defaultValue 2,000 */
  readonly maxMessages?: number;
  /** How the agent reaches our webhooks. */
  readonly webhookUrl?: string;
  /** Where we listen for them. @defaultValue the port in `webhookUrl`, or any that is free */
  readonly webhookPort?: number;
  readonly insecure?: boolean;
  /** Milliseconds for everything; what is left then stays open. @defaultValue ten minutes */
  readonly maxTime?: number;
  /** Sends a message on every lane before anything counts, for agents that are slow at first. */
  readonly warmUp?: boolean;
  /** Stops the run: what is left stays open. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number, last: RuleResult | undefined) => void;
}

/** What a run found. */
export interface RunChecksOutcome {
  readonly url: string;
  /** The cards that were found, the one of the newest version first. */
  readonly cards: readonly PublishedCard[];
  readonly variants: readonly { version: CheckedVersion; transport: CheckedTransport; url: string }[];
  readonly results: readonly RuleResult[];
  /** What makes the results worth less than they look. */
  readonly warnings: readonly string[];
  /** Why there is no verdict at all. */
  readonly unreachable: string | undefined;
  readonly messages: number;
  readonly requests: number;
  readonly milliseconds: number;
  readonly began: string;
}

/** A check that is run on a lane. */
interface ScheduledCheck {
  readonly check: Check;
  readonly context: ProbeContext;
}

/** How many checks are under way at once, on all lanes together. */
const width = 8;

/** Runs every check against an agent. Never rejects: an agent that cannot be reached is an outcome too. */
export async function runChecks(url: string, options: RunChecksOptions): Promise<RunChecksOutcome> {
  return new CheckRun(url, options).run();
}

class CheckRun {
  readonly #url: string;
  readonly #options: RunChecksOptions;
  readonly #timeout: number;
  readonly #http: RawHttpClient;
  readonly #receiver: WebhookReceiver;
  readonly #monitor: InvariantMonitor;
  readonly #results: RuleResult[] = [];
  readonly #began = new Date();
  readonly #ends: number;
  #messages = 0;
  #total = 0;

  constructor(url: string, options: RunChecksOptions) {
    this.#url = url;
    this.#options = options;
    this.#timeout = options.timeout ?? 60_000;
    this.#ends = performance.now() + (options.maxTime ?? 600_000);
    const insecure = options.insecure ?? false;
    this.#http = new RawHttpClient({ deadline: Math.min(this.#timeout, 30_000), insecure });
    this.#receiver = new WebhookReceiver(options.webhookUrl, options.webhookPort);
    this.#monitor = new InvariantMonitor(options.invariants.filter((each) => this.#isWanted(each)));
  }

  async run(): Promise<RunChecksOutcome> {
    try {
      const cards = await findCards(this.#http, this.#url, this.#options.headers ?? {});
      const variants = await this.#lanes(cards);
      if (variants.length === 0) return this.#outcome(cards, [], await this.#unreachable(cards));
      const byVersion = groupBy(variants, ({ version }) => version);
      const checks = this.#options.checks.filter((each) => this.#isWanted(each));
      const scheduled: ScheduledCheck[] = [];
      for (const variant of variants) {
        const context = this.#toolsFor(variant, cards, byVersion.get(variant.version) ?? []);
        if (this.#options.warmUp) await this.#warmUp(context);
        scheduled.push(
          ...checks.filter((each) => isFor(each, variant, variants)).map((check) => ({ check, context })),
        );
      }
      this.#total = scheduled.length;
      await this.#runAll(scheduled);
      this.#results.push(...this.#monitor.results(variants));
      return this.#outcome(cards, variants, undefined);
    } finally {
      this.#receiver.close();
      this.#http.close();
    }
  }

  async #lanes(cards: readonly PublishedCard[]): Promise<ProtocolDriver[]> {
    const { versions, transports } = this.#options;
    const variants: ProtocolDriver[] = [];
    for (const published of cards) {
      for (const variant of cardVariants(published)) {
        if (versions && !versions.includes(variant.version)) continue;
        if (transports && !transports.includes(variant.transport)) continue;
        if (
          !variants.some((each) => each.version === variant.version && each.transport === variant.transport)
        )
          variants.push(variant);
      }
    }
    // Whoever names a version wants it tried, whatever the card says.
    for (const version of versions ?? []) {
      if (variants.some((variant) => variant.version === version)) continue;
      const at = asText(cards[0]?.card.url) ?? this.#url;
      variants.push(createDriver(version, transports?.[0] ?? 'JSONRPC', at));
    }
    return variants;
  }

  async #unreachable(cards: readonly PublishedCard[]): Promise<string> {
    if (cards.length > 0) return 'The card names no JSON-RPC or REST interface that could be tried.';
    const { firstExchange } = this.#http;
    const seen =
      firstExchange && firstExchange.status > 0
        ? `HTTP ${firstExchange.status}`
        : (firstExchange?.transportError ?? 'no answer');
    return `There is no agent card at ${this.#url} (${seen}).`;
  }

  #toolsFor(
    driver: ProtocolDriver,
    cards: readonly PublishedCard[],
    siblings: readonly ProtocolDriver[],
  ): ProbeContext {
    const published = cards.find(({ version }) => version === driver.version) ?? cards[0];
    const card: JsonObject = published?.card ?? {};
    return {
      http: this.#http,
      driver,
      headers: this.#options.headers ?? {},
      ...(this.#options.otherUserHeaders ? { otherUserHeaders: this.#options.otherUserHeaders } : {}),
      ...(this.#options.restrictedUserHeaders
        ? { restrictedUserHeaders: this.#options.restrictedUserHeaders }
        : {}),
      card,
      cardUrl: published?.url ?? this.#url,
      prompts: new PromptCatalog(this.#options.prompts ?? {}, cardExamples(card, this.#options.skills)),
      taskTracker: new TaskTracker(),
      receiver: this.#receiver,
      siblings: siblings.filter((each) => each !== driver),
      deadline: this.#timeout,
      countMessage: () => this.#spend(),
      observe: (observation) => this.#monitor.observe(observation),
    };
  }

  /** Lane after lane, but no lane waits for the slow checks of the one before: most of their time is the agent's. */
  async #runAll(scheduled: readonly ScheduledCheck[]): Promise<void> {
    const together = scheduled.filter(({ check }) => !check.runsExclusively);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let each = together[next++]; each; each = together[next++]) await this.#try(each);
    };
    await Promise.all(Array.from({ length: width }, work));
    for (const each of scheduled.filter(({ check }) => check.runsExclusively)) await this.#try(each);
  }

  /** Says something that the agent says it understands, and notes where that leads. */
  async #warmUp({ driver, prompts: reach, headers, http }: ProbeContext): Promise<void> {
    const draft = reach.anyPrompt();
    const request = driver.encode('send', { message: draft });
    if (!request) return;
    this.#spend();
    const exchange = await http.send({ ...request, headers: { ...headers, ...request.headers } });
    const { result } = driver.decode(exchange);
    const { messageId: _fresh, ...way } = draft;
    const task = driver.decodeTask(result);
    if (driver.decodeMessage(result)) reach.learn('message', way);
    if (task?.state === 'completed' && (task.artifacts ?? []).length > 0) reach.learn('artifact', way);
    if (task?.state === 'input-required') reach.learn('input-required', way);
  }

  async #try({ check, context }: ScheduledCheck): Promise<void> {
    const probe = new Probe(context);
    const began = performance.now();
    const { version, transport } = context.driver;
    const where = { version, transport: check.about === 'card' ? undefined : transport };
    const told = (verdict: RuleVerdict, message: string, error?: RuleViolationError): RuleResult => {
      const broken = [
        ...(error ? [{ message: error.message, evidence: error.evidence }] : []),
        ...probe.warnings,
      ];
      const violations = broken.map(({ message: text, evidence }) => ({
        message: text,
        ...(evidence.expected === undefined ? {} : { expected: evidence.expected }),
        ...(evidence.actual === undefined ? {} : { actual: evidence.actual }),
        exchanges: (evidence.exchanges ?? lastOf(probe.exchanges)).map(toEvidence),
      }));
      const milliseconds = performance.now() - began;
      return buildRuleResult(check, where, { verdict, message, violations, milliseconds });
    };
    let result: RuleResult;
    try {
      const missing = missingNeed(check.preconditions ?? [], probe, this.#options);
      if (missing) throw missing;
      const left = this.#ends - performance.now();
      if (left <= 0) throw new InconclusiveError('The time for the whole run was over; raise --max-time.');
      await withDeadline(() => check.run(probe), Math.min(this.#timeout * 2, left), this.#options.signal);
      const first = probe.warnings[0];
      result = first ? told(verdictForLevel(check.level), first.message) : told('pass', '');
    } catch (error) {
      if (error instanceof NotApplicableError) result = told('not-applicable', error.message);
      else if (error instanceof InconclusiveError) result = told('inconclusive', error.message);
      else if (error instanceof RuleViolationError)
        result = told(verdictForLevel(check.level), error.message, error);
      else result = told('error', `The suite itself failed: ${(error as Error).stack ?? String(error)}`);
    }
    this.#results.push(result);
    this.#options.onProgress?.(this.#results.length, this.#total, result);
  }

  #spend(): void {
    if (++this.#messages > (this.#options.maxMessages ?? 2_000))
      throw new InconclusiveError('The limit on messages was reached; raise it with --max-messages.');
  }

  #isWanted({ id, section, level, requirements }: Check | Invariant): boolean {
    const { only, level: weakest = 'MAY' } = this.#options;
    const order: RequirementLevel[] = ['MUST', 'SHOULD', 'MAY'];
    if (order.indexOf(level) > order.indexOf(weakest)) return false;
    if (!only || only.length === 0) return true;
    return only.some(
      (each) =>
        id === each ||
        id.startsWith(`${each}.`) ||
        section === each ||
        section.startsWith(`${each}.`) ||
        requirements.includes(each),
    );
  }

  #outcome(
    cards: readonly PublishedCard[],
    variants: readonly ProtocolDriver[],
    unreachable: string | undefined,
  ): RunChecksOutcome {
    return {
      url: this.#url,
      cards,
      variants: variants.map(({ version, transport, url }) => ({ version, transport, url })),
      results: this.#results,
      warnings: this.#warnings(variants),
      unreachable,
      messages: this.#messages,
      requests: this.#http.requestCount,
      milliseconds: Date.now() - this.#began.getTime(),
      began: this.#began.toISOString(),
    };
  }

  /** What makes a green report meaningless is said first. */
  #warnings(variants: readonly ProtocolDriver[]): string[] {
    const warnings: string[] = [];
    const { requestCount, authRejections } = this.#http;
    if (authRejections * 2 > requestCount)
      warnings.push(
        `${authRejections} of ${requestCount} requests were refused with 401 or 403: give credentials.`,
      );
    for (const { version, transport } of variants) {
      const own = this.#results.filter((each) => each.version === version && each.transport === transport);
      if (
        own.length > 0 &&
        !own.some(({ verdict, rule }) => verdict === 'pass' && rule.category === 'lifecycle')
      )
        warnings.push(`Nothing of the life of a task could be seen on ${version} ${transport}.`);
    }
    return warnings;
  }
}

/** A check about the card runs once for each version, on its first lane. */
function isFor(check: Check, variant: ProtocolDriver, variants: readonly ProtocolDriver[]): boolean {
  if (!check.versions.includes(variant.version)) return false;
  if (check.about === 'card') return variants.find(({ version }) => version === variant.version) === variant;
  return check.transports?.includes(variant.transport) ?? true;
}

function missingNeed(
  needs: readonly Precondition[],
  probe: Probe,
  options: RunChecksOptions,
): Error | undefined {
  const { capabilities, card, driver } = probe;
  const has: Readonly<Record<Precondition, boolean>> = {
    streaming: capabilities.streaming === true,
    'no-streaming': capabilities.streaming !== true,
    push: capabilities.pushNotifications === true,
    'no-push': capabilities.pushNotifications !== true,
    'extended-card':
      capabilities.extendedAgentCard === true || card.supportsAuthenticatedExtendedCard === true,
    'no-extended-card':
      capabilities.extendedAgentCard !== true && card.supportsAuthenticatedExtendedCard !== true,
    security: asksForCredentials(card),
    credentials: Object.keys(options.headers ?? {}).length > 0,
    'second-identity': options.otherUserHeaders !== undefined,
    'limited-identity': options.restrictedUserHeaders !== undefined,
    signatures: (asList(card.signatures) ?? []).length > 0,
    extensions: (asList(capabilities.extensions) ?? []).length > 0,
    tenant: (asList(card.supportedInterfaces) ?? []).some(
      (each) => isJsonObject(each) && asText(each.tenant),
    ),
  };
  for (const need of needs) {
    if (has[need]) continue;
    const isOpen = !has.security && /^credentials$|-identity$/.test(need);
    if (isOpen) return new NotApplicableError(`The card of ${driver.version} asks for no credentials.`);
    if (need === 'credentials')
      return new InconclusiveError('Give credentials with --header to have this tried.');
    if (need === 'second-identity')
      return new InconclusiveError(
        'Give the credentials of somebody else with --other-header to have this tried.',
      );
    if (need === 'limited-identity')
      return new NotApplicableError(
        'Nobody is named who may not send messages; give the credentials of such a caller with --limited-header to have this tried.',
      );
    return new NotApplicableError(
      `The card of ${driver.version} says that there is ${need.replace('-', ' ')}: no.`,
    );
  }
  return undefined;
}

/** In the words of every version. */
function asksForCredentials({ securityRequirements, security, authentication }: JsonObject): boolean {
  const schemes = isJsonObject(authentication) ? authentication.schemes : undefined;
  return (asList(securityRequirements) ?? asList(security) ?? asList(schemes) ?? []).length > 0;
}

function lastOf(exchanges: readonly HttpExchange[]): HttpExchange[] {
  return exchanges.slice(-3);
}

function groupBy<T, K>(list: readonly T[], keyOf: (each: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const each of list) groups.set(keyOf(each), [...(groups.get(keyOf(each)) ?? []), each]);
  return groups;
}

function withDeadline(
  work: () => Promise<void>,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new InconclusiveError('The run was stopped.'));
    if (signal?.aborted) {
      stop();
      return;
    }
    const timer = setTimeout(
      () =>
        reject(new InconclusiveError(`It took more than ${Math.round(milliseconds)} ms; raise --timeout.`)),
      milliseconds,
    );
    signal?.addEventListener('abort', stop);
    work()
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
      });
  });
}
