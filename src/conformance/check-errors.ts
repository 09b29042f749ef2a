import { type Advise, adviseForCommand, type MissingInput } from './prompts/missing-input.ts';
import type { ClientRunSummary, Violation } from './rule-model.ts';
import type { HttpExchange } from './wire/http-exchange.ts';

/** Expected and actual values of a violation, of any type, with the exchanges that show it. */
export interface Evidence {
  readonly expected?: unknown;
  readonly actual?: unknown;
  readonly exchanges?: readonly HttpExchange[];
  /** The execution of a tested client. */
  readonly client?: ClientRunSummary;
}

/** Thrown by a check if the agent violates the rule. */
export class RuleViolationError extends Error {
  readonly evidence: Evidence;

  constructor(message: string, evidence: Evidence = {}) {
    super(message);
    this.evidence = evidence;
  }
}

/** An error of a check that was not decided. Its message ends with the options of the command that would help. */
class UndecidedError extends Error {
  /** What the user must provide; undefined if nothing would help. */
  readonly missing: MissingInput | undefined;
  readonly #fact: string;

  constructor(fact: string, missing?: MissingInput) {
    super(withAdvice(fact, missing, adviseForCommand));
    this.#fact = fact;
    this.missing = missing;
  }

  /** Returns the message with the advice of another user interface. */
  messageWith(advise: Advise = adviseForCommand): string {
    return withAdvice(this.#fact, this.missing, advise);
  }
}

function withAdvice(fact: string, missing: MissingInput | undefined, advise: Advise): string {
  return missing ? `${fact} ${advise(missing)}` : fact;
}

/** Thrown by a check if the agent does not declare the feature of the rule. */
export class NotApplicableError extends UndecidedError {}

/** Thrown by a check that could not be decided. */
export class InconclusiveError extends UndecidedError {}

/** Thrown by a check that was interrupted by the end of the process of the agent. */
export class AgentCrashedError extends InconclusiveError {}

/** Longest value in a violation, in characters. */
const maxValueLength = 300;

/** Creates the entry of a violation in the report. */
export function toViolation(message: string, evidence: Evidence): Violation {
  return {
    message,
    ...('expected' in evidence ? { expected: formatValue(evidence.expected) } : {}),
    ...('actual' in evidence ? { actual: formatValue(evidence.actual) } : {}),
    exchanges: evidence.exchanges ?? [],
    ...(evidence.client ? { client: evidence.client } : {}),
  };
}

function formatValue(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  const isPlainList = Array.isArray(value) && value.every((each) => typeof each !== 'object');
  const text = isPlainList ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value);
  return text === '' ? '""' : text.slice(0, maxValueLength);
}
