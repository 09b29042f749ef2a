const units: { readonly [unit: string]: number } = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Parses the header `grpc-timeout`, such as `100m`. @returns milliseconds; undefined without a valid header */
export function parseGrpcTimeout(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(String(header)) ?? [];
  if (digits === undefined) return undefined;
  // Longer timers fire at once.
  return Math.min(Number(digits) * (units[unit] ?? 1), 2 ** 31 - 1);
}
