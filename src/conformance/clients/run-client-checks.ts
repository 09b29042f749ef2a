import { InconclusiveError, NotApplicableError, RuleViolationError, toViolation } from '../check-errors.ts';
import type { CheckedVariant } from '../conformance-level.ts';
import { InvariantMonitor, buildRuleResult } from '../observation/invariant-monitor.ts';
import {
  type ConformanceRule,
  type RequirementLevel,
  type RuleResult,
  verdictForLevel,
} from '../rule-model.ts';
import { isRuleSelected } from '../rule-selection.ts';
import type { RunChecksOutcome } from '../run-checks.ts';
import type { ClientCheck, ClientInvariant, ClientObservation } from './client-check.ts';
import { ClientProbe, type ClientProbeContext } from './client-probe.ts';
import { messagesOf } from './client-run.ts';
import type { ClientUnderTest } from './client-under-test.ts';
import { clientVariants, detectSupport, type VariantSupport } from './detect-support.ts';

/** Options of {@link runClientChecks}. */
export interface RunClientChecksOptions {
  readonly checks: readonly ClientCheck[];
  readonly invariants: readonly ClientInvariant[];
  /** Milliseconds for one execution of the client. @defaultValue 15,000 */
  readonly timeout?: number;
  /** Milliseconds for the whole run; the remaining checks are inconclusive. @defaultValue 900,000 */
  readonly maxTime?: number;
  /** Executions at the same time. @defaultValue 4 */
  readonly concurrency?: number;
  /** Variants to test. @defaultValue all that the client offers */
  readonly variants?: readonly CheckedVariant[];
  /** Ids, sections, prefixes of them, or requirements. */
  readonly only?: readonly string[];
  /** Weakest level of the rules to run. @defaultValue `MAY` */
  readonly level?: RequirementLevel;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number, last: RuleResult | undefined) => void;
}

/** Runs checks against a client. Never rejects: a client that sends no message is an outcome as well. */
export function runClientChecks(
  client: ClientUnderTest,
  options: RunClientChecksOptions,
): Promise<RunChecksOutcome> {
  return new ClientCheckRun(client, options).run();
}

class ClientCheckRun {
  readonly #client: ClientUnderTest;
  readonly #options: RunClientChecksOptions;
  readonly #monitor: InvariantMonitor<ClientObservation>;
  readonly #context: ClientProbeContext;
  readonly #results: RuleResult[] = [];
  readonly #startedAt = new Date();
  readonly #endsAt: number;
  #requests = 0;
  #messages = 0;
  #total = 0;

  constructor(client: ClientUnderTest, options: RunClientChecksOptions) {
    this.#client = client;
    this.#options = options;
    const isSelected = (rule: ConformanceRule): boolean => isRuleSelected(rule, options);
    this.#monitor = new InvariantMonitor(options.invariants.filter(isSelected));
    this.#endsAt = performance.now() + (options.maxTime ?? 900_000);
    this.#context = {
      client,
      timeout: options.timeout ?? 15_000,
      limit: createLimit(options.concurrency ?? 4),
      observe: (observation) => this.#monitor.observe(observation),
      signal: options.signal,
      countRun: (run) => {
        this.#requests += run.requests.length;
        this.#messages += messagesOf(run).length;
      },
    };
  }

  async run(): Promise<RunChecksOutcome> {
    const wanted = this.#options.variants ?? clientVariants;
    const detected = await Promise.all(wanted.map((variant) => detectSupport(variant, this.#context)));
    const supported = detected.filter((each): each is VariantSupport => typeof each !== 'string');
    if (this.#options.signal?.aborted) return this.#outcome([], 'The run was aborted.');
    if (supported.length === 0) {
      const reasons = [...new Set(detected.filter((each) => typeof each === 'string'))];
      return this.#outcome([], `The client sent no message to a correct agent (${reasons.join('; ')}).`);
    }
    const variants = supported.map(({ variant }) => variant);
    const scheduled = supported.flatMap((support) =>
      this.#options.checks
        .filter(
          (check) => isRuleSelected(check, this.#options) && appliesTo(check, support.variant, variants),
        )
        .map((check) => ({ check, support })),
    );
    this.#total = scheduled.length;
    await Promise.all(scheduled.map(({ check, support }) => this.#runCheck(check, support, variants)));
    const ids = this.#options.checks.map(({ id }) => id);
    this.#results.sort((a, b) => ids.indexOf(a.rule.id) - ids.indexOf(b.rule.id));
    this.#results.push(...variants.flatMap((each) => this.#monitor.results(each)).map(withoutTraffic));
    return this.#outcome(supported, undefined);
  }

  async #runCheck(
    check: ClientCheck,
    { variant, operations }: VariantSupport,
    offered: readonly CheckedVariant[],
  ): Promise<void> {
    const probe = new ClientProbe(variant, this.#context, operations, offered);
    const startedAt = performance.now();
    const place = {
      version: variant.version,
      transport: check.about === 'card' ? undefined : variant.transport,
    };
    const build = (
      verdict: RuleResult['verdict'],
      message: string,
      more: Partial<RuleResult> = {},
    ): RuleResult =>
      buildRuleResult(check, place, {
        verdict,
        message,
        observations: probe.runCount,
        milliseconds: performance.now() - startedAt,
        ...more,
      });
    let result: RuleResult;
    try {
      probe.require(check.needs ?? 'send');
      this.#throwIfAborted();
      if (performance.now() > this.#endsAt)
        throw new InconclusiveError('The time limit of the run was exceeded.', { kind: 'max-time' });
      await check.run(probe).finally(() => this.#throwIfAborted());
      result = build('pass', '');
    } catch (error) {
      if (error instanceof NotApplicableError) result = build('not-applicable', error.message);
      else if (error instanceof InconclusiveError) result = build('inconclusive', error.message);
      else if (error instanceof RuleViolationError)
        result = build(verdictForLevel(check.level), error.message, {
          violations: [toViolation(error.message, error.evidence)],
        });
      else result = build('error', `Internal error of the suite: ${(error as Error).stack ?? String(error)}`);
    }
    this.#results.push(result);
    this.#options.onProgress?.(this.#results.length, this.#total, result);
  }

  /** @throws InconclusiveError, because an aborted client looks like one that hangs. */
  #throwIfAborted(): void {
    if (this.#options.signal?.aborted) throw new InconclusiveError('The run was aborted.');
  }

  #outcome(supported: readonly VariantSupport[], unreachable: string | undefined): RunChecksOutcome {
    return {
      url: this.#client.command,
      client: { name: this.#client.name, command: this.#client.command },
      cards: [],
      variants: supported.map(({ variant: { version, transport } }) => ({ version, transport, url: '' })),
      results: this.#results,
      warnings: supported.length === 0 ? [] : this.#warnings(supported),
      unreachable,
      messages: this.#messages,
      requests: this.#requests,
      milliseconds: Date.now() - this.#startedAt.getTime(),
      startedAt: this.#startedAt.toISOString(),
    };
  }

  #warnings(supported: readonly VariantSupport[]): string[] {
    const missing = this.#client.operations.filter((operation) =>
      supported.every(({ operations }) => operations.get(operation)?.isOffered !== true),
    );
    const isSilent = supported.every(({ operations }) => {
      const send = operations.get('send');
      return send?.isOffered === true && !send.printsAnswer;
    });
    return [
      ...(missing.length === 0
        ? []
        : [`The client does not perform these operations: ${missing.join(', ')}.`]),
      ...(isSilent
        ? [
            'The client does not print the answer of the agent, so that only its requests and exit codes are judged.',
          ]
        : []),
    ];
  }
}

/** A rule about requests that the client did not send does not apply to it. */
function withoutTraffic(result: RuleResult): RuleResult {
  if (result.observations > 0) return result;
  return { ...result, verdict: 'not-applicable', message: 'The client sent no request of this kind.' };
}

/** A check about the card runs once for each version, for its first variant. */
function appliesTo(
  check: ClientCheck,
  variant: CheckedVariant,
  variants: readonly CheckedVariant[],
): boolean {
  if (!check.versions.includes(variant.version)) return false;
  if (!(check.transports?.includes(variant.transport) ?? true)) return false;
  if (check.about !== 'card') return true;
  return variants.find(({ version }) => version === variant.version) === variant;
}

function createLimit(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => void waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
