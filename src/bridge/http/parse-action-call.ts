import { isJsonObject } from '../../primitives/json.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { ServerLimits } from '../../server/limits/limits.ts';
import { parseUntrustedJson } from '../../server/http/parse-json.ts';
import type { ActionParameters } from '../actions/parameter-check.ts';

/** Body of an action call. */
export interface ActionCall {
  readonly parameters: ActionParameters;
  readonly sessionId: string | undefined;
  readonly userId: string | undefined;
  /** In milliseconds. */
  readonly waitBudget: number | undefined;
}

const maxIdLength = 256;

/** Parses the body of an action call. @throws A2AError `INVALID_PARAMS` or `PARSE_ERROR` */
export function parseActionCall(text: string, limits?: ServerLimits): ActionCall {
  const body = parseUntrustedJson(text, limits);
  if (!isJsonObject(body)) throw invalidField('body', 'must be an object');
  const { parameters = {}, sessionId, userId, waitBudget } = body;
  if (!isJsonObject(parameters)) throw invalidField('parameters', 'must be an object');
  if (waitBudget !== undefined && (typeof waitBudget !== 'number' || !(waitBudget >= 0))) {
    throw invalidField('waitBudget', 'must be a non-negative number of milliseconds');
  }
  return {
    parameters,
    sessionId: checkId(sessionId, 'sessionId'),
    userId: checkId(userId, 'userId'),
    waitBudget,
  };
}

function checkId(value: unknown, field: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value !== '' && value.length <= maxIdLength) return value;
  throw invalidField(field, `must be a string of 1 to ${maxIdLength} characters`);
}
