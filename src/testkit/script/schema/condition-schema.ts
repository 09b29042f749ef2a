import * as z from 'zod';
import { taskStates } from '../../../protocol/task.ts';

/** A value or a non-empty list of values. */
const oneOrMore = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item).min(1)]);

const matcher = {
  exact: z.string().optional().describe('The whole text.'),
  contains: z.string().optional().describe('Substring of the text.'),
  prefix: z.string().optional().describe('Start of the text.'),
  regex: z
    .string()
    .optional()
    .describe(
      'JavaScript regular expression with Unicode support, such as \\p{L}; its groups are available as {{match.1}} and {{match.name}}.',
    ),
  ignore_case: z.boolean().optional().describe('Ignores upper and lower case.'),
};

const textError = { error: 'expected a string, or one of exact, contains, prefix and regex' };

/** Matches a text. A string means `exact`. */
const textMatchSchema = z
  .union([z.string(), z.strictObject(matcher).meta({ minProperties: 1 })], textError)
  .meta({
    id: 'text-match',
    description: 'The exact text, or one of exact, contains, prefix and regex.',
  });

/** Matches a text that may be missing. */
const presenceMatchSchema = z
  .union(
    [
      z.string(),
      z
        .strictObject({
          ...matcher,
          present: z.boolean().optional().describe('Whether the value is present.'),
        })
        .meta({ minProperties: 1 }),
    ],
    textError,
  )
  .meta({
    id: 'presence-match',
    description: 'The exact text, or one of exact, contains, prefix, regex and present.',
  });

/** Matches a JSON value. */
const dataMatchSchema = z
  .strictObject({
    path: z
      .string()
      .optional()
      .describe('Path of a value, such as order.items[0].sku; by default the whole value.'),
    equals: z.unknown().optional().describe('The value as JSON.'),
    exists: z.boolean().optional().describe('Whether the value exists.'),
    text: textMatchSchema.optional().describe('The value is a string that matches.'),
    schema: z.record(z.string(), z.unknown()).optional().describe('JSON Schema of the value.'),
  })
  .meta({ id: 'data-match', minProperties: 1 });

/** Schema of `when`. All conditions must hold. */
export const conditionsSchema = z.strictObject({
  text: textMatchSchema.optional().describe('Text parts of the message, joined by line breaks.'),
  message_id: textMatchSchema.optional().describe('Message id of the client.'),
  data: oneOrMore(dataMatchSchema)
    .optional()
    .describe('Data parts of the message. Each entry must match at least one data part.'),
  metadata: oneOrMore(dataMatchSchema).optional().describe('Metadata of the message or of the request.'),
  file: z
    .strictObject({
      media_type: z.string().optional().describe('Media type, such as image/png or image/*.'),
      name: textMatchSchema.optional().describe('Name of the file.'),
      content: z.enum(['bytes', 'url']).optional().describe('Whether the part contains the bytes or a URL.'),
    })
    .optional()
    .describe('A file in the message; {} matches any file.'),
  skill: presenceMatchSchema.optional().describe('Skill in the metadata of the message.'),
  header: z.record(z.string(), presenceMatchSchema).optional().describe('Request headers by name.'),
  principal: presenceMatchSchema.optional().describe('Id of the authenticated principal.'),
  version: oneOrMore(z.enum(['0.1', '0.2', '0.3', '1.0']))
    .optional()
    .describe('Protocol version of the request, in quotes.'),
  transport: oneOrMore(z.enum(['JSONRPC', 'HTTP+JSON', 'GRPC']))
    .optional()
    .describe('Transport of the request.'),
  operation: oneOrMore(z.enum(['send', 'stream']))
    .optional()
    .describe('Operation of the request.'),
  turn: z
    .union(
      [
        z.int().min(0),
        z
          .strictObject({
            from: z.int().min(0).optional().describe('First matching turn.'),
            to: z.int().min(0).optional().describe('Last matching turn.'),
          })
          .meta({ minProperties: 1 }),
      ],
      { error: 'expected a number, or from and to' },
    )
    .optional()
    .describe('Number of earlier messages in the conversation: 0 for the first.'),
  state: z
    .record(
      z.string(),
      z.union([z.string(), z.number(), z.boolean(), z.null()], {
        error: 'expected a string, a number, true, false or null',
      }),
    )
    .optional()
    .describe('Values that were set in this conversation; null matches an unset value.'),
  task_state: oneOrMore(z.enum([...taskStates, 'none']))
    .optional()
    .describe('State of the task that the message continues; none if it starts a task.'),
});

/** YAML form of `when`. */
export type ConditionsSpec = z.infer<typeof conditionsSchema>;
/** YAML form of a text match. */
export type TextMatchSpec = z.infer<typeof presenceMatchSchema>;
/** YAML form of a data match. */
export type DataMatchSpec = z.infer<typeof dataMatchSchema>;
