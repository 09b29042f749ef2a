import * as z from 'zod';

const count = z.number().min(-1).max(Number.MAX_SAFE_INTEGER);
const millis = z.number().min(-1).max(1e12);
const name = z.string().max(8_192);
const value = z.string().max(65_536);
const pairs = z.array(z.looseObject({ name, value })).max(1_000);
const head = {
  httpVersion: z.string().max(100),
  cookies: z.array(z.looseObject({ name, value })).max(1_000),
};
const sizes = { headersSize: count, bodySize: count };

/** Members of this package in an entry; other programs ignore members that begin with `_`. */
const exchangeSchema = z.object({
  from: z.string().max(200),
  to: z.string().max(200),
  /** Milliseconds between the start of the entry and each event of its stream. */
  frames: z.array(millis).max(100_000).optional(),
  /** Why the exchange ended, if it did not end normally. */
  end: z.string().max(4_096).optional(),
});

const entrySchema = z.looseObject({
  startedDateTime: z.iso.datetime({ offset: true }),
  time: millis,
  request: z.looseObject({
    method: z.string().regex(/^[A-Za-z-]{1,40}$/),
    url: z.url({ protocol: /^https?$/ }).max(65_536),
    ...head,
    headers: pairs,
    queryString: pairs,
    postData: z.looseObject({ mimeType: z.string(), text: z.string().optional() }).optional(),
    ...sizes,
  }),
  response: z.looseObject({
    status: z.number().int().min(0).max(999),
    statusText: z.string(),
    ...head,
    headers: pairs,
    content: z.looseObject({
      size: count,
      mimeType: z.string().max(1_024),
      text: z.string().optional(),
      encoding: z.string().max(100).optional(),
    }),
    redirectURL: z.string(),
    ...sizes,
  }),
  cache: z.looseObject({}),
  timings: z.looseObject({ send: millis, wait: millis, receive: millis }),
  _exchange: exchangeSchema.optional(),
});

/** HAR 1.2, as far as this package reads and writes it. */
export const harSchema = z.looseObject({
  log: z.looseObject({
    version: z.string(),
    creator: z.looseObject({ name: z.string(), version: z.string() }),
    entries: z.array(entrySchema).max(20_000),
  }),
});

/** An HTTP archive. */
export type Har = z.infer<typeof harSchema>;

/** One request of an HTTP archive with its response. */
export type HarEntry = Har['log']['entries'][number];
