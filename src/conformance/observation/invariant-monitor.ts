import type {
  ConformanceRule,
  RuleResult,
  CheckedTransport,
  RuleVerdict,
  CheckedVersion,
  Violation,
} from '../rule-model.ts';
import { verdictForLevel } from '../probe.ts';
import type { Invariant, Observation } from './observation.ts';
import { toEvidence } from '../wire/http-exchange.ts';

/** How many violations of one rule are kept with their evidence. */
const kept = 5;

interface Watched {
  readonly invariant: Invariant;
  readonly version: CheckedVersion;
  readonly transport: CheckedTransport;
  looked: number;
  broken: number;
  readonly violations: Violation[];
}

/** Looks at everything that comes over the wire with the eyes of every invariant. */
export class InvariantMonitor {
  readonly #invariants: readonly Invariant[];
  readonly #watched = new Map<string, Watched>();

  constructor(invariants: readonly Invariant[]) {
    this.#invariants = invariants;
  }

  observe(sighting: Observation): void {
    const { version, transport } = sighting.driver;
    for (const invariant of this.#invariants) {
      if (!invariant.versions.includes(version)) continue;
      if (invariant.transports && !invariant.transports.includes(transport)) continue;
      const wrong = invariant.check(sighting);
      if (wrong === undefined) continue;
      const watched = this.#of(invariant, version, transport);
      watched.looked++;
      if (wrong.length > 0) watched.broken++;
      for (const message of wrong) {
        if (watched.violations.length >= kept) break;
        if (watched.violations.some((each) => each.message === message)) continue;
        watched.violations.push({ message, exchanges: [toEvidence(sighting.exchange)] });
      }
    }
  }

  /** What became of every invariant, those of which nothing was ever seen included. */
  results(lanes: readonly { version: CheckedVersion; transport: CheckedTransport }[]): RuleResult[] {
    return lanes.flatMap(({ version, transport }) =>
      this.#invariants
        .filter((each) => each.versions.includes(version) && (each.transports?.includes(transport) ?? true))
        .map((invariant) => {
          const { looked, broken, violations } = this.#of(invariant, version, transport);
          const verdict: RuleVerdict =
            looked === 0 ? 'inconclusive' : broken > 0 ? verdictForLevel(invariant.level) : 'pass';
          const message =
            looked === 0
              ? 'Nothing came over the wire that this could be seen at.'
              : broken > 0
                ? `${violations[0]?.message ?? ''} (${broken} of ${looked})`
                : '';
          return {
            rule: invariant,
            version,
            transport,
            verdict,
            message,
            violations,
            observations: looked,
            milliseconds: 0,
          };
        }),
    );
  }

  #of(invariant: Invariant, version: CheckedVersion, transport: CheckedTransport): Watched {
    const key = `${invariant.id} ${version} ${transport}`;
    let watched = this.#watched.get(key);
    if (!watched) {
      watched = { invariant, version, transport, looked: 0, broken: 0, violations: [] };
      this.#watched.set(key, watched);
    }
    return watched;
  }
}

/** A result of a rule for which nothing more is to be said. */
export function buildRuleResult(
  rule: ConformanceRule,
  where: { version: CheckedVersion; transport: CheckedTransport | undefined },
  outcome: Pick<RuleResult, 'verdict' | 'message'> & Partial<RuleResult>,
): RuleResult {
  return { rule, ...where, violations: [], observations: 1, milliseconds: 0, ...outcome };
}
