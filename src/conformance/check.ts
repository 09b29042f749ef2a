import type { ConformanceRule, CheckedTransport, CheckedVersion, RequirementLevel } from './rule-model.ts';
import type { Probe } from './probe.ts';

/** What the card must declare or the options of the run must contain for a check to apply. */
export type Precondition =
  | 'streaming'
  | 'push'
  | 'no-push'
  | 'no-streaming'
  | 'extended-card'
  | 'no-extended-card'
  | 'security'
  | 'credentials'
  | 'other-user'
  | 'restricted-user'
  | 'signatures'
  | 'extensions'
  | 'tenant';

/** An active test of one rule. */
export interface Check extends ConformanceRule {
  readonly versions: readonly CheckedVersion[];
  /** @defaultValue all transports of the version */
  readonly transports?: readonly CheckedTransport[];
  /** `card`: runs once for each version. `wire`: runs for each version and transport. @defaultValue `wire` */
  readonly about?: 'card' | 'wire';
  readonly preconditions?: readonly Precondition[];
  /** True if the check must not run at the same time as others, because they would disturb it. */
  readonly runsExclusively?: boolean;
  /**
   * Resolves if the rule holds.
   *
   * @throws RuleViolationError, NotApplicableError or InconclusiveError otherwise.
   */
  run(probe: Probe): Promise<void>;
}

/** Type-checks checks at the place of definition. */
export function defineChecks(checks: readonly Check[]): readonly Check[] {
  return checks;
}

/** Creates a check out of the members that differ within a group. */
export type CheckFactory = (
  id: string,
  requirements: readonly string[],
  section: string,
  level: RequirementLevel,
  sentence: string,
  remedy: string,
  run: (probe: Probe) => Promise<void> | void,
) => Check;

/** Returns a factory for checks that share the given members. */
export function checkFactory(
  shared: Pick<Check, 'category' | 'versions'> &
    Partial<Pick<Check, 'about' | 'preconditions' | 'transports' | 'runsExclusively'>>,
): CheckFactory {
  return (id, requirements, section, level, sentence, remedy, run) => ({
    ...shared,
    id,
    requirements,
    section,
    level,
    sentence,
    remedy,
    run: async (probe) => run(probe),
  });
}
