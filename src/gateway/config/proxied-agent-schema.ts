import * as z from 'zod';
import { booleanFieldSchema, secondsFieldSchema, textFieldSchema } from '../../documents/field-schemas.ts';

const token = { token: textFieldSchema.describe('Token or key to send.') };

const clientCredentials = z.strictObject({
  type: z.literal('oauth2_client_credentials'),
  token_url: z.url('must be a URL').describe('Token endpoint. Must be https, or loopback if allowed.'),
  client_id: textFieldSchema,
  client_secret: textFieldSchema,
  scope: z.string().optional(),
  audience: z.string().optional(),
  token_cache_duration_seconds: secondsFieldSchema
    .optional()
    .describe('Maximum lifetime of a cached token; a shorter `expires_in` takes precedence. Default 3300.'),
  client_authentication: z
    .enum(['body', 'header'])
    .optional()
    .describe('Where the client id and secret are sent. Default body.'),
  allow_loopback_token_url: booleanFieldSchema
    .optional()
    .describe('Allows an http token_url on the local host. For development.'),
});

const tokenExchange = z.strictObject({
  ...clientCredentials.shape,
  type: z.literal('token_exchange'),
  resource: z.url().optional().describe('URL of the agent for which the token is.'),
  subject_token_type: z
    .string()
    .optional()
    .describe('Type of the token of the caller. Default: access token.'),
  requested_token_type: z
    .string()
    .optional()
    .describe('Type of the token to get. Default: as the server decides.'),
  actor_token: textFieldSchema.optional().describe('Token of the gateway, which acts for the caller.'),
  actor_token_type: z.string().optional().describe('Type of actor_token. Default: access token.'),
});

/** Credentials that Dragoman sends to an upstream. */
export const authenticationSchema = z
  .union([
    z.discriminatedUnion(
      'type',
      [
        z.strictObject({ type: z.literal('static_bearer'), ...token }),
        z.strictObject({ type: z.literal('static_apikey'), ...token }),
        clientCredentials,
        z.strictObject({ type: z.literal('forward_token') }),
        tokenExchange,
      ],
      {
        error:
          'must be static_bearer, static_apikey, oauth2_client_credentials, forward_token or token_exchange',
      },
    ),
    z.strictObject({ scheme: z.enum(['bearer', 'apikey']).optional(), ...token }),
  ])
  .describe('Credentials that Dragoman sends to the agent.');

/** Parsed credentials of an upstream. */
export type UpstreamAuthentication = z.infer<typeof authenticationSchema>;

const header = z.strictObject({
  name: z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be a valid header name'),
  value: z.string(),
});
const headers = z.union([z.array(header), z.record(z.string(), z.string())]);

/** Fields of an agent at a URL, without its name. */
export const upstreamFields = {
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).describe('URL of the agent.'),
  display_name: z.string().optional().describe('Human-readable name.'),
  agent_card_path: z
    .string()
    .optional()
    .describe('Path of the card, relative to the URL. Default: the well-known paths.'),
  agent_card_data: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Card of an agent that does not serve one. Missing required fields get defaults.'),
  authentication: authenticationSchema.optional(),
  agent_card_authentication: authenticationSchema.optional().describe('Credentials for the card only.'),
  task_authentication: authenticationSchema
    .optional()
    .describe('Credentials for all requests except the card.'),
  credential_origins: z
    .union([
      z.literal('any'),
      z.array(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })),
    ])
    .optional()
    .describe(
      'Further origins that may receive the credentials and `task_headers`, if the card lists interfaces there, or `any`. Default none.',
    ),
  use_auth_for_agent_card: booleanFieldSchema
    .optional()
    .describe(
      'Sends `authentication` with card requests. Default: only after a request without it is rejected; false: never.',
    ),
  use_agent_card_url: booleanFieldSchema
    .optional()
    .describe('Sends requests to the URL in the card; false sends them to `url`. Default true.'),
  agent_card_headers: headers.optional().describe('Headers of card requests.'),
  task_headers: headers.optional().describe('Headers of all other requests.'),
  forward_headers: z.array(z.string()).optional().describe('Client headers to forward. Default none.'),
  ssl_verify: booleanFieldSchema.optional().describe('Verifies TLS certificates. Default true.'),
  ssl_ca: z.string().optional().describe('File with trusted CA certificates.'),
  ssl_cert: z.string().optional().describe('File with the client certificate.'),
  ssl_key: z.string().optional().describe('File with the private key of the client certificate.'),
  convert_progress_updates: booleanFieldSchema
    .optional()
    .describe('On a mesh, converts intermediate text to progress updates. Default true.'),
  request_timeout_seconds: secondsFieldSchema
    .optional()
    .describe('Response timeout, and idle timeout of a stream. Default 300.'),
  total_timeout_seconds: secondsFieldSchema
    .optional()
    .describe('Maximum duration of a stream. Default no limit.'),
  redirects: z
    .enum(['nowhere', 'origin', 'anywhere'])
    .optional()
    .describe(
      'Which 307 and 308 redirects are followed; credentials are sent only to the first origin. Default anywhere.',
    ),
  egress: z
    .strictObject({
      allow_private: booleanFieldSchema.optional(),
      allow_loopback: booleanFieldSchema.optional(),
      allow: z.array(z.string()).optional(),
    })
    .optional()
    .describe(
      'Destinations that cards and redirects may name besides the public internet and the origin of `url`.',
    ),
  a2a_version: z
    .enum(['0.1', '0.2', '0.3', '1.0'])
    .optional()
    .describe('Protocol version to use. Default: negotiated from the card.'),
  transport: z.enum(['JSONRPC', 'HTTP+JSON', 'GRPC']).optional().describe('Transport to use. Default: any.'),
  tenant: z.string().optional().describe('Tenant to send.'),
};

/** Entry of `proxied_agents`: an agent at a URL. */
export const proxiedAgentSchema = z.strictObject({
  name: textFieldSchema.describe('Name under which the agent is exposed.'),
  ...upstreamFields,
});

/** Parsed entry of an agent at a URL. */
export type ProxiedAgent = z.infer<typeof proxiedAgentSchema>;
