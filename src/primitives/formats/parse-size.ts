const units: { readonly [unit: string]: number } = { '': 1, kb: 1_024, mb: 1_024 ** 2, gb: 1_024 ** 3 };

/** Parses a size such as `512mb` or `2gb` to bytes. A number without a unit is in bytes. @returns undefined if invalid */
export function parseSize(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,15}(?:\.\d{1,3})?)(kb|mb|gb)?$/i.exec(text) ?? [];
  return number === undefined ? undefined : Math.floor(Number(number) * (units[unit.toLowerCase()] ?? 1));
}
