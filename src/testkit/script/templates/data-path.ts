/** Path in a JSON value: keys and array indexes. */
export type DataPath = readonly (string | number)[];

const segmentPattern = /(?:^|\.)([^.[\]\s|"']+)|\[(\d{1,9})\]/y;

/** Parses a path such as `order.items[0].sku`. @returns undefined if it is invalid */
export function parseDataPath(text: string): DataPath | undefined {
  const path: (string | number)[] = [];
  segmentPattern.lastIndex = 0;
  while (segmentPattern.lastIndex < text.length) {
    const found = segmentPattern.exec(text);
    if (!found) return undefined;
    path.push(found[1] ?? Number(found[2]));
  }
  return path.length > 0 ? path : undefined;
}

/**
 * Returns the value at a path. Only own properties and array elements are found, no inherited properties and no
 * properties of arrays and strings such as `length`.
 */
export function resolveDataPath(value: unknown, path: DataPath): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    if (Array.isArray(current)) {
      if (!/^\d+$/.test(String(step))) return undefined;
    } else if (!Object.hasOwn(current, step)) return undefined;
    current = (current as { readonly [key: string]: unknown })[step];
  }
  return current;
}
