import type { Exchange } from './wire/http-exchange.ts';

/** What was seen beside what was wanted. */
export interface Evidence {
  readonly expected?: string;
  readonly actual?: string;
  readonly exchanges?: readonly Exchange[];
}

/** Thrown by a check: the rule is broken. */
export class Broken extends Error {
  readonly evidence: Evidence;

  constructor(message: string, evidence: Evidence = {}) {
    super(message);
    this.evidence = evidence;
  }
}

/** Thrown by a check: the agent does not say that it can do what the rule is about. */
export class NotApplicable extends Error {}

/** Thrown by a check: nothing could be learned. The message says what would make it possible. */
export class Inconclusive extends Error {}
