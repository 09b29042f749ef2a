import * as z from 'zod';
import { faultsSchema } from './faults-schema.ts';

const strings = z.array(z.string());

const skill = z.strictObject({
  id: z.string().describe('Id of the skill.'),
  name: z.string().optional().describe('Name; by default the id.'),
  description: z.string().optional().describe('Description; by default that of the agent.'),
  tags: strings.optional().describe('Keywords.'),
  examples: strings.optional().describe('Example prompts.'),
  input_modes: strings.optional().describe('Accepted media types.'),
  output_modes: strings.optional().describe('Produced media types.'),
});

const flow = z
  .strictObject({
    authorization_url: z.string().optional().describe('Authorization endpoint.'),
    token_url: z.string().optional().describe('Token endpoint.'),
    refresh_url: z.string().optional().describe('Refresh endpoint.'),
    device_authorization_url: z.string().optional().describe('Device authorization endpoint.'),
    scopes: z.record(z.string(), z.string()).optional().describe('Descriptions by scope.'),
    pkce_required: z.boolean().optional().describe('Whether PKCE is required.'),
  })
  .meta({ id: 'oauth-flow' });

const description = z.string().optional().describe('Description for humans.');

const scheme = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('bearer').describe('Bearer token in the Authorization header.'),
    format: z.string().optional().describe('Token format, such as JWT.'),
    description,
  }),
  z.strictObject({ type: z.literal('basic').describe('HTTP Basic: user name and password.'), description }),
  z.strictObject({
    type: z.literal('api_key').describe('API key.'),
    in: z.enum(['header', 'query', 'cookie']).describe('Location of the key.'),
    name: z.string().describe('Name of the header, query parameter or cookie.'),
    description,
  }),
  z.strictObject({
    type: z.literal('oauth2').describe('OAuth 2.0 token.'),
    flows: z
      .strictObject({
        authorization_code: flow.optional().describe('Authorization code flow.'),
        client_credentials: flow.optional().describe('Client credentials flow.'),
        implicit: flow.optional().describe('Implicit flow (deprecated).'),
        password: flow.optional().describe('Password flow (deprecated).'),
        device_code: flow.optional().describe('Device code flow.'),
      })
      .describe('OAuth flows.'),
    metadata_url: z.string().optional().describe('URL of the authorization server metadata.'),
    description,
  }),
  z.strictObject({
    type: z.literal('open_id_connect').describe('OpenID Connect token.'),
    url: z.string().describe('URL of the OpenID configuration.'),
    description,
  }),
  z.strictObject({ type: z.literal('mutual_tls').describe('Client certificate.'), description }),
]);

/** YAML form of a security scheme. */
export type SecuritySchemeSpec = z.infer<typeof scheme>;

const security = z.strictObject({
  schemes: z.record(z.string(), scheme).describe('Security schemes of the card, by name.'),
  clients: z
    .array(
      z.strictObject({
        name: z.string().describe('Id of the principal, for {{principal.id}} and `when.principal`.'),
        scheme: z.string().optional().describe('Name of the scheme; optional if there is only one.'),
        secret: z.string().min(1).describe('Token, API key or password.'),
        scopes: strings.optional().describe('Granted scopes.'),
      }),
    )
    .optional()
    .describe('Accepted clients. Without it, credentials are declared in the card and not checked.'),
  required: z
    .array(z.record(z.string(), strings))
    .optional()
    .describe(
      'Alternatives; each lists the schemes that are required together, with scopes. By default any scheme.',
    ),
  optional: z.boolean().optional().describe('Also accepts clients without credentials.'),
});

/** YAML form of `agent.security`. */
export type SecuritySpec = z.infer<typeof security>;

/** Schema of the `agent` section. */
export const agentSchema = z.strictObject({
  name: z.string().optional().describe('Name of the agent.'),
  description: z.string().optional().describe('Description of the agent.'),
  version: z.string().optional().describe('Version of the agent, in quotes.'),
  provider: z
    .strictObject({
      organization: z.string().describe('Name of the organization.'),
      url: z.string().optional().describe('Website of the organization.'),
    })
    .optional()
    .describe('Provider of the agent.'),
  documentation_url: z.string().optional().describe('URL of the documentation.'),
  icon_url: z.string().optional().describe('URL of the icon.'),
  input_modes: strings.optional().describe('Accepted media types.'),
  output_modes: strings.optional().describe('Produced media types.'),
  streaming: z.boolean().optional().describe('Streaming capability; true by default.'),
  push: z.boolean().optional().describe('Push notification capability; false by default.'),
  extensions: z
    .array(
      z.strictObject({
        uri: z.string().describe('URI of the extension.'),
        description: z.string().optional().describe('Description of the extension.'),
        required: z.boolean().optional().describe('Whether clients must support it.'),
        params: z.record(z.string(), z.unknown()).optional().describe('Parameters of the extension.'),
      }),
    )
    .optional()
    .describe('Supported extensions.'),
  skills: z.array(skill).optional().describe('Skills of the agent.'),
  security: security.optional().describe('Security schemes and accepted clients.'),
  fault: faultsSchema
    .optional()
    .describe('Faults of card requests; { card: { override: … } } changes the card.'),
});

/** YAML form of the `agent` section. */
export type AgentSpec = z.infer<typeof agentSchema>;
