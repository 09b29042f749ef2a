import { A2AError } from '../../protocol/errors.ts';
import { defaultLimits } from '../limits/limits.ts';

/**
 * Parses untrusted JSON and rejects deep nesting and `__proto__` members.
 *
 * @param maxDepth - maximum nesting depth. The default is far above real requests and far below the limit of recursive
 * code.
 */
export function parseUntrustedJson(text: string, maxDepth: number = defaultLimits.jsonDepth): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new A2AError('PARSE_ERROR', undefined, { cause });
  }
  if (typeof value === 'object' && value !== null) checkValue(value, maxDepth, maxDepth);
  return value;
}

function checkValue(value: object, remainingDepth: number, maxDepth: number): void {
  if (remainingDepth === 0)
    throw new A2AError('INVALID_REQUEST', `JSON nesting exceeds ${maxDepth} levels`, {
      details: { limit: 'jsonDepth' },
    });
  if (Array.isArray(value)) {
    for (const item of value)
      if (typeof item === 'object' && item !== null) checkValue(item, remainingDepth - 1, maxDepth);
    return;
  }
  for (const key in value) {
    if (key === '__proto__') throw new A2AError('INVALID_REQUEST', 'Member name not allowed: __proto__');
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === 'object' && item !== null) checkValue(item, remainingDepth - 1, maxDepth);
  }
}
