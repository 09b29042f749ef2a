import * as z from 'zod';
import { durationSchema, millisecondsSchema } from '../../faults/duration.ts';

const metadata = z.record(z.string(), z.unknown());

const content = {
  text: z.string().optional().describe('Text with templates.'),
  data: z.unknown().optional().describe('Any JSON value with templates in its strings.'),
  url: z.string().optional().describe('URL of a file.'),
  base64: z.string().optional().describe('Content of a file as base64.'),
  file: z.string().optional().describe('Path of a file in the folder of the script.'),
  media_type: z.string().optional().describe('Media type, such as text/csv.'),
};

const contentKeys = ['text', 'data', 'url', 'base64', 'file'] as const;

/** Key of the content of a part; a part has exactly one. */
export type PartContentKey = (typeof contentKeys)[number];

/** Returns the content keys of a part; exactly one if the part is valid. */
export const partContentKeys = (part: { readonly [content in PartContentKey]?: unknown }): PartContentKey[] =>
  contentKeys.filter((each) => part[each] !== undefined);

const part = z
  .strictObject({
    ...content,
    name: z.string().optional().describe('Name of the file or content.'),
    metadata: metadata.optional().describe('Metadata of the part.'),
  })
  .meta({ id: 'part' });

const parts = z
  .array(z.union([z.string(), part], { error: 'expected a string or a part' }))
  .min(1)
  .describe('List of strings and parts.');

const message = z
  .union([z.string(), z.null(), part, parts], {
    error: 'expected a string, a part (with text, data, url, base64 or file), or a list of them',
  })
  .meta({ id: 'message' });

/** YAML form of a part. */
export type PartSpec = z.infer<typeof part>;
/** YAML form of a message. */
export type MessageSpec = z.infer<typeof message>;

const artifactLabels = {
  id: z.string().optional().describe('Id of the artifact; by default derived from its position in the rule.'),
  name: z.string().optional().describe('Name of the artifact and of its file.'),
  description: z.string().optional().describe('Description of the artifact for humans.'),
  metadata: metadata.optional().describe('Metadata of the artifact.'),
};

const artifact = z.strictObject({ ...content, ...artifactLabels, parts: parts.optional() });

/** YAML form of an artifact. */
export type ArtifactSpec = z.infer<typeof artifact>;

const chunks = z.strictObject({
  ...artifactLabels,
  parts: parts.describe('The chunks; one event per chunk.'),
  every: millisecondsSchema.optional().describe('Delay between two chunks.'),
});

/** Schema of an action: exactly one of these keys. */
export const actionSchema = z
  .strictObject({
    say: message.optional().describe('Sends a working status with a message.'),
    wait: durationSchema
      .optional()
      .describe('Waits: 250ms, 2s, 10m; { min: 1s, max: 3s } or { mean: 2s, deviation: 1s }.'),
    artifact: artifact.optional().describe('Sends an artifact.'),
    chunks: chunks.optional().describe('Sends an artifact in chunks.'),
    ask: message
      .optional()
      .describe('Requests input (input-required); the next message starts another turn.'),
    authenticate: message.optional().describe('Requests authentication (auth-required).'),
    complete: message.optional().describe('Completes the task.'),
    fail: message.optional().describe('Fails the task.'),
    reject: message.optional().describe('Rejects the task.'),
    cancel: message.optional().describe('Cancels the task.'),
    message: message.optional().describe('Responds with a direct message, without a task.'),
    event: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Any event in wire format, such as { kind: status-update, status: { state: working } }.'),
    set: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Stores values in the conversation, for `when.state` and {{state.name}}.'),
    abandon: z
      .union([z.literal(true), z.null()], { error: 'must be true or empty' })
      .optional()
      .describe('Closes the stream without a final event; the task keeps its state.'),
  })
  .meta({ id: 'action', minProperties: 1, maxProperties: 1 });

/** YAML form of an action. */
export type ActionSpec = z.infer<typeof actionSchema>;
