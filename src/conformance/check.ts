import type { ConformanceRule, CheckedTransport, CheckedVersion } from './rule-model.ts';
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
  /** True for a check about the card that also runs if there is none. */
  readonly runsWithoutCard?: boolean;
  /**
   * True if the check must not run at the same time as others: because they would disturb it, or because it sends
   * malformed requests, which may end the process of the agent.
   */
  readonly runsExclusively?: boolean;
  /**
   * Resolves if the rule holds.
   *
   * @throws RuleViolationError, NotApplicableError or InconclusiveError otherwise.
   */
  run(probe: Probe): Promise<void>;
}

/** Members that the checks of a group can share. */
export type CheckDefaults = Partial<
  Pick<Check, 'category' | 'versions' | 'preconditions' | 'transports' | 'about' | 'runsExclusively'>
>;

/** Defines a group of checks. A check without one of the members of `defaults` inherits it. */
export function defineChecks<Defaults extends CheckDefaults>(
  defaults: Defaults,
  checks: readonly (Omit<Check, keyof Defaults> & Partial<Check>)[],
): readonly Check[] {
  return checks.map((check) => ({ ...defaults, ...check }) as Check);
}
