import * as z from 'zod';
import type { SeededRandom } from '../seeded-random.ts';
import type { Duration } from './fault.ts';

const factors = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

const durationPattern = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/;

const expectedDuration = 'expected a number of milliseconds, or a duration such as 500ms, 10s or 2m';

/** Parses a number of milliseconds, or `500ms`, `10s`, `2m`, `1h`. */
export const millisecondsSchema = z.union(
  [
    z.number().nonnegative(),
    z
      .string()
      .regex(durationPattern)
      .transform((text) => {
        const [, number = '0', unit = 'ms'] = durationPattern.exec(text) ?? [];
        return Number(number) * factors[unit as keyof typeof factors];
      }),
  ],
  { error: expectedDuration },
);

/** Parses a fixed duration, a uniform distribution (`min`, `max`) or a normal distribution (`mean`, `deviation`). */
export const durationSchema: z.ZodType<Duration> = z.union(
  [
    millisecondsSchema,
    z
      .strictObject({ min: millisecondsSchema, max: millisecondsSchema })
      .refine(({ min, max }) => min <= max, { error: 'min must not be larger than max' }),
    z.strictObject({ mean: millisecondsSchema, deviation: millisecondsSchema }),
  ],
  { error: `${expectedDuration}, or { min, max }, or { mean, deviation }` },
);

/** Samples a duration in milliseconds, at least 0. */
export function sampleDuration(duration: Duration, random: SeededRandom): number {
  if (typeof duration === 'number') return duration;
  if ('min' in duration) return duration.min + random.next() * (duration.max - duration.min);
  return Math.max(0, duration.mean + duration.deviation * sampleNormal(random));
}

/** Samples the standard normal distribution (Box–Muller transform). */
function sampleNormal(random: SeededRandom): number {
  // 1 - x avoids the logarithm of 0.
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
