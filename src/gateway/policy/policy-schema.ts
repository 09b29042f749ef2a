import * as z from 'zod';
import { countFieldSchema, textFieldSchema } from '../../documents/field-schemas.ts';
import { policyOperationNames } from './policy-operations.ts';

/** An object whose unknown keys are reported with the known ones. */
function knownKeys<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown key; known are ${Object.keys(shape).join(', ')}`
        : undefined,
  });
}

const listOf = <T extends z.ZodType>(element: T) => z.array(element).min(1, 'must not be empty');

const callerFields = {
  principals: listOf(textFieldSchema)
    .optional()
    .describe(
      'Ids of clients, of which the caller must be one; * stands for any characters. mesh:USER names a user of the mesh.',
    ),
  issuers: listOf(textFieldSchema)
    .optional()
    .describe('Issuers of the identity, of which one must have issued it. Default: any.'),
  scopes: listOf(textFieldSchema).optional().describe('Scopes; the caller must have all of them.'),
  tenants: listOf(textFieldSchema)
    .optional()
    .describe('Tenants, of which the request must name one; * stands for any characters.'),
};

const callerSchema = z
  .union([z.literal('anyone'), knownKeys(callerFields)], {
    error: 'must be anyone, or an object with principals, issuers, scopes or tenants',
  })
  .describe('Callers: anyone, or those that all given keys describe.');

const targetFields = {
  agents: listOf(textFieldSchema)
    .optional()
    .describe('Names of agents; * stands for any characters. Default: all agents.'),
  operations: listOf(
    z.enum(policyOperationNames, { error: `must be one of ${policyOperationNames.join(', ')}` }),
  )
    .optional()
    .describe(
      'Operations; push stands for those of push configurations. Default: all operations; a limit applies to card only if it names it.',
    ),
};

const ruleSchema = z
  .union([
    knownKeys({ allow: callerSchema, ...targetFields }),
    knownKeys({ deny: callerSchema, ...targetFields }),
  ])
  .describe('Allows or denies operations of agents. The first rule that matches a call decides.');

const versionError = 'must be "1.0", "0.3" or "0.1", in quotes';

const limitSchema = knownKeys({
  ...targetFields,
  callers: callerSchema.optional(),
  versions: listOf(z.enum(['1.0', '0.3', '0.1'], { error: versionError }))
    .optional()
    .describe('Allowed protocol versions, in quotes; 0.2 counts as 0.3.'),
  transports: listOf(
    z.enum(['JSONRPC', 'HTTP+JSON', 'GRPC', 'mesh'], {
      error: 'must be JSONRPC, HTTP+JSON, GRPC or mesh',
    }),
  )
    .optional()
    .describe('Allowed transports.'),
  request_bytes: countFieldSchema.optional().describe('Maximum size of a request.'),
  parts: countFieldSchema.optional().describe('Maximum number of parts of a message.'),
  file_bytes: countFieldSchema.optional().describe('Maximum size of a file in a message.'),
  requests_per_second: countFieldSchema.optional().describe('Maximum rate, of each gateway.'),
  burst: countFieldSchema
    .optional()
    .describe('Requests at once that the rate allows. Default: requests_per_second.'),
  quota: knownKeys({
    requests: countFieldSchema.describe('Maximum number of requests.'),
    per: z
      .enum(['hour', 'day', 'month'], { error: 'must be hour, day or month' })
      .describe('Period, of the calendar in UTC.'),
  })
    .optional()
    .describe('Maximum number of requests in a period, counted in `store`.'),
  count_by: z
    .enum(['caller', 'tenant', 'all'], { error: 'must be caller, tenant or all' })
    .optional()
    .describe('Whose requests the rate and the quota count together. Default: caller.'),
}).describe('Limits the calls that it matches. All limits that match a call apply.');

/** Who may call the agents of a gateway, and how much. */
export const policySchema = knownKeys({
  default: z
    .enum(['allow', 'deny'], { error: 'must be allow or deny' })
    .optional()
    .describe(
      'Decision about calls that no rule matches. Default: deny if there are rules, otherwise allow.',
    ),
  rules: listOf(ruleSchema).optional(),
  limits: z.record(textFieldSchema, limitSchema).optional().describe('Limits by name.'),
}).describe('Who may call which operations of which agents, and how much.');

/** Parsed `policy` of a gateway file. */
export type PolicyFile = z.infer<typeof policySchema>;

/** Parsed callers of a rule or limit. */
export type CallersFile = z.infer<typeof callerSchema>;
