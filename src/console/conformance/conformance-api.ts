import type { ConformanceLevel } from '../../conformance/conformance-level.ts';
import type {
  CheckedTransport,
  CheckedVersion,
  RequirementLevel,
  RuleVerdict,
} from '../../conformance/rule-model.ts';

/** A header with credentials, such as `Authorization`. */
export interface HeaderInput {
  readonly name: string;
  readonly value: string;
}

/** Options of a conformance run; durations in milliseconds. */
export interface ConformanceInput {
  readonly agentId: string;
  readonly level?: 'MUST' | 'SHOULD' | 'MAY';
  /** Fixtures that the agent implements: text prefixes or message id prefixes. The saved messages of the agent replace them. */
  readonly fixtures?: 'fx' | 'tck';
  /** Timeout of one task. */
  readonly timeout?: number;
  /** Time limit of the run. */
  readonly maxTime?: number;
  readonly maxMessages?: number;
  /** Credentials of a second user. The server keeps them in memory only. */
  readonly otherUser?: HeaderInput;
  /** Credentials of a user that may not send messages. The server keeps them in memory only. */
  readonly restrictedUser?: HeaderInput;
  /** URL under which the agent reaches the webhook of the suite. */
  readonly webhookUrl?: string;
}

/** A rule to repeat. */
export interface RerunInput extends CheckPlace {
  /** ID of the rule. */
  readonly test: string;
}

/** The protocol variant of a check. */
export interface CheckPlace {
  readonly version: CheckedVersion;
  /** Missing for rules of the card. */
  readonly transport?: CheckedTransport;
}

/** An event of a conformance run. The first one is `started`, the last one `report`, `canceled` or `error`. */
export type ConformanceEvent =
  | {
      readonly kind: 'started';
      readonly agentId: string;
      readonly agentName: string;
      /** Milliseconds since 1970. */
      readonly startedAt: number;
      /** The rule, if only one is repeated. */
      readonly rule?: string;
    }
  | ({ readonly kind: 'checking'; readonly rule: string } & CheckPlace)
  | ({
      readonly kind: 'checked';
      readonly done: number;
      readonly total: number;
      readonly rule: string;
      readonly level: RequirementLevel;
      readonly verdict: RuleVerdict;
    } & CheckPlace)
  | { readonly kind: 'report'; readonly reportId: string }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'error'; readonly reason: string; readonly message: string };

/** A report that the console keeps. */
export interface ReportEntry {
  readonly id: string;
  /** Missing for an uploaded report. */
  readonly agentId?: string;
  readonly agentName: string;
  readonly testDate: string;
  /** Missing if the agent was unreachable. */
  readonly level?: ConformanceLevel;
  readonly isUploaded: boolean;
}
