import { A2AError } from '../protocol/errors.ts';

/** How deep a peer's JSON may be nested. Far beyond what anybody sends, far below what breaks a recursive reader. */
const maxDepth = 100;

/** Parses a peer's JSON, and refuses what would hurt those who walk it. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new A2AError('PARSE_ERROR', undefined, { cause });
  }
  if (typeof value === 'object' && value !== null) inspect(value, maxDepth);
  return value;
}

function inspect(value: object, left: number): void {
  if (left === 0)
    throw new A2AError('INVALID_REQUEST', `The JSON is nested more than ${maxDepth} levels deep`);
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) inspect(item, left - 1);
    return;
  }
  for (const key in value) {
    if (key === '__proto__') throw new A2AError('INVALID_REQUEST', 'A member must not be called __proto__');
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === 'object' && item !== null) inspect(item, left - 1);
  }
}
