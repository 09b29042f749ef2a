import type { HttpExchange } from './wire/http-exchange.ts';

/** The versions of the protocol that are checked. */
export type CheckedVersion = '1.0' | '0.3' | '0.1';

/** The transports that are checked. */
export type CheckedTransport = 'JSONRPC' | 'HTTP+JSON';

/** How binding a rule is. */
export type RequirementLevel = 'MUST' | 'SHOULD' | 'MAY';

/** The chapters of a report. */
export type ReportCategory = 'agent-card' | 'lifecycle' | 'streaming' | 'error-handling' | 'interop';

/**
 * What became of a check: it held, a MUST was broken, a SHOULD was broken, the agent does not offer what it is about,
 * nothing could be learned, or the suite itself failed.
 */
export type RuleVerdict = 'pass' | 'fail' | 'warn' | 'not-applicable' | 'inconclusive' | 'error';

/** One way in which a rule was broken. */
export interface Violation {
  /** What was seen and why it is wrong, in one sentence. */
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
  /** The requests and answers that show it. */
  readonly exchanges: readonly HttpExchange[];
}

/** What a rule says, whoever looks after it. */
export interface ConformanceRule {
  /** Such as `send.terminal-task`; unique. */
  readonly id: string;
  /** Ids of the requirement catalogue; for versions before 1.0, of their own (`0.3/…`, `0.1/…`). */
  readonly requirements: readonly string[];
  /** The section of the specification. */
  readonly section: string;
  readonly level: RequirementLevel;
  readonly category: ReportCategory;
  /** What must hold, in one sentence of our own. */
  readonly sentence: string;
  /** What the author of an agent that breaks it does about it. */
  readonly remedy: string;
}

/** What became of one rule on one version and transport. */
export interface RuleResult {
  readonly rule: ConformanceRule;
  readonly version: CheckedVersion;
  /** Undefined for rules about the card, which has none. */
  readonly transport: CheckedTransport | undefined;
  readonly verdict: RuleVerdict;
  /** Why it is not a pass, and for `inconclusive` and `not-applicable` what would make it one. */
  readonly message: string;
  readonly violations: readonly Violation[];
  /** How often it was looked at. */
  readonly observations: number;
  readonly milliseconds: number;
}
