import type { Check } from './check.ts';
import { InconclusiveError } from './check-errors.ts';
import type { CheckedVariant } from './conformance-level.ts';
import { CrashMonitor } from './crash-monitor.ts';
import { cardLocations, findCards } from './discovery/find-cards.ts';
import { createDriver, type PublishedCard } from './discovery/card-variants.ts';
import type { DiscoveryOptions } from './discovery/discovery-options.ts';
import { type AgentVariants, findVariants } from './discovery/find-variants.ts';
import { executeCheck, type ScheduledCheck } from './execute-check.ts';
import { InvariantMonitor } from './observation/invariant-monitor.ts';
import type { RequirementLevel, RuleResult, CheckedTransport, CheckedVersion } from './rule-model.ts';
import { type Advise, adviseForCommand } from './prompts/missing-input.ts';
import { findUnmetPrecondition } from './preconditions.ts';
import { isRuleSelected } from './rule-selection.ts';
import { Probe } from './probe.ts';
import type { ProbeContext } from './probe-context.ts';
import { cardExamples, ExampleResponses, skillIds } from './prompts/example-responses.ts';
import { PromptCatalog, type OutcomePrompts } from './prompts/prompt-catalog.ts';
import { TaskTracker } from './observation/task-tracker.ts';
import type { Invariant } from './observation/observation.ts';
import type { ProtocolDriver } from './drivers/protocol-driver.ts';
import type { JsonObject } from '../primitives/json.ts';
import { RawHttpClient } from './wire/raw-http-client.ts';
import { WebhookAccess } from './webhook-access.ts';
import { WebhookReceiver } from './wire/webhook-receiver.ts';

/** Options of {@link runChecks}. */
export interface RunChecksOptions extends DiscoveryOptions {
  readonly checks: readonly Check[];
  readonly invariants: readonly Invariant[];
  /** Milliseconds for one task. @defaultValue 60,000 */
  readonly timeout?: number;
  /** Milliseconds to wait for the restart of an agent whose process ended. @defaultValue 5,000 */
  readonly restartTimeout?: number;
  /** Sent with every request, for credentials. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Credentials of another user, for checks of isolation. */
  readonly otherUserHeaders?: Readonly<Record<string, string>>;
  /** Credentials of a user that the agent knows and that may not send messages. */
  readonly restrictedUserHeaders?: Readonly<Record<string, string>>;
  /** Prompts for target outcomes. */
  readonly prompts?: OutcomePrompts;
  readonly versions?: readonly CheckedVersion[];
  readonly transports?: readonly CheckedTransport[];
  /** Ids, sections, prefixes of them, or requirements. */
  readonly only?: readonly string[];
  /** Weakest level of the rules to run. @defaultValue `MAY` */
  readonly level?: RequirementLevel;
  /** Ids of the skills whose examples are sent, up to 20 over each variant. @defaultValue all */
  readonly skills?: readonly string[];
  /** Maximum number of messages sent by the run. @defaultValue 2,000 */
  readonly maxMessages?: number;
  /** Base URL under which the agent reaches the webhook receiver. */
  readonly webhookUrl?: string;
  /** Port of the webhook receiver. @defaultValue the port in `webhookUrl`, or a free port */
  readonly webhookPort?: number;
  /** Accepts invalid TLS certificates. @defaultValue false */
  readonly insecure?: boolean;
  /** Milliseconds for the whole run; the remaining checks are inconclusive. @defaultValue 600,000 */
  readonly maxTime?: number;
  /**
   * Sends the examples of the skills over every variant before the first check: for agents with a slow first response, and
   * to learn the outcomes of the examples.
   */
  readonly warmUp?: boolean;
  /** Words the advice in results and warnings. @defaultValue the options of `dragoman conformance` */
  readonly advise?: Advise;
  /** Aborts the run; the remaining checks are inconclusive. */
  readonly signal?: AbortSignal;
  /** Called with the ID of each task that a message of the run created or continued, possibly several times. */
  readonly onTask?: (id: string) => void;
  /** Called when a check starts. */
  readonly onCheck?: (check: Check, variant: CheckedVariant) => void;
  readonly onProgress?: (done: number, total: number, last: RuleResult | undefined) => void;
}

/** Result of {@link runChecks}. */
export interface RunChecksOutcome {
  /** URL of the agent; for a tested client its command. */
  readonly url: string;
  /** The tested client, if the run did not test an agent. */
  readonly client?: { readonly name: string; readonly command: string };
  /** Cards that were found, the newest version first. */
  readonly cards: readonly PublishedCard[];
  readonly variants: readonly { version: CheckedVersion; transport: CheckedTransport; url: string }[];
  readonly results: readonly RuleResult[];
  /** Conditions that limit the value of the results. */
  readonly warnings: readonly string[];
  /** Reason why no check could run. */
  readonly unreachable: string | undefined;
  readonly messages: number;
  readonly requests: number;
  readonly milliseconds: number;
  readonly startedAt: string;
}

/** Maximum number of concurrent checks, over all variants. */
const maxConcurrentChecks = 8;

/** Thrown if a skill is named that no card of the agent has. */
export class UnknownSkillError extends Error {
  /** The ids of the skills that the agent has. */
  readonly known: readonly string[];

  constructor(unknown: string, known: readonly string[]) {
    super(`Unknown skill: ${unknown}`);
    this.known = known;
  }
}

/**
 * Runs checks against an agent. An unreachable agent is an outcome as well.
 *
 * @throws UnknownSkillError if the options name a skill that the agent does not have.
 */
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
  readonly #crashMonitor: CrashMonitor;
  readonly #results: RuleResult[] = [];
  readonly #webhookWarnings = new Set<string>();
  readonly #startedAt = new Date();
  readonly #endsAt: number;
  #sentMessages = 0;
  #total = 0;

  constructor(url: string, options: RunChecksOptions) {
    this.#url = url;
    this.#options = options;
    this.#timeout = options.timeout ?? 60_000;
    this.#endsAt = performance.now() + (options.maxTime ?? 600_000);
    const insecure = options.insecure ?? false;
    this.#http = new RawHttpClient({ deadline: Math.min(this.#timeout, 30_000), insecure });
    this.#receiver = new WebhookReceiver(options.webhookUrl, options.webhookPort);
    this.#monitor = new InvariantMonitor(options.invariants.filter((each) => isRuleSelected(each, options)));
    this.#crashMonitor = new CrashMonitor(options.restartTimeout ?? 5_000);
  }

  async run(): Promise<RunChecksOutcome> {
    const { headers = {} } = this.#options;
    try {
      const cards = await findCards(this.#http, this.#url, headers, this.#options);
      if (cards.length === 0 && this.#http.firstExchange?.status === 0)
        return this.#buildOutcome({ cards, selected: [] }, this.#unreachableReason());
      this.#checkSkills(cards);
      const agent = await findVariants(this.#http, this.#url, cards, headers, this.#options);
      if (agent.selected.length === 0 && agent.served.length > 0)
        return this.#buildOutcome(
          agent,
          'The agent has no interface of the selected versions and transports.',
        );
      await this.#testVariants(agent);
      return this.#buildOutcome(agent, undefined);
    } finally {
      this.#receiver.close();
      this.#http.close();
    }
  }

  /** @throws UnknownSkillError */
  #checkSkills(cards: readonly PublishedCard[]): void {
    const known = [...new Set(cards.flatMap(({ card }) => skillIds(card)))];
    const unknown = this.#options.skills?.find((id) => !known.includes(id));
    if (cards.length > 0 && unknown !== undefined) throw new UnknownSkillError(unknown, known);
  }

  async #testVariants(agent: AgentVariants): Promise<void> {
    const { cards, served, selected } = agent;
    const checks = this.#options.checks.filter((each) => isRuleSelected(each, this.#options));
    const contexts = selected.map((variant) => {
      // Rules of several transports compare the selected ones with all others.
      const siblings = served.filter(
        ({ version, transport }) => version === variant.version && transport !== variant.transport,
      );
      return this.#createContext(variant, cards, siblings);
    });
    if (this.#options.warmUp) await Promise.all(contexts.map((each) => this.#warmUp(each)));
    const scheduled = contexts.flatMap((context) =>
      checks
        .filter((each) => appliesTo(each, context.driver, selected))
        .map((check): ScheduledCheck => ({ check, context })),
    );
    await this.#runAll(selected.length > 0 ? scheduled : this.#cardChecks(checks, cards));
    for (const context of contexts) {
      const rejection = await context.webhookAccess.warning(context.advise);
      if (rejection !== undefined) this.#webhookWarnings.add(rejection);
      const results = this.#monitor.results(
        context.driver,
        ({ preconditions = [] }) => findUnmetPrecondition(preconditions, context, this.#options),
        context.advise,
      );
      this.#results.push(...results);
    }
  }

  /** Returns the checks about the card of an agent at whose URL no endpoint responds. */
  #cardChecks(checks: readonly Check[], cards: readonly PublishedCard[]): ScheduledCheck[] {
    const version = cards[0]?.version ?? '1.0';
    const context = this.#createContext(createDriver(version, 'JSONRPC', this.#url), cards, []);
    return checks
      .filter(({ about, versions }) => about === 'card' && versions.includes(version))
      .map((check) => ({ check, context }));
  }

  #unreachableReason(): string {
    const { firstExchange } = this.#http;
    return `No response from ${this.#url} (${firstExchange?.transportError ?? firstExchange?.end ?? 'no response'}).`;
  }

  #createContext(
    driver: ProtocolDriver,
    cards: readonly PublishedCard[],
    siblings: readonly ProtocolDriver[],
  ): ProbeContext {
    const published = cards.find(({ version }) => version === driver.version) ?? cards[0];
    const card: JsonObject = published?.card ?? {};
    const examples = cardExamples(card, this.#options.skills);
    return {
      http: this.#http,
      driver,
      headers: this.#options.headers ?? {},
      ...(this.#options.otherUserHeaders ? { otherUserHeaders: this.#options.otherUserHeaders } : {}),
      ...(this.#options.restrictedUserHeaders
        ? { restrictedUserHeaders: this.#options.restrictedUserHeaders }
        : {}),
      card,
      hasCard: published !== undefined,
      cardUrl: published?.url ?? cardLocations(this.#url).at(driver.version === '0.1' ? -1 : 0) ?? this.#url,
      cardVersion: published?.version ?? driver.version,
      prompts: PromptCatalog.create(this.#options.prompts ?? {}, examples),
      examples: new ExampleResponses(examples),
      crashMonitor: this.#crashMonitor,
      webhookAccess: new WebhookAccess(),
      taskTracker: new TaskTracker(),
      receiver: this.#receiver,
      siblings,
      advise: this.#options.advise ?? adviseForCommand,
      deadline: this.#timeout,
      countMessage: () => this.#countMessage(),
      observe: (observation) => this.#monitor.observe(observation),
      ...(this.#options.onTask ? { onTask: this.#options.onTask } : {}),
    };
  }

  /** Sends the examples of the skills, or another message if there are none. Errors are results of the checks. */
  async #warmUp(context: ProbeContext): Promise<void> {
    const probe = new Probe(context);
    try {
      const responses = await context.examples.load(probe);
      if (responses.length === 0) await probe.call('send', { message: context.prompts.anyPrompt() });
    } catch (error) {
      if (!(error instanceof InconclusiveError)) throw error;
    }
  }

  /**
   * Runs the checks of all variants in one queue, so that slow checks of one variant do not delay the next. Checks that a
   * crash of the agent interrupted are repeated one by one.
   */
  async #runAll(scheduled: readonly ScheduledCheck[]): Promise<void> {
    this.#total = scheduled.length;
    const concurrent = scheduled.filter(({ check }) => !check.runsExclusively);
    const interrupted: ScheduledCheck[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let each = concurrent[next++]; each; each = concurrent[next++]) {
        const { crashCount } = this.#crashMonitor;
        const result = await this.#runCheck(each);
        if (this.#crashMonitor.crashCount > crashCount) interrupted.push(each);
        else this.#addResult(result);
      }
    };
    await Promise.all(Array.from({ length: maxConcurrentChecks }, work));
    this.#crashMonitor.isSerial = true;
    const exclusive = scheduled.filter(({ check }) => check.runsExclusively);
    for (const each of [...interrupted, ...exclusive]) this.#addResult(await this.#runCheck(each));
  }

  #runCheck(scheduled: ScheduledCheck): Promise<RuleResult> {
    const { version, transport } = scheduled.context.driver;
    this.#options.onCheck?.(scheduled.check, { version, transport });
    return executeCheck(scheduled, this.#options, this.#endsAt - performance.now());
  }

  #addResult(result: RuleResult): void {
    this.#results.push(result);
    this.#options.onProgress?.(this.#results.length, this.#total, result);
  }

  #countMessage(): void {
    if (++this.#sentMessages > (this.#options.maxMessages ?? 2_000))
      throw new InconclusiveError('The message limit of the run was reached.', { kind: 'max-messages' });
  }

  #buildOutcome(
    {
      cards,
      selected,
      isGuessed = false,
    }: Pick<AgentVariants, 'cards' | 'selected'> & Partial<AgentVariants>,
    unreachable: string | undefined,
  ): RunChecksOutcome {
    return {
      url: this.#url,
      cards,
      variants: selected.map(({ version, transport, url }) => ({ version, transport, url })),
      results: this.#results,
      warnings: unreachable === undefined ? this.#warnings(selected, isGuessed) : [],
      unreachable,
      messages: this.#sentMessages,
      requests: this.#http.requestCount,
      milliseconds: Date.now() - this.#startedAt.getTime(),
      startedAt: this.#startedAt.toISOString(),
    };
  }

  /** Returns the conditions that make a report without violations meaningless. */
  #warnings(variants: readonly ProtocolDriver[], isGuessed: boolean): string[] {
    const warnings = [...this.#webhookWarnings];
    const { requestCount, authRejections } = this.#http;
    const { advise = adviseForCommand } = this.#options;
    const { crashCount } = this.#crashMonitor;
    if (crashCount > 0)
      warnings.push(
        `The process of the agent ended ${crashCount === 1 ? 'once' : `${crashCount} times`} during the run.`,
      );
    if (isGuessed)
      warnings.push(
        variants.length > 0
          ? `No card declares an interface. The test used the interfaces that respond at ${this.#url}.`
          : `No card declares an interface, and none responds at ${this.#url}. Only the card was tested.`,
      );
    if (authRejections * 2 > requestCount)
      warnings.push(
        `${authRejections} of ${requestCount} requests were rejected with 401 or 403 (or the matching status of gRPC). ${advise({ kind: 'credentials' })}`,
      );
    for (const { version, transport } of variants) {
      const results = this.#results.filter(
        (each) => each.version === version && each.transport === transport,
      );
      if (
        results.length > 0 &&
        !results.some(({ verdict, rule }) => verdict === 'pass' && rule.category === 'lifecycle')
      )
        warnings.push(`No task could be observed over ${version} ${transport}.`);
    }
    return warnings;
  }
}

/** A check about the card runs once for each version, for its first variant. */
function appliesTo(check: Check, variant: ProtocolDriver, variants: readonly ProtocolDriver[]): boolean {
  if (!check.versions.includes(variant.version)) return false;
  if (check.about === 'card') return variants.find(({ version }) => version === variant.version) === variant;
  return check.transports?.includes(variant.transport) ?? true;
}
