import type { HttpExchange } from './wire/http-exchange.ts';

/** Expected and actual values of a violation, with the exchanges that show it. */
export interface Evidence {
  readonly expected?: string;
  readonly actual?: string;
  readonly exchanges?: readonly HttpExchange[];
}

/** Thrown by a check if the agent violates the rule. */
export class RuleViolationError extends Error {
  readonly evidence: Evidence;

  constructor(message: string, evidence: Evidence = {}) {
    super(message);
    this.evidence = evidence;
  }
}

/** Thrown by a check if the agent does not declare the feature of the rule. */
export class NotApplicableError extends Error {}

/** Thrown by a check that could not be decided. The message states what would make it possible. */
export class InconclusiveError extends Error {}
