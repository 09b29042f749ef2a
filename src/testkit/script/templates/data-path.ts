/** The way to something inside a JSON value: names and places in lists. */
export type DataPath = readonly (string | number)[];

const segment = /(?:^|\.)([^.[\]\s|"']+)|\[(\d{1,9})\]/y;

/** Reads a way such as `order.items[0].sku`. @returns undefined when it is none. */
export function parseDataPath(text: string): DataPath | undefined {
  const path: (string | number)[] = [];
  segment.lastIndex = 0;
  while (segment.lastIndex < text.length) {
    const found = segment.exec(text);
    if (!found) return undefined;
    path.push(found[1] ?? Number(found[2]));
  }
  return path.length > 0 ? path : undefined;
}

/**
 * Goes the way. Only what the value itself holds is found: nothing inherited, and nothing that a list or a text
 * has beside its elements.
 */
export function resolveDataPath(value: unknown, path: DataPath): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== 'object' || here === null) return undefined;
    if (Array.isArray(here)) {
      if (!/^\d+$/.test(String(step))) return undefined;
    } else if (!Object.hasOwn(here, step)) return undefined;
    here = (here as { readonly [key: string]: unknown })[step];
  }
  return here;
}
