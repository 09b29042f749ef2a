/** Changes every member of a value, as deep as possible. Members that are frozen stay as they are. */
export function vandalize(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  for (const member of Object.values(value)) vandalize(member, seen);
  if (Array.isArray(value)) attempt(() => value.push('vandalized'));
  for (const name of Object.keys(value)) attempt(() => Reflect.set(value, name, 'vandalized'));
  attempt(() => Reflect.set(value, 'vandalized', true));
}

function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // The array is frozen.
  }
}
