/** Joins texts to one map key. Length prefixes keep `('a', 'bc')` and `('ab', 'c')` apart. */
export function compositeKey(...parts: readonly string[]): string {
  let key = '';
  for (const part of parts) key += `${part.length}:${part}`;
  return key;
}
