import * as z from 'zod';
import { booleanFieldSchema, secondsFieldSchema, textFieldSchema } from '../../documents/field-schemas.ts';

const token = { token: textFieldSchema.describe('The token or key to send.') };

const clientCredentials = z.strictObject({
  type: z.literal('oauth2_client_credentials'),
  token_url: z.url('must be a URL').describe('Where tokens are given out. https, or loopback where allowed.'),
  client_id: textFieldSchema,
  client_secret: textFieldSchema,
  scope: z.string().optional(),
  audience: z.string().optional(),
  token_cache_duration_seconds: secondsFieldSchema
    .optional()
    .describe('How long a token is used at most; `expires_in` may say less. Default 3300.'),
  client_authentication: z
    .enum(['body', 'header'])
    .optional()
    .describe('Where the id and the secret of the client go. Default body.'),
  allow_loopback_token_url: booleanFieldSchema
    .optional()
    .describe('Takes http for a token_url on this machine. For development.'),
});

/** How Dragoman proves who it is. */
export const authenticationSchema = z
  .union([
    z.discriminatedUnion(
      'type',
      [
        z.strictObject({ type: z.literal('static_bearer'), ...token }),
        z.strictObject({ type: z.literal('static_apikey'), ...token }),
        clientCredentials,
      ],
      { error: 'must be static_bearer, static_apikey or oauth2_client_credentials' },
    ),
    z.strictObject({ scheme: z.enum(['bearer', 'apikey']).optional(), ...token }),
  ])
  .describe('How Dragoman proves to the agent who it is.');

/** How Dragoman proves who it is, as a file says it. */
export type UpstreamAuthentication = z.infer<typeof authenticationSchema>;

const header = z.strictObject({
  name: z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is no name of a header'),
  value: z.string(),
});
const headers = z.union([z.array(header), z.record(z.string(), z.string())]);

/** What is said of an agent at a URL, beside its name. */
export const upstreamFields = {
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).describe('Where the agent is.'),
  display_name: z.string().optional().describe('The name that people see.'),
  agent_card_path: z
    .string()
    .optional()
    .describe('Where the card is, below the URL. Default: the usual places.'),
  agent_card_data: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('The card, for agents that have none. What is missing is filled in.'),
  authentication: authenticationSchema.optional(),
  agent_card_authentication: authenticationSchema.optional().describe('Credentials for the card alone.'),
  task_authentication: authenticationSchema.optional().describe('Credentials for everything but the card.'),
  use_auth_for_agent_card: booleanFieldSchema
    .optional()
    .describe(
      'Asks for the card with `authentication`. Default: only when it is refused without; false: never.',
    ),
  use_agent_card_url: booleanFieldSchema
    .optional()
    .describe('Sends requests where the card says; false sends them to `url`. Default true.'),
  agent_card_headers: headers.optional().describe('Headers of requests for the card.'),
  task_headers: headers.optional().describe('Headers of all other requests.'),
  forward_headers: z
    .array(z.string())
    .optional()
    .describe('Headers of callers that are passed on. Default none.'),
  ssl_verify: booleanFieldSchema.optional().describe('Looks at certificates. Default true.'),
  ssl_ca: z.string().optional().describe('A file with the authorities to trust.'),
  ssl_cert: z.string().optional().describe('A file with the certificate to show.'),
  ssl_key: z.string().optional().describe('A file with the key of that certificate.'),
  convert_progress_updates: booleanFieldSchema
    .optional()
    .describe('On a mesh, shows texts on the way as progress. Default true.'),
  request_timeout_seconds: secondsFieldSchema
    .optional()
    .describe('How long an answer, or silence on a stream, may take. Default 300.'),
  total_timeout_seconds: secondsFieldSchema
    .optional()
    .describe('How long a stream may take in all. Default no limit.'),
  redirects: z
    .enum(['nowhere', 'origin', 'anywhere'])
    .optional()
    .describe('How far 307 and 308 are followed; credentials stay at the first origin. Default anywhere.'),
  egress: z
    .strictObject({
      allow_private: booleanFieldSchema.optional(),
      allow_loopback: booleanFieldSchema.optional(),
      allow: z.array(z.string()).optional(),
    })
    .optional()
    .describe('Where cards and redirects may lead beside the public internet and the origin of `url`.'),
  a2a_version: z
    .enum(['0.1', '0.2', '0.3', '1.0'])
    .optional()
    .describe('The version to speak. Default: what the card says, or what works.'),
  transport: z.enum(['JSONRPC', 'HTTP+JSON']).optional().describe('The transport to use. Default: any.'),
  tenant: z.string().optional().describe('The tenant to name.'),
};

/** An agent at a URL: one entry of `proxied_agents`. */
export const proxiedAgentSchema = z.strictObject({
  name: textFieldSchema.describe('The name under which it is shown.'),
  ...upstreamFields,
});

/** An agent at a URL, as a file says it. */
export type ProxiedAgent = z.infer<typeof proxiedAgentSchema>;
