import { InvalidArgumentError } from 'commander';

const units: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses a duration such as `500ms`, `2s` or `5m` to milliseconds. A number without a unit is in seconds. */
export function parseDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const milliseconds = Number(number) * (units[unit] ?? Number.NaN);
  if (Number.isNaN(milliseconds) || milliseconds > 2_000_000_000)
    throw new InvalidArgumentError('Use a duration such as 500ms, 2s, 5m or 1h.');
  return milliseconds;
}

/** Parses a duration from 1 ms to 24 hours. */
export function parsePositiveDuration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds > 0 && milliseconds <= 86_400_000) return milliseconds;
  throw new InvalidArgumentError('Use a duration above 0 and up to 24h.');
}
