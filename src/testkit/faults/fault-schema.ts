import * as z from 'zod';
import { durationSchema, millisecondsSchema } from './duration.ts';
import type { Fault } from './fault.ts';

const count = z.int().nonnegative();

const after = count.optional().describe('Number of events before the fault.');

const afterSettings = z.strictObject({ after });

const eventSettings = z.strictObject({
  event: z.int().positive().optional().describe('Number of the event, from 1.'),
});

const times = z.int().positive().optional().describe('Maximum number of injections.');

const noSettings = z.strictObject({});

const httpStatus = z.int().min(200).max(599);

/** Accepts `null` for a fault whose settings are all optional: `disconnect:` is `disconnect: {}`. */
function nullable<Settings extends z.ZodType<object>>(settings: Settings) {
  return z.union([settings, z.null().transform(() => ({}) as z.output<Settings>)]);
}

/** Settings of each fault, by its key in files. */
const settingsSchemas = {
  http: z
    .strictObject({
      status: httpStatus.describe('The HTTP status.'),
      headers: z.record(z.string(), z.string()).optional().describe('Additional headers.'),
      body: z.unknown().optional().describe('A string is sent as it is, other values as JSON.'),
    })
    .describe('Responds with an HTTP status, headers and a body.'),
  unauthorized: nullable(
    z.strictObject({ challenge: z.string().optional().describe('Value of WWW-Authenticate.'), times }),
  ).describe('Responds 401, once by default.'),
  rate_limit: nullable(
    z.strictObject({
      retry_after: z
        .union([z.number().nonnegative(), z.string()])
        .optional()
        .describe('Seconds or a date; 1 by default.'),
      times,
    }),
  ).describe('Responds 429 with Retry-After.'),
  redirect: nullable(
    z.strictObject({
      status: z.int().min(300).max(399).optional().describe('307 by default.'),
      location: z.string().optional().describe('Value of Location; no header by default.'),
    }),
  ).describe('Responds with a redirect.'),
  delay: durationSchema.describe('Delays the response: 200ms, { min, max } or { mean, deviation }.'),
  content_type: z.string().describe('Sends a wrong Content-Type.'),
  bad_utf8: nullable(afterSettings).describe('Inserts invalid UTF-8 into an event, by default the first.'),
  oversize: z
    .strictObject({ bytes: z.int().positive().max(1_000_000_000).describe('Size of the event.'), after })
    .describe('Pads an event, by default the first, to this size.'),
  half_frame: nullable(afterSettings).describe(
    'Sends half of an event, by default after 1 event, and ends the response.',
  ),
  disconnect: nullable(afterSettings).describe(
    'Closes the connection, by default after 1 event; with after: 0 before the response head.',
  ),
  early_end: nullable(afterSettings).describe(
    'Ends the stream regularly before the terminal event, or after a number of events.',
  ),
  stall: nullable(afterSettings).describe(
    'Sends nothing more, by default after 1 event, and keeps the connection open.',
  ),
  heartbeats: nullable(
    z.strictObject({ after, every: millisecondsSchema.optional().describe('Interval; 1s by default.') }),
  ).describe('Sends only heartbeats, by default after 1 event.'),
  duplicate: nullable(eventSettings).describe('Sends an event twice, by default the second.'),
  reorder: nullable(eventSettings).describe('Swaps an event, by default the second, with its successor.'),
  wrong_append: nullable(noSettings).describe(
    'Sends a chunk of an unknown artifact before the terminal event.',
  ),
  after_terminal: nullable(noSettings).describe('Sends a working status after the terminal event.'),
  reset: nullable(afterSettings).describe(
    'Resets the connection (TCP RST), by default before the response head.',
  ),
  refuse: nullable(
    z.strictObject({
      for: millisecondsSchema
        .optional()
        .describe('How long new connections are refused; permanently by default.'),
    }),
  ).describe('Resets the connection and refuses new ones.'),
  card: z
    .strictObject({
      override: z.record(z.string(), z.unknown()).describe('New values of fields; null removes a field.'),
    })
    .describe('Replaces fields of the card.'),
} as const;

type FaultKey = keyof typeof settingsSchemas;

const faultKeys = Object.keys(settingsSchemas) as FaultKey[];

/** Faults that can be written without settings. */
const plainFaultKeys = faultKeys.filter((key) => settingsSchemas[key].safeParse(null).success);

type Settings = { readonly [key in FaultKey]?: z.output<(typeof settingsSchemas)[key]> };

const withSettings = z
  .strictObject({
    ...(Object.fromEntries(faultKeys.map((key) => [key, settingsSchemas[key].optional()])) as {
      [key in FaultKey]: z.ZodOptional<(typeof settingsSchemas)[key]>;
    }),
    times: z.int().positive().optional().describe('Maximum number of injections; unlimited by default.'),
    probability: z.number().min(0).max(1).optional().describe('From 0 to 1; 1 by default.'),
    on: z
      .enum(['message', 'card', 'any'])
      .optional()
      .describe('Affected responses: of operations (message, default), of card requests, or any.'),
  })
  .refine((input) => faultKeys.filter((key) => input[key] !== undefined).length === 1, {
    error: `expected exactly one of ${faultKeys.join(', ')}`,
  });

/**
 * Parses a fault of a file: a key such as `disconnect`, or a key with settings such as `{ disconnect: { after: 2 } }` and
 * with the conditions `times`, `probability` and `on`.
 */
export const faultSchema: z.ZodType<Fault> = z
  .union([z.enum(plainFaultKeys as [FaultKey, ...FaultKey[]]), withSettings], {
    error: `expected a fault with its settings, or one of ${plainFaultKeys.join(', ')}`,
  })
  .transform((input): Fault => {
    if (typeof input === 'string') return toFault({ [input]: {} });
    const { times, probability, on, ...settings } = input;
    return withoutUndefined({ ...toFault(settings), ...withoutUndefined({ times, probability, on }) });
  });

function toFault(input: Settings): Fault {
  const [key] = Object.keys(withoutUndefined(input)) as [FaultKey];
  const settings = input[key];
  const kind = key.replaceAll('_', '-');
  switch (key) {
    case 'rate_limit': {
      const { retry_after: retryAfter = 1, times } = input.rate_limit ?? {};
      return withoutUndefined({ kind: 'rate-limit', retryAfter, times });
    }
    case 'redirect':
      return { kind: 'redirect', status: 307, ...withoutUndefined(input.redirect ?? {}) };
    case 'unauthorized':
      // Once by default, so that a retry with new credentials succeeds.
      return { kind: 'unauthorized', times: 1, ...withoutUndefined(input.unauthorized ?? {}) };
    case 'delay':
      return { kind: 'delay', duration: input.delay ?? 0 };
    case 'content_type':
      return { kind: 'content-type', type: input.content_type ?? '' };
    case 'refuse':
      return withoutUndefined({ kind: 'refuse', duration: input.refuse?.for });
    case 'card':
      // A card fault affects card requests only.
      return { kind: 'card', on: 'card', override: input.card?.override ?? {} };
    default:
      return withoutUndefined({ kind, ...(settings as object) }) as Fault;
  }
}

function withoutUndefined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
