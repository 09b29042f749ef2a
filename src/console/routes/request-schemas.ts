import * as z from 'zod';
import { completeUrl } from '../../primitives/web/complete-url.ts';
import { isLocalHost } from '../../primitives/loopback.ts';
import { invalidField } from '../../protocol/errors.ts';
import { parseVariant, type ProtocolVariant } from '../../protocol/card.ts';
import type { Part } from '../../protocol/part.ts';
import { taskStates } from '../../protocol/task.ts';
import type {
  ConformanceInput,
  CredentialsInput,
  HeaderInput,
  RerunInput,
  LoadRunInput,
  LoginInput,
  NewAgent,
  ChatInput,
  ComposedRequest,
} from '../console-api.ts';
import { loginFlows } from '../../client/oauth/login-grant.ts';
import type { ComparedResult } from '../../conformance/report/compare-reports.ts';
import { loadOperations } from '../../load/load-plan.ts';
import { parseBoundedJson } from '../../primitives/json.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

const text = z.string().min(1).max(4_096);
const httpUrl = z
  .string()
  .max(4_096)
  .refine((text) => /^https?:$/.test(parseUrl(text)?.protocol ?? ''), {
    error: 'must be an absolute http or https URL, such as http://localhost:4000',
  });
const tokenUrl = httpUrl.refine(
  (text) => {
    const { protocol, hostname } = new URL(text);
    return protocol === 'https:' || isLocalHost(hostname);
  },
  { error: 'must be an https URL, because it receives a secret' },
);
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,256}$/, { error: 'must be a valid header name' });
const headerValue = z.string().regex(/^[\t\u0020-\u007E\u0080-\u00FF]{1,16384}$/, {
  error: 'must be a single line of text',
});

const credentials = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('bearer'), token: headerValue }),
  z.strictObject({ kind: z.literal('header'), name: headerName, value: headerValue }),
  z.strictObject({ kind: z.literal('basic'), user: z.string().max(4_096), password: z.string().max(4_096) }),
  z.strictObject({
    kind: z.literal('client-credentials'),
    tokenUrl,
    clientId: text,
    clientSecret: text,
    scope: text.exactOptional(),
  }),
]) satisfies z.ZodType<CredentialsInput>;

const enteredUrl = z.string().transform(completeUrl).pipe(httpUrl);

export const newAgentSchema = z.strictObject({
  url: enteredUrl,
  credentials: credentials.exactOptional(),
}) satisfies z.ZodType<NewAgent>;

const partMembers = {
  filename: z.string().exactOptional(),
  mediaType: z.string().exactOptional(),
  metadata: z.record(z.string(), z.unknown()).exactOptional(),
};

const part = z.union(
  [
    z.strictObject({ text: z.string(), ...partMembers }),
    z.strictObject({ raw: z.base64(), ...partMembers }),
    z.strictObject({ url: z.string().min(1), ...partMembers }),
    z.strictObject({ data: z.json(), ...partMembers }),
  ],
  { error: 'must have exactly one of text, raw (base64), url and data' },
) satisfies z.ZodType<Part>;

const transport = z.enum(['JSONRPC', 'HTTP+JSON', 'GRPC']);
const variant = z.strictObject({
  version: z.enum(['1.0', '0.3', '0.2', '0.1']),
  transport,
}) satisfies z.ZodType<ProtocolVariant>;

/** Becomes a file name. */
const identifier = z
  .string()
  .regex(/^[\w-]{1,64}$/, { error: 'must have up to 64 letters, digits, _ and -' });

export const chatInputSchema = z.strictObject({
  parts: z.array(part).min(1, { error: 'must have at least one part' }).max(1_000),
  taskId: text.exactOptional(),
  contextId: text.exactOptional(),
  variant: variant.exactOptional(),
  stream: z.boolean().exactOptional(),
  conversation: z.strictObject({ id: identifier, turn: identifier }).exactOptional(),
}) satisfies z.ZodType<ChatInput>;

/** Maximum length of a composed body, in characters. */
const maxComposedBody = 8 * 1_024 * 1_024;

/** Headers that the HTTP client sets itself. */
const clientHeaders =
  /^(?:host|content-length|connection|keep-alive|proxy-connection|transfer-encoding|upgrade|expect|http2-settings)$/i;

export const composedRequestSchema = z.strictObject({
  method: z.enum(['GET', 'POST', 'DELETE']),
  url: httpUrl.max(16_384),
  headers: z
    .array(
      z.strictObject({
        name: headerName.refine((name) => !clientHeaders.test(name), {
          error: 'must not be a header that the HTTP client sets, such as Host or Content-Length',
        }),
        value: z.union([z.literal(''), headerValue], { error: 'must be a single line of text' }),
      }),
    )
    .max(100),
  body: z
    .string()
    .max(maxComposedBody, { error: `must have at most ${maxComposedBody} characters` })
    .exactOptional(),
  isGrpc: z.boolean().exactOptional(),
  hasCredentials: z.boolean().exactOptional(),
}) satisfies z.ZodType<ComposedRequest>;

export const loginInputSchema = z.strictObject({
  flow: z.enum(loginFlows),
  clientId: text.exactOptional(),
  clientSecret: text.exactOptional(),
  scope: text.exactOptional(),
}) satisfies z.ZodType<LoginInput>;

export const renameSchema = z.strictObject({ name: z.string().trim().min(1).max(200) });

const header = z.strictObject({ name: headerName, value: headerValue }) satisfies z.ZodType<HeaderInput>;

export const conformanceInputSchema = z.strictObject({
  agentId: text,
  level: z.enum(['MUST', 'SHOULD', 'MAY']).exactOptional(),
  fixtures: z.enum(['fx', 'tck']).exactOptional(),
  timeout: z.number().int().min(100).max(600_000).exactOptional(),
  maxTime: z.number().int().min(1_000).max(3_600_000).exactOptional(),
  maxMessages: z.number().int().min(1).max(1_000_000).exactOptional(),
  otherUser: header.exactOptional(),
  restrictedUser: header.exactOptional(),
  webhookUrl: httpUrl.exactOptional(),
}) satisfies z.ZodType<ConformanceInput>;

export const rerunInputSchema = z.strictObject({
  test: text,
  version: z.enum(['1.0', '0.3', '0.1']),
  transport: transport.exactOptional(),
}) satisfies z.ZodType<RerunInput>;

const uploadedResult = z.object({
  test: text,
  status: z.enum(['pass', 'warn', 'fail', 'skip']),
  verdict: z.enum(['pass', 'fail', 'warn', 'not-applicable', 'inconclusive', 'error']),
  version: z.enum(['1.0', '0.3', '0.1']),
  transport: transport.exactOptional(),
}) satisfies z.ZodType<ComparedResult>;

/** A JSON report of the command or the page. Only the verdicts are kept. */
export const uploadedReportSchema = z.object({
  agentName: z.string().max(1_000),
  testDate: z.string().max(100),
  conformanceLevel: z.enum(['full', 'partial', 'minimal', 'non-conformant']),
  categories: z.record(z.string(), z.array(uploadedResult).max(10_000)),
});

/** The console process also serves the page, so its limits are lower than those of the command. */
export const loadRunInputSchema = z.strictObject({
  agentId: text,
  operation: z.enum(loadOperations),
  rate: z.number().min(0.1).max(1_000).exactOptional(),
  connections: z.number().int().min(1).max(256).exactOptional(),
  duration: z.number().min(1).max(600_000),
  warmUp: z.number().min(0).max(60_000).exactOptional(),
  text: text.exactOptional(),
  variant: variant.exactOptional(),
}) satisfies z.ZodType<LoadRunInput>;

export const pushRetrySchema = z.strictObject({ taskId: text, configId: text });

/** Records for a scenario. Their content is validated like that of a traffic file. */
export const trafficSelectionSchema = z.strictObject({
  records: z.array(z.looseObject({})).min(1, { error: 'must have at least one record' }).max(100_000),
});

const taskQuery = z.strictObject({
  contextId: text.optional(),
  state: z.enum(taskStates, { error: `must be one of ${taskStates.join(', ')}` }).optional(),
  pageSize: z.coerce.number().int().min(1).max(100).optional(),
  pageToken: text.optional(),
  tests: z.literal('hide', { error: 'must be hide' }).optional(),
});

/** Parses and validates a body. @throws {@link A2AError} `INVALID_PARAMS` with the path of the invalid field */
export function parseRequestBody<T>(schema: z.ZodType<T>, body: string): T {
  let value: unknown;
  try {
    value = parseBoundedJson(body);
  } catch {
    throw invalidField('body', 'must be JSON');
  }
  return validate(schema, value);
}

function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const { path = [], message = 'must be valid' } = error.issues[0] ?? {};
  const field = path.map((each) => (typeof each === 'number' ? `[${each}]` : `.${String(each)}`)).join('');
  throw invalidField(field.replace(/^\./, '') || 'body', message);
}

/** Parses the filters of a task list. */
export function parseTaskQuery(query: URLSearchParams): z.infer<typeof taskQuery> {
  const { variant: _variant, ...filters } = Object.fromEntries(
    [...query].filter(([, value]) => value !== ''),
  );
  return validate(taskQuery, filters);
}

/** Parses the query parameter `url` of a catalog. @returns undefined if it is missing or empty */
export function parseCatalogUrl(query: URLSearchParams): string | undefined {
  const url = query.get('url')?.trim() ?? '';
  return url === '' ? undefined : validate(z.strictObject({ url: enteredUrl }), { url }).url;
}

/** Parses the query parameter `variant`, such as `1.0/JSONRPC`. @returns undefined if it is missing or empty */
export function parseVariantParameter(query: URLSearchParams): ProtocolVariant | undefined {
  const text = query.get('variant') ?? '';
  const variant = text === '' ? undefined : parseVariant(text);
  if (text !== '' && !variant)
    throw invalidField('variant', 'must be a protocol variant, such as 1.0/JSONRPC');
  return variant;
}
