import * as z from 'zod';
import { durationSchema, millisecondsSchema } from './duration.ts';
import type { Fault } from './fault.ts';

const count = z.int().nonnegative();

/** Faults that have nothing but the number of events before them. */
const afterSettings = z.strictObject({ after: count.optional() });

const eventSettings = z.strictObject({ event: z.int().positive().optional() });

const noSettings = z.strictObject({});

const httpStatus = z.int().min(200).max(599);

/** Something with settings, all of which may be left out: `cut:` is `cut: {}`. */
function lenient<Settings extends z.ZodType<object>>(settings: Settings) {
  return z.union([settings, z.null().transform(() => ({}) as z.output<Settings>)]);
}

/** What each fault may be told, by the word of the file. */
const kinds = {
  http: z.strictObject({
    status: httpStatus,
    headers: z.record(z.string(), z.string()).optional(),
    body: z.unknown().optional(),
  }),
  unauthorized: lenient(
    z.strictObject({ challenge: z.string().optional(), times: z.int().positive().optional() }),
  ),
  rate_limit: lenient(
    z.strictObject({
      retry_after: z.union([z.number().nonnegative(), z.string()]).optional(),
      times: z.int().positive().optional(),
    }),
  ),
  redirect: lenient(
    z.strictObject({ status: z.int().min(300).max(399).optional(), location: z.string().optional() }),
  ),
  delay: durationSchema,
  content_type: z.string(),
  bad_utf8: lenient(afterSettings),
  oversize: z.strictObject({ bytes: z.int().positive().max(1_000_000_000), after: count.optional() }),
  half_frame: lenient(afterSettings),
  cut: lenient(afterSettings),
  stop: lenient(afterSettings),
  silence: lenient(afterSettings),
  heartbeats: lenient(z.strictObject({ after: count.optional(), every: millisecondsSchema.optional() })),
  duplicate: lenient(eventSettings),
  reorder: lenient(eventSettings),
  wrong_append: lenient(noSettings),
  after_terminal: lenient(noSettings),
  reset: lenient(afterSettings),
  refuse: lenient(z.strictObject({ for: millisecondsSchema.optional() })),
  card: z.strictObject({ override: z.record(z.string(), z.unknown()) }),
} as const;

type Word = keyof typeof kinds;

const words = Object.keys(kinds) as Word[];

/** Faults that need no settings and may be written as a word alone. */
const plainWords = words.filter((word) => kinds[word].safeParse(null).success);

type Settings = { readonly [word in Word]?: z.output<(typeof kinds)[word]> };

const withSettings = z
  .strictObject({
    ...(Object.fromEntries(words.map((word) => [word, kinds[word].optional()])) as {
      [word in Word]: z.ZodOptional<(typeof kinds)[word]>;
    }),
    times: z.int().positive().optional(),
    chance: z.number().min(0).max(1).optional(),
    on: z.enum(['message', 'card', 'any']).optional(),
  })
  .refine((read) => words.filter((word) => read[word] !== undefined).length === 1, {
    error: `a fault is one of ${words.join(', ')}`,
  });

/**
 * Reads a fault as it stands in a file: a word such as `cut`, or a word with settings such as `{ cut: { after: 2 } }`,
 * beside which `times`, `chance` and `on` say when it strikes.
 */
export const faultSchema: z.ZodType<Fault> = z
  .union([z.enum(plainWords as [Word, ...Word[]]), withSettings], {
    error: `expected a fault with its settings, or one of ${plainWords.join(', ')}`,
  })
  .transform((read): Fault => {
    if (typeof read === 'string') return faultOf({ [read]: {} });
    const { times, chance, on, ...settings } = read;
    return without({ ...faultOf(settings), ...without({ times, chance, on }) });
  });

function faultOf(read: Settings): Fault {
  const [word] = Object.keys(without(read)) as [Word];
  const settings = read[word];
  const kind = word.replaceAll('_', '-');
  switch (word) {
    case 'rate_limit': {
      const { retry_after: retryAfter = 1, times } = read.rate_limit ?? {};
      return without({ kind: 'rate-limit', retryAfter, times });
    }
    case 'redirect':
      return { kind: 'redirect', status: 307, ...without(read.redirect ?? {}) };
    case 'unauthorized':
      // Who shows better credentials is let in, so it goes wrong once unless told otherwise.
      return { kind: 'unauthorized', times: 1, ...without(read.unauthorized ?? {}) };
    case 'delay':
      return { kind: 'delay', duration: read.delay ?? 0 };
    case 'content_type':
      return { kind: 'content-type', type: read.content_type ?? '' };
    case 'refuse':
      return without({ kind: 'refuse', duration: read.refuse?.for });
    case 'card':
      // A lie of the card is told to who asks for it.
      return { kind: 'card', on: 'card', override: read.card?.override ?? {} };
    default:
      return without({ kind, ...(settings as object) }) as Fault;
  }
}

function without<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
