import { invalidField } from '../../protocol/errors.ts';
import { parseUntrustedJson } from '../../server/http/parse-json.ts';
import type { ActionParameters } from '../actions/parameter-check.ts';

/** What the body of a call says. */
export interface ActionCall {
  readonly parameters: ActionParameters;
  readonly sessionId: string | undefined;
  readonly userId: string | undefined;
  /** In milliseconds. */
  readonly waitBudget: number | undefined;
}

/** How long an id may be. */
const maxIdLength = 256;

/** Reads the body of a call. @throws A2AError that says what is wrong */
export function parseActionCall(text: string, maxDepth?: number): ActionCall {
  const body = parseUntrustedJson(text, maxDepth);
  if (!isObject(body)) throw invalidField('The body', 'must be an object');
  const { parameters = {}, sessionId, userId, waitBudget } = body;
  if (!isObject(parameters)) throw invalidField('parameters', 'must be an object');
  if (waitBudget !== undefined && (typeof waitBudget !== 'number' || !(waitBudget >= 0))) {
    throw invalidField('waitBudget', 'must be a number of milliseconds');
  }
  return { parameters, sessionId: idOf(sessionId, 'sessionId'), userId: idOf(userId, 'userId'), waitBudget };
}

function idOf(value: unknown, field: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value !== '' && value.length <= maxIdLength) return value;
  throw invalidField(field, `must be a text of at most ${maxIdLength} characters`);
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
