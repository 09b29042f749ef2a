import { A2AError } from '../../protocol/errors.ts';
import { defaultLimits } from '../limits/limits.ts';

/**
 * Parses a peer's JSON, and refuses what would hurt those who walk it.
 *
 * @param maxDepth - how deep it may be nested. The default is far beyond what anybody sends, and far below what breaks a
 * recursive reader.
 */
export function parseUntrustedJson(text: string, maxDepth: number = defaultLimits.jsonDepth): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new A2AError('PARSE_ERROR', undefined, { cause });
  }
  if (typeof value === 'object' && value !== null) inspect(value, maxDepth, maxDepth);
  return value;
}

function inspect(value: object, left: number, maxDepth: number): void {
  if (left === 0)
    throw new A2AError('INVALID_REQUEST', `The JSON is nested more than ${maxDepth} levels deep`, {
      details: { limit: 'jsonDepth' },
    });
  if (Array.isArray(value)) {
    for (const item of value)
      if (typeof item === 'object' && item !== null) inspect(item, left - 1, maxDepth);
    return;
  }
  for (const key in value) {
    if (key === '__proto__') throw new A2AError('INVALID_REQUEST', 'A member must not be called __proto__');
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === 'object' && item !== null) inspect(item, left - 1, maxDepth);
  }
}
