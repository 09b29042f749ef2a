import { createHash } from 'node:crypto';

/** Limit of the strictest MCP hosts, in characters. */
const maxLength = 64;

/**
 * Assigns a unique tool name to every action: at most 64 letters, digits, `_` and `-`. The name depends only on the
 * name of the action; names that would collide get a hash suffix.
 *
 * @returns tool names by action name, in the same order.
 */
export function assignToolNames(actions: readonly string[]): Map<string, string> {
  const candidates = actions.map((action) => action.replaceAll(/[^A-Za-z0-9_-]+/g, '_') || '_');
  const counts = new Map<string, number>();
  for (const name of candidates) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [index, action] of actions.entries()) {
    const name = candidates[index] ?? '_';
    // An action whose name is already a valid tool name keeps it.
    const isFree = counts.get(name) === 1 || name === action;
    let tool = isFree && name.length <= maxLength ? name : withHash(name, action, 8);
    for (let length = 16; taken.has(tool); length += 8) tool = withHash(name, action, length);
    taken.add(tool);
    names.set(action, tool);
  }
  return names;
}

function withHash(name: string, action: string, length: number): string {
  const hash = createHash('sha256').update(action).digest('hex').slice(0, length);
  return `${name.slice(0, maxLength - 1 - length)}_${hash}`;
}
