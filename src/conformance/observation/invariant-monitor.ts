import {
  type ConformanceRule,
  type RuleResult,
  type CheckedTransport,
  type RuleVerdict,
  type CheckedVersion,
  verdictForLevel,
  type Violation,
} from '../rule-model.ts';
import type { Precondition } from '../check.ts';
import { type InconclusiveError, NotApplicableError } from '../check-errors.ts';
import type { CheckedVariant } from '../conformance-level.ts';
import { type Advise, adviseForCommand } from '../prompts/missing-input.ts';
import type { Observation } from './observation.ts';
import { type HttpExchange, toEvidence } from '../wire/http-exchange.ts';

/** Violations of one rule that are stored with their evidence. */
const maxViolations = 5;

interface InvariantState {
  observations: number;
  failures: number;
  readonly violations: Violation[];
}

/** What an observation of any kind has. */
interface MonitoredObservation {
  readonly driver: { readonly version: CheckedVersion; readonly transport: CheckedTransport };
  readonly exchange: HttpExchange;
}

/** A rule about observations of one kind. */
interface MonitoredRule<Seen> extends ConformanceRule {
  readonly versions: readonly CheckedVersion[];
  readonly transports?: readonly CheckedTransport[];
  readonly preconditions?: readonly Precondition[];
  /** Returns what is wrong; undefined if the rule does not apply to the observation. */
  check(observation: Seen): readonly string[] | undefined;
}

/** Evaluates all invariants on every observation of a run. */
export class InvariantMonitor<Seen extends MonitoredObservation = Observation> {
  readonly #invariants: readonly MonitoredRule<Seen>[];
  readonly #states = new Map<string, InvariantState>();

  constructor(invariants: readonly MonitoredRule<Seen>[]) {
    this.#invariants = invariants;
  }

  observe(observation: Seen): void {
    const { version, transport } = observation.driver;
    for (const invariant of this.#invariants) {
      if (!appliesTo(invariant, version, transport)) continue;
      const messages = invariant.check(observation);
      if (messages === undefined) continue;
      const state = this.#stateOf(invariant, version, transport);
      state.observations++;
      if (messages.length > 0) state.failures++;
      for (const message of messages) {
        if (state.violations.length >= maxViolations) break;
        if (state.violations.some((each) => each.message === message)) continue;
        state.violations.push({ message, exchanges: [toEvidence(observation.exchange)] });
      }
    }
  }

  /**
   * Returns a result for every invariant of a variant, including those without observations.
   *
   * @param findUnmet - returns the reason why an invariant without observations does not apply.
   */
  results(
    { version, transport }: CheckedVariant,
    findUnmet: (invariant: MonitoredRule<Seen>) => NotApplicableError | InconclusiveError | undefined = () =>
      undefined,
    advise: Advise = adviseForCommand,
  ): RuleResult[] {
    return this.#invariants
      .filter((each) => appliesTo(each, version, transport))
      .map((rule) => {
        const { observations, failures, violations } = this.#stateOf(rule, version, transport);
        const unmet = observations === 0 ? findUnmet(rule) : undefined;
        const verdict: RuleVerdict =
          unmet instanceof NotApplicableError
            ? 'not-applicable'
            : observations === 0
              ? 'inconclusive'
              : failures > 0
                ? verdictForLevel(rule.level)
                : 'pass';
        const message =
          observations === 0
            ? (unmet?.messageWith(advise) ?? 'The run produced no traffic to which this rule applies.')
            : failures > 0
              ? `${violations[0]?.message ?? ''} (${failures} of ${observations})`
              : '';
        const base = {
          rule,
          version,
          transport,
          verdict,
          message,
          violations,
          observations,
          milliseconds: 0,
        };
        return unmet?.missing ? { ...base, missing: unmet.missing } : base;
      });
  }

  #stateOf({ id }: ConformanceRule, version: CheckedVersion, transport: CheckedTransport): InvariantState {
    const key = `${id} ${version} ${transport}`;
    let state = this.#states.get(key);
    if (!state) {
      state = { observations: 0, failures: 0, violations: [] };
      this.#states.set(key, state);
    }
    return state;
  }
}

function appliesTo(
  { versions, transports }: Pick<MonitoredRule<never>, 'versions' | 'transports'>,
  version: CheckedVersion,
  transport: CheckedTransport,
): boolean {
  return versions.includes(version) && (transports?.includes(transport) ?? true);
}

/** Builds a rule result without violations; `outcome` overrides any field. */
export function buildRuleResult(
  rule: ConformanceRule,
  variant: { version: CheckedVersion; transport: CheckedTransport | undefined },
  outcome: Pick<RuleResult, 'verdict' | 'message'> & Partial<RuleResult>,
): RuleResult {
  return { rule, ...variant, violations: [], observations: 1, milliseconds: 0, ...outcome };
}
