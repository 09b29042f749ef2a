import type { Check } from './check.ts';
import { buildRuleResult, InvariantMonitor } from './observation/invariant-monitor.ts';
import { findCards } from './discovery/find-cards.ts';
import { cardVariants, type PublishedCard, createDriver, endpointUrl } from './discovery/card-variants.ts';
import {
  type RequirementLevel,
  type RuleResult,
  type CheckedTransport,
  type RuleVerdict,
  type CheckedVersion,
  verdictForLevel,
} from './rule-model.ts';
import { RuleViolationError, InconclusiveError, NotApplicableError, toViolation } from './check-errors.ts';
import { findUnmetPrecondition } from './preconditions.ts';
import { isRuleSelected } from './rule-selection.ts';
import { Probe } from './probe.ts';
import type { ProbeContext } from './probe-context.ts';
import { cardExamples, PromptCatalog, type OutcomePrompts } from './prompts/prompt-catalog.ts';
import { TaskTracker } from './observation/task-tracker.ts';
import type { Invariant } from './observation/observation.ts';
import type { ProtocolDriver } from './drivers/protocol-driver.ts';
import type { JsonObject } from '../primitives/json.ts';
import { asText } from './drivers/normalized-views.ts';
import { toEvidence } from './wire/http-exchange.ts';
import { RawHttpClient } from './wire/raw-http-client.ts';
import { WebhookReceiver } from './wire/webhook-receiver.ts';

/** Options of {@link runChecks}. */
export interface RunChecksOptions {
  readonly checks: readonly Check[];
  readonly invariants: readonly Invariant[];
  /** Milliseconds for one task. @defaultValue 60,000 */
  readonly timeout?: number;
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
  /** Ids of the skills whose examples are used as prompts. @defaultValue all */
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
  /** Sends a message over every variant before the first check, for agents with a slow first response. */
  readonly warmUp?: boolean;
  /** Aborts the run; the remaining checks are inconclusive. */
  readonly signal?: AbortSignal;
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

/** A check bound to a protocol variant. */
interface ScheduledCheck {
  readonly check: Check;
  readonly context: ProbeContext;
}

/** Maximum number of concurrent checks, over all variants. */
const maxConcurrentChecks = 8;

/** Runs checks against an agent. Never rejects: an unreachable agent is an outcome as well. */
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
  }

  async run(): Promise<RunChecksOutcome> {
    try {
      const cards = await findCards(this.#http, this.#url, this.#options.headers ?? {});
      const variants = this.#selectVariants(cards);
      if (variants.length === 0) return this.#buildOutcome(cards, [], this.#unreachableReason(cards));
      // Rules of several transports compare the selected ones with all others.
      const declared = declaredVariants(cards);
      const checks = this.#options.checks.filter((each) => isRuleSelected(each, this.#options));
      const scheduled: ScheduledCheck[] = [];
      for (const variant of variants) {
        const siblings = declared.filter(
          ({ version, transport }) => version === variant.version && transport !== variant.transport,
        );
        const context = this.#createContext(variant, cards, siblings);
        if (this.#options.warmUp) await this.#warmUp(context);
        scheduled.push(
          ...checks.filter((each) => appliesTo(each, variant, variants)).map((check) => ({ check, context })),
        );
      }
      this.#total = scheduled.length;
      await this.#runAll(scheduled);
      this.#results.push(...this.#monitor.results(variants));
      return this.#buildOutcome(cards, variants, undefined);
    } finally {
      this.#receiver.close();
      this.#http.close();
    }
  }

  #selectVariants(cards: readonly PublishedCard[]): ProtocolDriver[] {
    const { versions, transports } = this.#options;
    const variants = declaredVariants(cards).filter(
      ({ version, transport }) =>
        (versions?.includes(version) ?? true) && (transports?.includes(transport) ?? true),
    );
    // A version that is named explicitly is tested even if the card does not declare it.
    for (const version of versions ?? []) {
      if (variants.some((variant) => variant.version === version)) continue;
      const url = asText(cards[0]?.card.url) ?? this.#url;
      const transport = transports?.[0] ?? 'JSONRPC';
      const endpoint = endpointUrl(transport, url, this.#url);
      if (endpoint !== undefined) variants.push(createDriver(version, transport, endpoint));
    }
    return variants;
  }

  #unreachableReason(cards: readonly PublishedCard[]): string {
    if (cards.length > 0) return 'The card declares no JSON-RPC, REST or gRPC interface.';
    const { firstExchange } = this.#http;
    const observed =
      firstExchange && firstExchange.status > 0
        ? `HTTP ${firstExchange.status}`
        : (firstExchange?.transportError ?? 'no response');
    return `No agent card found at ${this.#url} (${observed}).`;
  }

  #createContext(
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
      cardVersion: published?.version ?? driver.version,
      prompts: new PromptCatalog(this.#options.prompts ?? {}, cardExamples(card, this.#options.skills)),
      taskTracker: new TaskTracker(),
      receiver: this.#receiver,
      siblings,
      deadline: this.#timeout,
      countMessage: () => this.#countMessage(),
      observe: (observation) => this.#monitor.observe(observation),
    };
  }

  /** Runs the checks of all variants in one queue, so that slow checks of one variant do not delay the next. */
  async #runAll(scheduled: readonly ScheduledCheck[]): Promise<void> {
    const concurrent = scheduled.filter(({ check }) => !check.runsExclusively);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let each = concurrent[next++]; each; each = concurrent[next++]) await this.#runCheck(each);
    };
    await Promise.all(Array.from({ length: maxConcurrentChecks }, work));
    for (const each of scheduled.filter(({ check }) => check.runsExclusively)) await this.#runCheck(each);
  }

  /** Sends a message that the agent claims to understand, and learns its outcome. */
  async #warmUp({ driver, prompts, headers, http }: ProbeContext): Promise<void> {
    const draft = prompts.anyPrompt();
    const request = driver.encode('send', { message: draft });
    if (!request) return;
    this.#countMessage();
    const exchange = await http.send({ ...request, headers: { ...headers, ...request.headers } });
    const { result } = driver.decode(exchange);
    const { messageId: _unused, ...prompt } = draft;
    const task = driver.decodeTask(result);
    if (driver.decodeMessage(result)) prompts.learn('message', prompt);
    if (task?.state === 'completed' && (task.artifacts ?? []).length > 0) prompts.learn('artifact', prompt);
    if (task?.state === 'input-required') prompts.learn('input-required', prompt);
  }

  async #runCheck({ check, context }: ScheduledCheck): Promise<void> {
    const probe = new Probe(context);
    const startedAt = performance.now();
    const { version, transport } = context.driver;
    const where = { version, transport: check.about === 'card' ? undefined : transport };
    const buildResult = (verdict: RuleVerdict, message: string, error?: RuleViolationError): RuleResult => {
      const recorded = [
        ...(error ? [{ message: error.message, evidence: error.evidence }] : []),
        ...probe.warnings,
      ];
      const violations = recorded.map(({ message: text, evidence }) => {
        const exchanges = (evidence.exchanges ?? probe.exchanges.slice(-3)).map(toEvidence);
        return toViolation(text, { ...evidence, exchanges });
      });
      const milliseconds = performance.now() - startedAt;
      return buildRuleResult(check, where, { verdict, message, violations, milliseconds });
    };
    let result: RuleResult;
    try {
      if (check.about === 'card' && context.cardVersion !== version)
        throw new NotApplicableError(`The agent publishes no card of ${version}.`);
      const unmet = findUnmetPrecondition(check.preconditions ?? [], probe, this.#options);
      if (unmet) throw unmet;
      const remaining = this.#endsAt - performance.now();
      if (remaining <= 0)
        throw new InconclusiveError('The time limit of the run was exceeded; raise --max-time.');
      await withDeadline(
        () => check.run(probe),
        Math.min(this.#timeout * 2, remaining),
        this.#options.signal,
      );
      const [first] = probe.warnings;
      result = first ? buildResult(verdictForLevel(check.level), first.message) : buildResult('pass', '');
    } catch (error) {
      if (error instanceof NotApplicableError) result = buildResult('not-applicable', error.message);
      else if (error instanceof InconclusiveError) result = buildResult('inconclusive', error.message);
      else if (error instanceof RuleViolationError)
        result = buildResult(verdictForLevel(check.level), error.message, error);
      else
        result = buildResult(
          'error',
          `Internal error of the suite: ${(error as Error).stack ?? String(error)}`,
        );
    }
    this.#results.push(result);
    this.#options.onProgress?.(this.#results.length, this.#total, result);
  }

  #countMessage(): void {
    if (++this.#sentMessages > (this.#options.maxMessages ?? 2_000))
      throw new InconclusiveError('The message limit of the run was reached; raise --max-messages.');
  }

  #buildOutcome(
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
      messages: this.#sentMessages,
      requests: this.#http.requestCount,
      milliseconds: Date.now() - this.#startedAt.getTime(),
      startedAt: this.#startedAt.toISOString(),
    };
  }

  /** Returns the conditions that make a report without violations meaningless. */
  #warnings(variants: readonly ProtocolDriver[]): string[] {
    const warnings: string[] = [];
    const { requestCount, authRejections } = this.#http;
    if (authRejections * 2 > requestCount)
      warnings.push(
        `${authRejections} of ${requestCount} requests were rejected with 401 or 403 (or the matching status of gRPC): pass credentials with --header.`,
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

/** Returns the variants of all cards; several cards may declare the same one. */
function declaredVariants(cards: readonly PublishedCard[]): ProtocolDriver[] {
  const all = cards.flatMap(cardVariants);
  return all.filter(
    ({ version, transport }, index) =>
      all.findIndex((each) => each.version === version && each.transport === transport) === index,
  );
}

/** A check about the card runs once for each version, for its first variant. */
function appliesTo(check: Check, variant: ProtocolDriver, variants: readonly ProtocolDriver[]): boolean {
  if (!check.versions.includes(variant.version)) return false;
  if (check.about === 'card') return variants.find(({ version }) => version === variant.version) === variant;
  return check.transports?.includes(variant.transport) ?? true;
}

function withDeadline(
  work: () => Promise<void>,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new InconclusiveError('The run was aborted.'));
    if (signal?.aborted) {
      abort();
      return;
    }
    const timer = setTimeout(
      () =>
        reject(
          new InconclusiveError(`The check took more than ${Math.round(milliseconds)} ms; raise --timeout.`),
        ),
      milliseconds,
    );
    signal?.addEventListener('abort', abort);
    work()
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      });
  });
}
