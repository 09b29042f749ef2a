import * as z from 'zod';
import { durationSchema, millisecondsSchema } from '../../faults/duration.ts';

const metadata = z.record(z.string(), z.unknown());

const content = {
  text: z.string().optional().describe('Text; templates are filled in.'),
  data: z.unknown().optional().describe('Any JSON value; templates in its texts are filled in.'),
  url: z.string().optional().describe('A link to a file that is elsewhere.'),
  base64: z.string().optional().describe('The bytes of a file, as base64.'),
  file: z.string().optional().describe('A file beside the script, or in a folder below it.'),
  media_type: z.string().optional().describe('Such as text/csv.'),
};

const contents = ['text', 'data', 'url', 'base64', 'file'] as const;

/** The members of which a part has exactly one. */
export type PartContentKey = (typeof contents)[number];

/** Which contents a part has as it is written: exactly one, if it is right. */
export const partContentKeys = (part: { readonly [content in PartContentKey]?: unknown }): PartContentKey[] =>
  contents.filter((each) => part[each] !== undefined);

const part = z
  .strictObject({
    ...content,
    name: z.string().optional().describe('The name of the file, or of the content.'),
    metadata: metadata.optional().describe('Metadata of the part.'),
  })
  .meta({ id: 'part' });

const parts = z
  .array(z.union([z.string(), part], { error: 'expected a text or a part' }))
  .min(1)
  .describe('Several parts, each a text or a part of its own.');

const speech = z
  .union([z.string(), z.null(), part, parts], {
    error: 'expected a text, a part (with text, data, url, base64 or file), or a list of them',
  })
  .meta({ id: 'speech' });

/** A part, as it is written. */
export type PartSpec = z.infer<typeof part>;
/** What is said, as it is written. */
export type MessageSpec = z.infer<typeof speech>;

const artifact = z.strictObject({
  ...content,
  id: z
    .string()
    .optional()
    .describe('The id of the artifact; by default one that its place in the rule gives.'),
  name: z.string().optional().describe('The name of the artifact, and of its file.'),
  description: z.string().optional().describe('What the artifact is, for people.'),
  parts: parts.optional(),
  metadata: metadata.optional().describe('Metadata of the artifact.'),
});

/** An artifact, as it is written. */
export type ArtifactSpec = z.infer<typeof artifact>;

const chunks = z.strictObject({
  id: z
    .string()
    .optional()
    .describe('The id of the artifact; by default one that its place in the rule gives.'),
  name: z.string().optional().describe('The name of the artifact.'),
  description: z.string().optional().describe('What the artifact is, for people.'),
  parts: parts.describe('The pieces, one event for each.'),
  every: millisecondsSchema.optional().describe('How long to wait between two pieces.'),
  metadata: metadata.optional().describe('Metadata of the artifact.'),
});

/** One thing to do, as it is written: exactly one of these. */
export const actionSchema = z
  .strictObject({
    say: speech.optional().describe('Says something while the task is being worked on.'),
    wait: durationSchema
      .optional()
      .describe(
        'Does nothing for a while: 250ms, 2s, 10m; { min: 1s, max: 3s } or { mean: 2s, deviation: 1s }.',
      ),
    artifact: artifact.optional().describe('Gives something that the task made.'),
    chunks: chunks.optional().describe('Gives something that the task made, piece by piece.'),
    ask: speech
      .optional()
      .describe('Asks the caller for more (input-required); the next message is another turn.'),
    authenticate: speech.optional().describe('Asks the caller to prove something (auth-required).'),
    complete: speech.optional().describe('Ends the task as completed.'),
    fail: speech.optional().describe('Ends the task as failed.'),
    reject: speech.optional().describe('Ends the task as rejected.'),
    cancel: speech.optional().describe('Ends the task as canceled.'),
    message: speech.optional().describe('Answers with a message and no task.'),
    event: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'Any event as it is on the wire, such as { kind: status-update, status: { state: working } }.',
      ),
    set: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Remembers values for the rest of the conversation, for `when.state` and {{state.name}}.'),
    hang_up: z
      .union([z.literal(true), z.null()], { error: 'takes nothing, or true' })
      .optional()
      .describe('Ends the stream without a last word; the task stays as it is.'),
  })
  .meta({ id: 'action', minProperties: 1, maxProperties: 1 });

/** One thing to do, as it is written. */
export type ActionSpec = z.infer<typeof actionSchema>;
