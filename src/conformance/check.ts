import type { ConformanceRule, CheckedTransport, CheckedVersion } from './rule-model.ts';
import type { Probe } from './probe.ts';

/** What an agent must offer, by its card or by the options of the run, for a check to make sense. */
export type Precondition =
  | 'streaming'
  | 'push'
  | 'no-push'
  | 'no-streaming'
  | 'extended-card'
  | 'no-extended-card'
  | 'security'
  | 'credentials'
  | 'second-identity'
  | 'limited-identity'
  | 'signatures'
  | 'extensions'
  | 'tenant';

/** One thing to try, and the rule that it looks after. */
export interface Check extends ConformanceRule {
  readonly versions: readonly CheckedVersion[];
  /** @defaultValue all that the version has */
  readonly transports?: readonly CheckedTransport[];
  /** `card`: once for each version, whatever the transport. @defaultValue `wire` */
  readonly about?: 'card' | 'wire';
  readonly preconditions?: readonly Precondition[];
  /** True where it must be alone, because it watches what others would disturb. */
  readonly runsExclusively?: boolean;
  /** Resolves when the rule holds; throws `Broken`, `NotApplicable` or `Inconclusive` otherwise. */
  run(probe: Probe): Promise<void>;
}

/** Declares checks, so that their types are looked at where they are written. */
export function defineChecks(checks: readonly Check[]): readonly Check[] {
  return checks;
}
