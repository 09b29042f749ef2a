import { compatKey, type Metadata } from '../protocol/part.ts';

export { compatKey };

/** The mark of a data part that is no object and travels in a box `{ "value": … }`; the official SDKs set it too. */
export const boxedDataFlag = 'data_part_compat';

/** What is carried: see each dialect for its own names. */
export type CompatRecord = { [name: string]: unknown };

/** Adds to the compat record of some metadata, which is not changed. Undefined values are left out. */
export function withCompat(metadata: Metadata | undefined, carried: CompatRecord): Metadata | undefined {
  let kept: CompatRecord | undefined;
  for (const name in carried) {
    if (carried[name] === undefined) continue;
    kept ??= {};
    kept[name] = carried[name];
  }
  if (!kept) return metadata;
  return { ...metadata, [compatKey]: { ...readCompat(metadata), ...kept } };
}

/** The compat record of some metadata, or nothing. It is a peer's word: never take authority from it. */
export function readCompat(metadata: Metadata | undefined): CompatRecord | undefined {
  const carried = metadata?.[compatKey];
  return typeof carried === 'object' && carried !== null && !Array.isArray(carried)
    ? (carried as CompatRecord)
    : undefined;
}

/** The metadata without some names of its compat record, and without the record or the metadata if they become empty. */
export function withoutCompat(
  metadata: Metadata | undefined,
  names: readonly string[],
): Metadata | undefined {
  const carried = readCompat(metadata);
  if (!metadata || !carried) return metadata;
  const left = Object.fromEntries(Object.entries(carried).filter(([name]) => !names.includes(name)));
  const { [compatKey]: _record, ...rest } = metadata;
  const whole = Object.keys(left).length > 0 ? { ...rest, [compatKey]: left } : rest;
  return Object.keys(whole).length > 0 ? whole : undefined;
}
