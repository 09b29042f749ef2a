import * as z from 'zod';
import { portFieldSchema, textFieldSchema } from '../documents/field-schemas.ts';
import { gatewaySchema, remoteAgentSchemas, exposedAgentFields } from '../gateway/config/gateway-schema.ts';
import type { ExclusiveVersion } from '../server/server-options.ts';

const notSpoken = 'must be "0.1" or "0.3", in quotes';

/** What is said of an agent that runs here. */
const hostedFields = {
  port: portFieldSchema
    .optional()
    .describe('Where it listens itself, beside the gateway. Default any free one.'),
  // A pattern and not an enumeration, so that a mistake in it is not taken for another form of agent.
  speaks: z
    .string({ error: notSpoken })
    .regex(/^0\.[13]$/, notSpoken)
    .transform((version) => version as ExclusiveVersion)
    .optional()
    .describe('The only version that it understands, in quotes; the gateway translates. Default every one.'),
  ...exposedAgentFields,
};

const hostedForms = [
  z.strictObject({
    module: textFieldSchema.describe('A JavaScript file that exports an agent, which is run here.'),
    ...hostedFields,
  }),
  z.strictObject({
    script: textFieldSchema.describe('A script of a test agent, which is played here.'),
    ...hostedFields,
  }),
] as const;

const place = z.strictObject({ port: portFieldSchema.optional() });

/** The file of `dragoman up`: that of a gateway, and what runs around it. */
export const upSchema = gatewaySchema
  .extend({
    agents: z.record(z.string(), z.union([...remoteAgentSchemas, ...hostedForms])),
    bridge: z
      .strictObject({
        mcp: place.describe('Where MCP is served. Default port 4100, or any free one.'),
      })
      .optional()
      .describe('Shows the skills of the agents as tools.'),
    console: z
      .union([z.literal(false), place], { error: 'must be false, or say where, as in { port: 4200 }' })
      .optional()
      .describe('Where the console is; false for none. Default port 4200, or any free one.'),
  })
  .describe('What dragoman up runs');

/** The file of `dragoman up`, as it is written. */
export type UpFile = z.infer<typeof upSchema>;

/** The JSON Schema of the file, for editors. */
export function upJsonSchema(): { readonly [keyword: string]: unknown } {
  return { ...z.toJSONSchema(upSchema, { io: 'input' }) };
}
