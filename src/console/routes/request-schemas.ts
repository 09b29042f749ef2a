import * as z from 'zod';
import { isLocalHost } from '../../primitives/loopback.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { Part } from '../../protocol/part.ts';
import { taskStates } from '../../protocol/task.ts';
import type {
  ConformanceInput,
  CredentialsInput,
  NewAgent,
  ChatInput,
  ProtocolVariant,
} from '../console-api.ts';

const word = z.string().min(1).max(4_096);
const address = z
  .string()
  .max(4_096)
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'must be a whole address, such as http://localhost:4000',
  });
const tokenUrl = address.refine(
  (text) => {
    const { protocol, hostname } = new URL(text);
    return protocol === 'https:' || isLocalHost(hostname);
  },
  { error: 'must be https, because a secret goes there' },
);
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,256}$/, { error: 'must be the name of a header' });
const headerValue = z.string().regex(/^[\t\u0020-\u007E\u0080-\u00FF]{1,16384}$/, {
  error: 'must be one line of text',
});

const credentials = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('bearer'), token: headerValue }),
  z.strictObject({ kind: z.literal('header'), name: headerName, value: headerValue }),
  z.strictObject({ kind: z.literal('basic'), user: z.string().max(4_096), password: z.string().max(4_096) }),
  z.strictObject({
    kind: z.literal('client-credentials'),
    tokenUrl,
    clientId: word,
    clientSecret: word,
    scope: word.exactOptional(),
  }),
]) satisfies z.ZodType<CredentialsInput>;

/** An agent that somebody wants to look at. */
export const newAgentSchema = z.strictObject({
  url: address,
  credentials: credentials.exactOptional(),
}) satisfies z.ZodType<NewAgent>;

const labels = {
  filename: z.string().exactOptional(),
  mediaType: z.string().exactOptional(),
  metadata: z.record(z.string(), z.unknown()).exactOptional(),
};

const part = z.union(
  [
    z.strictObject({ text: z.string(), ...labels }),
    z.strictObject({ raw: z.base64(), ...labels }),
    z.strictObject({ url: z.string().min(1), ...labels }),
    z.strictObject({ data: z.json(), ...labels }),
  ],
  { error: 'must have exactly one of text, raw (base64), url and data' },
) satisfies z.ZodType<Part>;

const transport = z.enum(['JSONRPC', 'HTTP+JSON']);
const variant = z.strictObject({
  version: z.enum(['1.0', '0.3', '0.2', '0.1']),
  transport,
}) satisfies z.ZodType<ProtocolVariant>;

/** What a person says to an agent. */
export const chatInputSchema = z.strictObject({
  parts: z.array(part).min(1, { error: 'must have at least one part' }).max(1_000),
  taskId: word.exactOptional(),
  contextId: word.exactOptional(),
  variant: variant.exactOptional(),
  stream: z.boolean().exactOptional(),
}) satisfies z.ZodType<ChatInput>;

/** What to examine. */
export const conformanceInputSchema = z.strictObject({
  agentId: word,
  level: z.enum(['MUST', 'SHOULD', 'MAY']).exactOptional(),
  fixtures: z.enum(['fx', 'tck']).exactOptional(),
  timeout: z.number().int().min(100).max(600_000).exactOptional(),
}) satisfies z.ZodType<ConformanceInput>;

/** Which webhook to try again. */
export const pushRetrySchema = z.strictObject({ taskId: word, configId: word });

/** The records to make a scenario of; what is in them is checked where files of a tap are. */
export const trafficSelectionSchema = z.strictObject({
  records: z.array(z.looseObject({})).min(1, { error: 'must have at least one record' }).max(100_000),
});

const taskQuery = z.strictObject({
  contextId: word.optional(),
  state: z.enum(taskStates, { error: `must be one of ${taskStates.join(', ')}` }).optional(),
  pageSize: z.coerce.number().int().min(1).max(100).optional(),
  pageToken: word.optional(),
});

/** Reads a body, or says which field of it is wrong. */
export function parseRequestBody<T>(schema: z.ZodType<T>, body: string): T {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw invalidField('body', 'must be JSON');
  }
  return checked(schema, value);
}

/** Checks what was read. */
function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const { path = [], message = 'is not as it should be' } = error.issues[0] ?? {};
  const field = path.map((each) => (typeof each === 'number' ? `[${each}]` : `.${String(each)}`)).join('');
  throw invalidField(field.replace(/^\./, '') || 'body', message);
}

/** Reads which tasks somebody wants to see. */
export function parseTaskQuery(query: URLSearchParams): z.infer<typeof taskQuery> {
  const { variant: _variant, ...filters } = Object.fromEntries(
    [...query].filter(([, value]) => value !== ''),
  );
  return checked(taskQuery, filters);
}

/** Reads a way such as `1.0/JSONRPC`; undefined where none is named. */
export function parseVariant(query: URLSearchParams): ProtocolVariant | undefined {
  const text = query.get('variant');
  if (text === null || text === '') return undefined;
  const [version, ...rest] = text.split('/');
  return checked(z.strictObject({ variant }), { variant: { version, transport: rest.join('/') } }).variant;
}
