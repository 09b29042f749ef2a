import { isJsonObject } from '../drivers/normalized-views.ts';
import {
  anyObjectSchema,
  listSchema,
  uniqueListSchema,
  objectSchema,
  enumSchema,
  type Schema,
  textSchema,
  shortValue,
} from './schema.ts';
import { states0_3 as words } from './schemas-0_3.ts';

/**
 * REST of 0.3 has the names of its protocol buffers in some agents and those of its text in others; both are taken, and
 * what neither has is wrong.
 */
const states = [
  ...words,
  ...words.map((word) => `TASK_STATE_${word.toUpperCase().replaceAll('-', '_')}`),
  'TASK_STATE_CANCELLED',
];
const id = (tag: string): Schema => textSchema(tag, { mayBeEmpty: false });
const contents = ['text', 'file', 'data'];

const part: Schema = (value, at, errors) => {
  const there = isJsonObject(value)
    ? contents.filter((name) => value[name] !== undefined && value[name] !== null)
    : [];
  if (there.length !== 1)
    errors.push({
      tag: 'part',
      message: `${at} has ${there.join(' and ') || 'none'} of text, file and data; it must have one`,
    });
};

const members = objectSchema('message', {
  messageId: { schema: id('message'), required: 'message' },
  role: { schema: enumSchema('message', ['user', 'agent', 'ROLE_USER', 'ROLE_AGENT']), required: 'message' },
});

const message: Schema = (value, at, errors) => {
  members(value, at, errors);
  if (!isJsonObject(value)) return;
  const name = value.content === undefined ? 'parts' : 'content';
  if (value[name] === undefined) errors.push({ tag: 'message', message: `${at}.content is missing` });
  else listSchema('message', part)(value[name], `${at}.${name}`, errors);
};

const status = objectSchema('status', {
  state: { schema: enumSchema('status', states), required: 'status' },
  message: { schema: message },
  update: { schema: message },
});

const artifact = objectSchema('artifact', {
  artifactId: { schema: id('artifact'), required: 'artifact' },
  parts: { schema: listSchema('artifact', part), required: 'artifact' },
});

/** A task. */
export const task0_3Rest: Schema = objectSchema('task', {
  id: { schema: id('task'), required: 'task' },
  contextId: { schema: id('task'), required: 'task' },
  status: { schema: status, required: 'task' },
  artifacts: { schema: uniqueListSchema('artifact', artifact, 'artifactId') },
  history: { schema: listSchema('task', message) },
  metadata: { schema: anyObjectSchema('metadata') },
});

const ids = {
  taskId: { schema: id('event'), required: 'event' },
  contextId: { schema: id('event'), required: 'event' },
};

const payloads: Readonly<Record<string, Schema>> = {
  task: task0_3Rest,
  message,
  msg: message,
  statusUpdate: objectSchema('event', { ...ids, status: { schema: status, required: 'event' } }),
  artifactUpdate: objectSchema('event', { ...ids, artifact: { schema: artifact, required: 'event' } }),
};

/** What is sent and streamed: exactly one thing, under its name. */
export const wrapped0_3Rest: Schema = (value, at, errors) => {
  const there = isJsonObject(value) ? Object.keys(payloads).filter((name) => isJsonObject(value[name])) : [];
  if (there.length !== 1)
    errors.push({
      tag: 'wrapped',
      message: `${at} has ${there.join(' and ') || 'none'} of ${Object.keys(payloads).join(', ')}: ${shortValue(value)}`,
    });
  for (const name of there) payloads[name]?.((value as Record<string, unknown>)[name], name, errors);
};
