import * as z from 'zod';
import { taskStates } from '../../../protocol/task.ts';

/** One thing, or several of which one is enough. */
const oneOrMore = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item).min(1)]);

const matcher = {
  exact: z.string().optional().describe('The whole text, letter for letter.'),
  contains: z.string().optional().describe('A piece of the text.'),
  prefix: z.string().optional().describe('What the text begins with.'),
  regex: z
    .string()
    .optional()
    .describe(
      'A JavaScript regular expression that knows Unicode, such as \\p{L}; templates find its groups as {{match.1}} or {{match.name}}.',
    ),
  ignore_case: z.boolean().optional().describe('Large and small letters are the same.'),
};

const notText = { error: 'expected a text, or one of exact, contains, prefix and regex' };

/** How a text is compared. A plain text is compared letter for letter. */
const textMatchFormat = z
  .union([z.string(), z.strictObject(matcher).meta({ minProperties: 1 })], notText)
  .meta({
    id: 'text-match',
    description: 'A text, compared letter for letter, or one of exact, contains, prefix and regex.',
  });

/** How a text is compared that may be missing. */
const presenceMatchFormat = z
  .union(
    [
      z.string(),
      z
        .strictObject({
          ...matcher,
          present: z.boolean().optional().describe('Whether it is there at all.'),
        })
        .meta({ minProperties: 1 }),
    ],
    notText,
  )
  .meta({
    id: 'presence-match',
    description: 'A text, compared letter for letter, or one of exact, contains, prefix, regex and present.',
  });

/** What is looked for in a JSON value. */
const dataMatchFormat = z
  .strictObject({
    path: z
      .string()
      .optional()
      .describe('The way to a value, as in order.items[0].sku; without it, all of it.'),
    equals: z.unknown().optional().describe('The value, compared as JSON.'),
    exists: z.boolean().optional().describe('Whether there is a value at all.'),
    text: textMatchFormat.optional().describe('The value is a text, and this one.'),
    schema: z.record(z.string(), z.unknown()).optional().describe('A JSON Schema that the value fits.'),
  })
  .meta({ id: 'data-match', minProperties: 1 });

/** What a rule looks at. All that is said must hold. */
export const conditionsSchema = z.strictObject({
  text: textMatchFormat
    .optional()
    .describe('The text of the message: its text parts, joined by line breaks.'),
  message_id: textMatchFormat.optional().describe('The id that the sender gave the message.'),
  data: oneOrMore(dataMatchFormat)
    .optional()
    .describe('What a data part of the message holds. Each of several must hold for some data part.'),
  metadata: oneOrMore(dataMatchFormat)
    .optional()
    .describe('What the metadata of the message holds, or else that of the request.'),
  file: z
    .strictObject({
      media_type: z.string().optional().describe('Such as image/png or image/*.'),
      name: textMatchFormat.optional().describe('The name of the file.'),
      given_as: z
        .enum(['bytes', 'url'])
        .optional()
        .describe('Whether its bytes came along, or a link to it.'),
    })
    .optional()
    .describe('A file in the message; {} is any file.'),
  skill: presenceMatchFormat.optional().describe('The skill that the message names in its metadata.'),
  header: z
    .record(z.string(), presenceMatchFormat)
    .optional()
    .describe('Headers of the request, by their names.'),
  principal: presenceMatchFormat.optional().describe('Who calls: the name that belongs to the credentials.'),
  version: oneOrMore(z.enum(['0.1', '0.2', '0.3', '1.0']))
    .optional()
    .describe('The protocol version the caller speaks, in quotes.'),
  transport: oneOrMore(z.enum(['JSONRPC', 'HTTP+JSON']))
    .optional()
    .describe('How the message came.'),
  operation: oneOrMore(z.enum(['send', 'stream']))
    .optional()
    .describe('Whether the caller waits for the answer or follows a stream.'),
  turn: z
    .union(
      [
        z.int().min(0),
        z
          .strictObject({
            from: z.int().min(0).optional().describe('This turn or a later one.'),
            to: z.int().min(0).optional().describe('This turn or an earlier one.'),
          })
          .meta({ minProperties: 1 }),
      ],
      { error: 'expected a number, or from and to' },
    )
    .optional()
    .describe('How many messages of the conversation came before: 0 for the first.'),
  state: z
    .record(
      z.string(),
      z.union([z.string(), z.number(), z.boolean(), z.null()], {
        error: 'expected a text, a number, true, false or null: the value itself',
      }),
    )
    .optional()
    .describe('What earlier rules have set in this conversation; null for what nobody has set.'),
  task_state: oneOrMore(z.enum([...taskStates, 'none']))
    .optional()
    .describe('The state of the task that the message goes on with; none for a message that begins one.'),
});

/** What a rule looks at, as it is written. */
export type ConditionsSpec = z.infer<typeof conditionsSchema>;
/** How a text is compared, as it is written. */
export type TextMatchSpec = z.infer<typeof presenceMatchFormat>;
/** What is looked for in a JSON value, as it is written. */
export type DataMatchSpec = z.infer<typeof dataMatchFormat>;
