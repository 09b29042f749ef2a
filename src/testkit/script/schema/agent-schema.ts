import * as z from 'zod';
import { faultsSchema } from './faults-schema.ts';

const texts = z.array(z.string());

const skill = z.strictObject({
  id: z.string().describe('The id of the skill.'),
  name: z.string().optional().describe('Its name; by default its id.'),
  description: z.string().optional().describe('What it does; by default what the agent does.'),
  tags: texts.optional().describe('Words to find it by.'),
  examples: texts.optional().describe('What a caller might say.'),
  input_modes: texts.optional().describe('Media types it takes.'),
  output_modes: texts.optional().describe('Media types it gives.'),
});

const flow = z
  .strictObject({
    authorization_url: z.string().optional().describe('Where people agree.'),
    token_url: z.string().optional().describe('Where tokens are given.'),
    refresh_url: z.string().optional().describe('Where tokens are given again.'),
    device_authorization_url: z.string().optional().describe('Where a device asks for its code.'),
    scopes: z.record(z.string(), z.string()).optional().describe('What may be asked for, and what it means.'),
    pkce_required: z.boolean().optional().describe('Whether a code needs its proof.'),
  })
  .meta({ id: 'oauth-flow' });

const description = z.string().optional().describe('What people should know of it.');

const scheme = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('bearer').describe('A token in the header Authorization.'),
    format: z.string().optional().describe('What tokens look like, such as JWT.'),
    description,
  }),
  z.strictObject({ type: z.literal('basic').describe('A name and a password.'), description }),
  z.strictObject({
    type: z.literal('api_key').describe('A key.'),
    in: z.enum(['header', 'query', 'cookie']).describe('Where the key comes.'),
    name: z.string().describe('The name of the header, parameter or cookie.'),
    description,
  }),
  z.strictObject({
    type: z.literal('oauth2').describe('A token of OAuth 2.'),
    flows: z
      .strictObject({
        authorization_code: flow.optional().describe('A person agrees in a browser.'),
        client_credentials: flow.optional().describe('A program has a secret of its own.'),
        implicit: flow.optional().describe('As browsers did it once.'),
        password: flow.optional().describe('The password of a person.'),
        device_code: flow.optional().describe('A code typed elsewhere.'),
      })
      .describe('The ways to a token.'),
    metadata_url: z.string().optional().describe('Where the authorization server tells of itself.'),
    description,
  }),
  z.strictObject({
    type: z.literal('open_id_connect').describe('A token of OpenID Connect.'),
    url: z.string().describe('Where the provider tells of itself.'),
    description,
  }),
  z.strictObject({ type: z.literal('mutual_tls').describe('A certificate of the caller.'), description }),
]);

/** A security scheme, as it is written. */
export type SecuritySchemeSpec = z.infer<typeof scheme>;

const security = z.strictObject({
  schemes: z
    .record(z.string(), scheme)
    .describe('The ways to prove who calls, as the card says them, by names of your choice.'),
  callers: z
    .array(
      z.strictObject({
        name: z.string().describe('Who it is: {{principal.id}}, and `principal` in `when`.'),
        scheme: z.string().optional().describe('The scheme it uses; may be left out when there is only one.'),
        secret: z.string().min(1).describe('The token, key or password.'),
        scopes: texts.optional().describe('What it may do.'),
      }),
    )
    .optional()
    .describe('Who is let in. Without it the card only says what is needed, and nobody checks.'),
  required: z
    .array(z.record(z.string(), texts))
    .optional()
    .describe(
      'Alternatives: schemes that are needed together, each with its scopes; by default any one of them.',
    ),
  optional: z.boolean().optional().describe('Lets callers without credentials in as well.'),
});

/** Who is let in, as it is written. */
export type SecuritySpec = z.infer<typeof security>;

/** What the card says, as it is written. */
export const agentSchema = z.strictObject({
  name: z.string().optional().describe('The name of the agent.'),
  description: z.string().optional().describe('What the agent does.'),
  version: z.string().optional().describe('The version of the agent, in quotes.'),
  provider: z
    .strictObject({
      organization: z.string().describe('Who runs the agent.'),
      url: z.string().optional().describe('Where to find them.'),
    })
    .optional()
    .describe('Who runs the agent.'),
  documentation_url: z.string().optional().describe('Where to read about it.'),
  icon_url: z.string().optional().describe('What it looks like.'),
  input_modes: texts.optional().describe('Media types it takes.'),
  output_modes: texts.optional().describe('Media types it gives.'),
  streaming: z.boolean().optional().describe('Whether it says that it streams; true by default.'),
  push: z.boolean().optional().describe('Whether it sends push notifications; false by default.'),
  extensions: z
    .array(
      z.strictObject({
        uri: z.string().describe('The URI of the extension.'),
        description: z.string().optional().describe('What it is for.'),
        required: z.boolean().optional().describe('Whether callers must know it.'),
        params: z.record(z.string(), z.unknown()).optional().describe('What it needs to know.'),
      }),
    )
    .optional()
    .describe('Extensions it knows.'),
  skills: z.array(skill).optional().describe('What it can do.'),
  security: security.optional().describe('How callers prove who they are, and who is let in.'),
  fault: faultsSchema
    .optional()
    .describe('What goes wrong when the card is asked for; { card: { override: … } } lies.'),
});

/** What the card says, as it is written. */
export type AgentSpec = z.infer<typeof agentSchema>;
