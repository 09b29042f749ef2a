import type { HttpExchange } from './wire/http-exchange.ts';

/** What was seen beside what was wanted. */
export interface Evidence {
  readonly expected?: string;
  readonly actual?: string;
  readonly exchanges?: readonly HttpExchange[];
}

/** Thrown by a check: the rule is broken. */
export class RuleViolationError extends Error {
  readonly evidence: Evidence;

  constructor(message: string, evidence: Evidence = {}) {
    super(message);
    this.evidence = evidence;
  }
}

/** Thrown by a check: the agent does not say that it can do what the rule is about. */
export class NotApplicableError extends Error {}

/** Thrown by a check: nothing could be learned. The message says what would make it possible. */
export class InconclusiveError extends Error {}
