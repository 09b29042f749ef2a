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

const part: Schema = (value, at, flaws) => {
  const there = isJsonObject(value)
    ? contents.filter((name) => value[name] !== undefined && value[name] !== null)
    : [];
  if (there.length !== 1)
    flaws.push({
      tag: 'part',
      message: `${at} has ${there.join(' and ') || 'none'} of text, file and data; it must have one`,
    });
};

const members = objectSchema('message', {
  messageId: { shape: id('message'), required: 'message' },
  role: { shape: enumSchema('message', ['user', 'agent', 'ROLE_USER', 'ROLE_AGENT']), required: 'message' },
});

const message: Schema = (value, at, flaws) => {
  members(value, at, flaws);
  if (!isJsonObject(value)) return;
  const name = value.content === undefined ? 'parts' : 'content';
  if (value[name] === undefined) flaws.push({ tag: 'message', message: `${at}.content is missing` });
  else listSchema('message', part)(value[name], `${at}.${name}`, flaws);
};

const status = objectSchema('status', {
  state: { shape: enumSchema('status', states), required: 'status' },
  message: { shape: message },
  update: { shape: message },
});

const artifact = objectSchema('artifact', {
  artifactId: { shape: id('artifact'), required: 'artifact' },
  parts: { shape: listSchema('artifact', part), required: 'artifact' },
});

/** A task. */
export const task0_3Rest: Schema = objectSchema('task', {
  id: { shape: id('task'), required: 'task' },
  contextId: { shape: id('task'), required: 'task' },
  status: { shape: status, required: 'task' },
  artifacts: { shape: uniqueListSchema('artifact', artifact, 'artifactId') },
  history: { shape: listSchema('task', message) },
  metadata: { shape: anyObjectSchema('metadata') },
});

const ids = {
  taskId: { shape: id('event'), required: 'event' },
  contextId: { shape: id('event'), required: 'event' },
};

const payloads: Readonly<Record<string, Schema>> = {
  task: task0_3Rest,
  message,
  msg: message,
  statusUpdate: objectSchema('event', { ...ids, status: { shape: status, required: 'event' } }),
  artifactUpdate: objectSchema('event', { ...ids, artifact: { shape: artifact, required: 'event' } }),
};

/** What is sent and streamed: exactly one thing, under its name. */
export const wrapped0_3Rest: Schema = (value, at, flaws) => {
  const there = isJsonObject(value) ? Object.keys(payloads).filter((name) => isJsonObject(value[name])) : [];
  if (there.length !== 1)
    flaws.push({
      tag: 'wrapped',
      message: `${at} has ${there.join(' and ') || 'none'} of ${Object.keys(payloads).join(', ')}: ${shortValue(value)}`,
    });
  for (const name of there) payloads[name]?.((value as Record<string, unknown>)[name], name, flaws);
};
