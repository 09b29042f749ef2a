import { asJsonObject } from '../primitives/json.ts';
import { compatKey, type Metadata } from '../protocol/part.ts';

export { compatKey };

/** Metadata flag of a data part that is not an object and is boxed as `{ "value": … }`; also set by the official SDKs. */
export const boxedDataFlag = 'data_part_compat';

/** Values under the compat key; each dialect defines its names. */
export type CompatRecord = { [name: string]: unknown };

/** Returns metadata with values added to its compat record. Undefined values are ignored. */
export function withCompat(metadata: Metadata | undefined, values: CompatRecord): Metadata | undefined {
  let added: CompatRecord | undefined;
  for (const name in values) {
    if (values[name] === undefined) continue;
    added ??= {};
    added[name] = values[name];
  }
  if (!added) return metadata;
  return { ...metadata, [compatKey]: { ...readCompat(metadata), ...added } };
}

/** Returns the compat record of metadata. It is untrusted input and must not grant permissions. */
export function readCompat(metadata: Metadata | undefined): CompatRecord | undefined {
  return asJsonObject(metadata?.[compatKey]);
}

/** Removes names from the compat record, and the record and the metadata if they become empty. */
export function withoutCompat(
  metadata: Metadata | undefined,
  names: readonly string[],
): Metadata | undefined {
  const record = readCompat(metadata);
  if (!metadata || !record) return metadata;
  const remaining = Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
  const { [compatKey]: _record, ...rest } = metadata;
  const result = Object.keys(remaining).length > 0 ? { ...rest, [compatKey]: remaining } : rest;
  return Object.keys(result).length > 0 ? result : undefined;
}
