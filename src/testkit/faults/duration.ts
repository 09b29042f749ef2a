import * as z from 'zod';
import type { SeededRandom } from '../seeded-random.ts';
import type { Duration } from './fault.ts';

const factors = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

const written = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/;

const expected = 'expected a number of milliseconds, or a duration such as 500ms, 10s or 2m';

/** Reads a number of milliseconds, or `500ms`, `10s`, `2m`, `1h`. */
export const millisecondsSchema = z.union(
  [
    z.number().nonnegative(),
    z
      .string()
      .regex(written)
      .transform((text) => {
        const [, number = '0', unit = 'ms'] = written.exec(text) ?? [];
        return Number(number) * factors[unit as keyof typeof factors];
      }),
  ],
  { error: expected },
);

/** Reads a duration that may be drawn: evenly from a range, or around a mean. */
export const durationSchema: z.ZodType<Duration> = z.union(
  [
    millisecondsSchema,
    z
      .strictObject({ min: millisecondsSchema, max: millisecondsSchema })
      .refine(({ min, max }) => min <= max, { error: 'min may not be larger than max' }),
    z.strictObject({ mean: millisecondsSchema, deviation: millisecondsSchema }),
  ],
  { error: `${expected}, or { min, max }, or { mean, deviation }` },
);

/** Draws a number of milliseconds; it is never less than none. */
export function drawDuration(duration: Duration, random: SeededRandom): number {
  if (typeof duration === 'number') return duration;
  if ('min' in duration) return duration.min + random.next() * (duration.max - duration.min);
  return Math.max(0, duration.mean + duration.deviation * drawNormal(random));
}

/** A number around 0: two of three are no further away than 1. */
function drawNormal(random: SeededRandom): number {
  // Two even numbers make one normal one (Box and Muller); 0 has no logarithm.
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
