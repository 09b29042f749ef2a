import * as z from 'zod';
import { taskStates } from '../../../protocol/task.ts';
import { millisecondsSchema } from '../../faults/duration.ts';
import { scriptSchema } from '../../script/schema/script-schema.ts';

const textOrTexts = z.union([z.string(), z.array(z.string()).min(1)]);

/** A text: the exact text, or what it contains, matches or lacks. */
const textMatch = z
  .union([
    z.string(),
    z.strictObject({
      contains: textOrTexts.optional(),
      matches: z.string().optional().describe('Regular expression that matches a part of the text.'),
      excludes: textOrTexts.optional(),
    }),
  ])
  .describe('The exact text, or an object with contains, matches or excludes.');

const state = z.enum(taskStates);

const file = z.strictObject({
  name: z.string().optional().describe('File name that the agent sees.'),
  type: z.string().optional().describe('Media type.'),
  text: z.string().optional(),
  base64: z.base64('must be base64 of the standard alphabet').optional(),
  path: z.string().optional().describe('File beside the scenario.'),
  url: z.string().optional(),
});

const expectedArtifact = z.strictObject({
  name: textMatch.optional(),
  text: textMatch.optional(),
  data: z.unknown().optional().describe('Members of the first data part.'),
  file: z
    .strictObject({
      name: textMatch.optional(),
      type: z.string().optional(),
      text: textMatch.optional(),
      base64: z.string().optional(),
    })
    .optional()
    .describe('The first file.'),
});

const expectedEvent = z.union([
  z.enum([...taskStates, 'task', 'status', 'artifact', 'message', '...']),
  z.strictObject({ state, text: textMatch.optional() }),
  z.strictObject({
    artifact: textMatch.describe('Name or id.'),
    text: textMatch.optional(),
    append: z.boolean().optional(),
    last_chunk: z.boolean().optional(),
  }),
  z.strictObject({ message: textMatch }),
]);

const expectation = z.strictObject({
  state: z
    .union([state, z.array(state).min(1)])
    .optional()
    .describe('State of the task, or several.'),
  text: textMatch.optional().describe('Text of the artifacts, or else of the message.'),
  message: textMatch.optional().describe('Text of the status message or of the direct message.'),
  data: z.unknown().optional().describe('Members of the first data part.'),
  artifacts: z.array(expectedArtifact).optional().describe('The first artifacts, in order.'),
  events: z
    .array(expectedEvent)
    .optional()
    .describe('All events of the stream, in order; ... stands for any number of events.'),
  error: textMatch.optional().describe('Reason, such as TASK_NOT_FOUND, or message of the error.'),
  task: z.record(z.string(), z.unknown()).optional().describe('Members of the task.'),
});

const saved = z.union([
  z.string(),
  z.strictObject({
    from: z.string().optional().describe('Path of a text; by default text.'),
    matches: z.string().describe('Regular expression; its first group is saved.'),
  }),
]);

const taskReference = z
  .string()
  .describe('Id of the task, such as ${booking}; current is the task of the step before.');

const step = z.strictObject({
  say: z.string().optional().describe('Sends a message with this text.'),
  get: taskReference.optional(),
  cancel: taskReference.optional(),
  subscribe: taskReference.optional(),
  data: z.unknown().optional().describe('Data of the message.'),
  files: z.array(file).optional().describe('Files of the message.'),
  metadata: z.record(z.string(), z.unknown()).optional().describe('Metadata of the message.'),
  task: z
    .string()
    .optional()
    .describe('Task that the message continues, or new. By default, the current one if it waits for input.'),
  context: z.string().optional().describe('Context of the message, or new. By default, the current one.'),
  stream: z.boolean().optional().describe('False sends without a stream. Default true.'),
  immediate: z.boolean().optional().describe('Does not wait for the result; only without a stream.'),
  until: state.optional().describe('Ends the step at this state; the task continues.'),
  history: z.int().min(0).optional().describe('Number of messages of the history to get.'),
  expect: expectation.optional(),
  save: z
    .record(z.string().regex(/^[A-Za-z]\w*$/, 'must be a name of letters, digits and _'), saved)
    .optional()
    .describe('Variables from the answer: a path, such as text, taskId or artifacts[0].text, by name.'),
});

/** Schema of one conversation. */
export const conversationSchema = z.strictObject({
  scenario: z.string().min(1).describe('Name of the scenario, unique in a run.'),
  description: z.string().optional(),
  tags: z.array(z.string()).default([]),
  timeout: millisecondsSchema.default(10_000).describe('Time limit such as 30s. Default 10s.'),
  agent: z.string().optional().describe('URL of the agent. --agent overrides it.'),
  script: scriptSchema.optional().describe('Mock script that answers if there is no agent.'),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe('HTTP headers of all requests; ${env.NAME} is an environment variable.'),
  version: z.enum(['0.1', '0.2', '0.3', '1.0']).optional().describe('Protocol version. Default the newest.'),
  transport: z.enum(['JSONRPC', 'HTTP+JSON', 'GRPC']).optional(),
  steps: z.array(step).min(1).describe('What the client does, one step after the other.'),
});

/** Returns the JSON Schema of files with conversations: one, or a list. */
export function conversationJsonSchema(): { readonly [keyword: string]: unknown } {
  const file = z.union([conversationSchema, z.array(conversationSchema).min(1)]);
  return z.toJSONSchema(file, { io: 'input', reused: 'ref' });
}

/** A conversation with defaults applied. */
export type Conversation = z.output<typeof conversationSchema>;

/** One step of a conversation. */
export type ConversationStep = z.output<typeof step>;

/** Expectation of the answer of a step. */
export type StepExpectation = z.output<typeof expectation>;

/** Expectation of a text. */
export type TextMatch = z.output<typeof textMatch>;

/** Expectation of an event. */
export type ExpectedStepEvent = z.output<typeof expectedEvent>;

/** Expectation of an artifact. */
export type ExpectedStepArtifact = z.output<typeof expectedArtifact>;

/** A file of a message. */
export type StepFile = z.output<typeof file>;

/** The keys of a step of which exactly one is present. */
export const stepKinds = ['say', 'get', 'cancel', 'subscribe'] as const;

/** What a step does. */
export type StepKind = (typeof stepKinds)[number];

/** The keys that a step of each kind may have, besides `expect` and `save`. */
export const stepKeys: { readonly [Kind in StepKind]: readonly (keyof ConversationStep)[] } = {
  say: ['data', 'files', 'metadata', 'task', 'context', 'stream', 'immediate', 'until'],
  get: ['history', 'until'],
  cancel: [],
  subscribe: ['until'],
};

/** Returns what a step does. */
export function kindOf(each: ConversationStep): StepKind {
  return stepKinds.find((kind) => each[kind] !== undefined) ?? 'say';
}
