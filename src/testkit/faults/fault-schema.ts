import * as z from 'zod';
import { durationSchema, millisecondsSchema } from './duration.ts';
import type { Fault } from './fault.ts';

const count = z.int().nonnegative();

/** Faults that have nothing but the number of events before them. */
const after = count.optional().describe('How many events pass before.');

const afterSettings = z.strictObject({ after });

const eventSettings = z.strictObject({
  event: z.int().positive().optional().describe('Which event, counted from 1.'),
});

const times = z.int().positive().optional().describe('How often in all it goes wrong.');

const noSettings = z.strictObject({});

const httpStatus = z.int().min(200).max(599);

/** Something with settings, all of which may be left out: `cut:` is `cut: {}`. */
function lenient<Settings extends z.ZodType<object>>(settings: Settings) {
  return z.union([settings, z.null().transform(() => ({}) as z.output<Settings>)]);
}

/** What each fault may be told, by the word of the file. */
const kinds = {
  http: z
    .strictObject({
      status: httpStatus.describe('The HTTP status.'),
      headers: z.record(z.string(), z.string()).optional().describe('Headers beside the usual ones.'),
      body: z.unknown().optional().describe('Text as it is; anything else as JSON.'),
    })
    .describe('Answers with this HTTP status, and perhaps headers and a body.'),
  unauthorized: lenient(
    z.strictObject({ challenge: z.string().optional().describe('What WWW-Authenticate says.'), times }),
  ).describe('Answers 401, once unless times says otherwise; challenge is its WWW-Authenticate.'),
  rate_limit: lenient(
    z.strictObject({
      retry_after: z.union([z.number().nonnegative(), z.string()]).optional().describe('Seconds, or a date.'),
      times,
    }),
  ).describe('Answers 429 with Retry-After: seconds or a date, 1 second by default.'),
  redirect: lenient(
    z.strictObject({
      status: z.int().min(300).max(399).optional().describe('307 by default.'),
      location: z.string().optional().describe('Where to; nowhere by default.'),
    }),
  ).describe('Answers with a redirect, 307 by default, to a location or to nowhere.'),
  delay: durationSchema.describe('Waits before the answer: 200ms, { min, max } or { mean, deviation }.'),
  content_type: z.string().describe('Says another Content-Type than the answer has.'),
  bad_utf8: lenient(afterSettings).describe(
    'Puts bytes that are no text into the first event, or the one after so many.',
  ),
  oversize: z
    .strictObject({ bytes: z.int().positive().max(1_000_000_000).describe('How long it is.'), after })
    .describe('Makes the first event, or the one after so many, this many bytes long.'),
  half_frame: lenient(afterSettings).describe(
    'Sends half an event after so many, by default 1, and then ends properly.',
  ),
  cut: lenient(afterSettings).describe(
    'Breaks the connection after so many events, by default 1; after 0 without a head.',
  ),
  stop: lenient(afterSettings).describe('Ends the stream properly before the last event, or after so many.'),
  silence: lenient(afterSettings).describe(
    'Sends nothing more after so many events, by default 1, and stays connected.',
  ),
  heartbeats: lenient(
    z.strictObject({ after, every: millisecondsSchema.optional().describe('How long between two of them.') }),
  ).describe('Sends nothing but signs of life after so many events, by default 1, every second by default.'),
  duplicate: lenient(eventSettings).describe('Sends an event twice: the second, unless told otherwise.'),
  reorder: lenient(eventSettings).describe(
    'Sends an event after the one that follows it: the second, unless told otherwise.',
  ),
  wrong_append: lenient(noSettings).describe(
    'Sends a chunk of an artifact that was never begun before the last event.',
  ),
  after_terminal: lenient(noSettings).describe('Lets the task work again after it was over.'),
  reset: lenient(afterSettings).describe('Resets the connection after so many events, by default 0.'),
  refuse: lenient(
    z.strictObject({ for: millisecondsSchema.optional().describe('How long new connections are refused.') }),
  ).describe('Resets the connection and refuses new ones for so long, or until told otherwise.'),
  card: z
    .strictObject({ override: z.record(z.string(), z.unknown()).describe('What the members are instead.') })
    .describe('Lets the card say something else: members are replaced, those that are null left out.'),
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
    times: z.int().positive().optional().describe('How often in all it goes wrong; for ever by default.'),
    chance: z.number().min(0).max(1).optional().describe('How probable it is, from 0 to 1; 1 by default.'),
    on: z
      .enum(['message', 'card', 'any'])
      .optional()
      .describe('Which answers go wrong: to operations, to who asks for the card, or any.'),
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
