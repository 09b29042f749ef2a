import { A2AError } from '../../protocol/errors.ts';
import { findExceededLimit } from '../../primitives/json-limits.ts';
import { defaultLimits, type ServerLimits } from '../limits/limits.ts';

/** Shorter texts are parsed faster than they are scanned, whatever they contain. */
const scannedLength = 65_536;

/** Parses untrusted JSON and rejects deep nesting, too many members, and `__proto__` members. */
export function parseUntrustedJson(text: string, limits: ServerLimits = {}): unknown {
  const { jsonDepth: maxDepth = defaultLimits.jsonDepth, jsonMembers = defaultLimits.jsonMembers } = limits;
  if (text.length > scannedLength) {
    const exceeded = findExceededLimit(text, { depth: maxDepth, members: jsonMembers });
    if (exceeded === 'depth') throw tooDeep(maxDepth);
    if (exceeded === 'members')
      throw new A2AError('INVALID_REQUEST', `JSON has more than ${jsonMembers} objects, arrays and members`, {
        details: { limit: 'jsonMembers' },
      });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new A2AError('PARSE_ERROR', undefined, { cause });
  }
  if (typeof value === 'object' && value !== null) checkValue(value, maxDepth, maxDepth);
  return value;
}

/** Rejects deep nesting and `__proto__` members of a value that was decoded from another format. */
export function checkJsonValue(
  value: object,
  { jsonDepth = defaultLimits.jsonDepth }: ServerLimits = {},
): void {
  checkValue(value, jsonDepth, jsonDepth);
}

function checkValue(value: object, remainingDepth: number, maxDepth: number): void {
  if (remainingDepth === 0) throw tooDeep(maxDepth);
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

function tooDeep(maxDepth: number): A2AError {
  return new A2AError('INVALID_REQUEST', `JSON nesting exceeds ${maxDepth} levels`, {
    details: { limit: 'jsonDepth' },
  });
}
