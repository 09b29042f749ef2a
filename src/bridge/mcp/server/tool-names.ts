import { createHash } from 'node:crypto';

/** How long the name of a tool may be: what the strictest hosts take. */
const maxLength = 64;

/**
 * Gives every action the name of a tool: letters, digits, `_` and `-`, 64 at most, each only once. A name depends on
 * that of its action alone, unless two would get the same: each of them then carries a piece of its hash.
 *
 * @returns the names of tools by those of actions, in the same order.
 */
export function assignToolNames(actions: readonly string[]): Map<string, string> {
  const wanted = actions.map((action) => action.replaceAll(/[^A-Za-z0-9_-]+/g, '_') || '_');
  const counts = new Map<string, number>();
  for (const name of wanted) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [index, action] of actions.entries()) {
    const name = wanted[index] ?? '_';
    // What is a tool by its very name keeps it, whatever others are called.
    const isFree = counts.get(name) === 1 || name === action;
    let tool = isFree && name.length <= maxLength ? name : marked(name, action, 8);
    for (let length = 16; taken.has(tool); length += 8) tool = marked(name, action, length);
    taken.add(tool);
    names.set(action, tool);
  }
  return names;
}

function marked(name: string, action: string, length: number): string {
  const mark = createHash('sha256').update(action).digest('hex').slice(0, length);
  return `${name.slice(0, maxLength - 1 - length)}_${mark}`;
}
