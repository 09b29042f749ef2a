import * as z from 'zod';
import { portFieldSchema, textFieldSchema } from '../documents/field-schemas.ts';
import { gatewaySchema, remoteAgentSchemas, exposedAgentFields } from '../gateway/config/gateway-schema.ts';
import type { ExclusiveVersion } from '../server/server-options.ts';

const invalidVersion = 'must be "0.1" or "0.3", in quotes';

/** Fields of an agent that runs in this process. */
const hostedFields = {
  port: portFieldSchema
    .optional()
    .describe('Port of the agent itself, besides the gateway. Default any free port.'),
  // A pattern instead of an enum, so that an invalid value is reported here and not as another kind of agent.
  only_version: z
    .string({ error: invalidVersion })
    .regex(/^0\.[13]$/, invalidVersion)
    .transform((version) => version as ExclusiveVersion)
    .optional()
    .describe(
      'The only protocol version of the agent, in quotes; the gateway translates. Default all versions.',
    ),
  ...exposedAgentFields,
};

const hostedAgentSchemas = [
  z.strictObject({
    module: textFieldSchema.describe('JavaScript file that exports an agent; runs in this process.'),
    ...hostedFields,
  }),
  z.strictObject({
    script: textFieldSchema.describe('Script of a mock agent; runs in this process.'),
    ...hostedFields,
  }),
] as const;

const serverSchema = z.strictObject({ port: portFieldSchema.optional() });

/** Configuration file of `dragoman up`: a gateway, hosted agents, MCP server and console. */
export const upSchema = gatewaySchema
  .extend({
    agents: z.record(z.string(), z.union([...remoteAgentSchemas, ...hostedAgentSchemas])),
    bridge: z
      .strictObject({
        mcp: serverSchema.describe('MCP server. Default port 4100, or any free port.'),
      })
      .optional()
      .describe('Exposes the skills of the agents as MCP tools.'),
    console: z
      .union([z.literal(false), serverSchema], {
        error: 'must be false or an object with a port, as in { port: 4200 }',
      })
      .optional()
      .describe('Console; false disables it. Default port 4200, or any free port.'),
  })
  .describe('Configuration of dragoman up');

/** Parsed configuration file of `dragoman up`. */
export type UpFile = z.infer<typeof upSchema>;

/** Returns the JSON Schema of the `dragoman up` configuration file. */
export function upJsonSchema(): { readonly [keyword: string]: unknown } {
  return { ...z.toJSONSchema(upSchema, { io: 'input' }) };
}
