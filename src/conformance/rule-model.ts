import type { MissingInput } from './prompts/missing-input.ts';
import type { HttpExchange } from './wire/http-exchange.ts';

/** Protocol versions that the suite checks. */
export type CheckedVersion = '1.0' | '0.3' | '0.1';

/** Transports that the suite checks. */
export type CheckedTransport = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';

/** All transports that the suite checks. */
export const checkedTransports: readonly CheckedTransport[] = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

/** The transports of rules about HTTP and JSON, which do not apply to gRPC. */
export const jsonTransports: readonly CheckedTransport[] = ['JSONRPC', 'HTTP+JSON'];

/** Requirement level of a rule, as in RFC 2119. */
export type RequirementLevel = 'MUST' | 'SHOULD' | 'MAY';

/** Returns the verdict of a violated rule. */
export function verdictForLevel(level: RequirementLevel): 'fail' | 'warn' {
  return level === 'MUST' ? 'fail' : 'warn';
}

/** Sections of a report. */
export type ReportCategory = 'agent-card' | 'lifecycle' | 'streaming' | 'error-handling' | 'interop';

/**
 * Result of a rule: `fail` for a violated MUST, `warn` for a violated SHOULD or MAY, `not-applicable` if the agent does
 * not declare the feature, `inconclusive` if the rule could not be decided, `error` if the suite itself failed.
 */
export type RuleVerdict = 'pass' | 'fail' | 'warn' | 'not-applicable' | 'inconclusive' | 'error';

/** One violation of a rule. */
export interface Violation {
  /** What was observed and why it is wrong, in one sentence. */
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
  /** Exchanges that show the violation. */
  readonly exchanges: readonly HttpExchange[];
  /** The execution of a tested client that shows the violation. */
  readonly client?: ClientRunSummary;
}

/** One execution of a tested client, as in a report. */
export interface ClientRunSummary {
  readonly operation: string;
  /** Missing if the client was ended by a signal. */
  readonly exitCode?: number;
  readonly signal?: string;
  /** True if the client was ended at the time limit. */
  readonly isTimeout?: boolean;
  readonly duration_ms: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A rule of the suite, implemented by a check or an invariant. */
export interface ConformanceRule {
  /** Such as `send.terminal-task`; unique. */
  readonly id: string;
  /** Ids of the requirement catalog; ids of versions before 1.0 start with `0.3/` or `0.1/`. */
  readonly requirements: readonly string[];
  /** Section of the specification. */
  readonly section: string;
  readonly level: RequirementLevel;
  readonly category: ReportCategory;
  /** The requirement, in one sentence with the agent, server or client as subject. */
  readonly sentence: string;
  /** Imperative sentence for the developer of an agent that violates the rule. */
  readonly remedy: string;
  /** True if an agent that violates the rule must not be used at all. */
  readonly isCritical?: boolean;
}

/** A section of the specification and requirements of the catalog. */
export type Citation = Pick<ConformanceRule, 'requirements' | 'section' | 'level'>;

const citeAs =
  (level: RequirementLevel) =>
  (section: string, ...requirements: readonly string[]): Citation => ({ requirements, section, level });

/** Cites a section and requirements of level MUST. */
export const must = citeAs('MUST');
/** Cites a section and requirements of level SHOULD. */
export const should = citeAs('SHOULD');
/** Cites a section and requirements of level MAY. */
export const may = citeAs('MAY');

/** Result of one rule for one protocol variant. */
export interface RuleResult {
  readonly rule: ConformanceRule;
  readonly version: CheckedVersion;
  /** Undefined for rules about the card. */
  readonly transport: CheckedTransport | undefined;
  readonly verdict: RuleVerdict;
  /** Reason for a verdict other than `pass`; for `inconclusive` and `not-applicable`, what would enable the rule. */
  readonly message: string;
  readonly violations: readonly Violation[];
  /** What the user must provide so that the rule can be decided. */
  readonly missing?: MissingInput;
  /** Number of observations that the rule was evaluated on. */
  readonly observations: number;
  readonly milliseconds: number;
}
