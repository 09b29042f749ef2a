import { isObject } from '../drivers/normalized-views.ts';
import { bag, list, listById, object, oneOf, type Shape, text, told } from './schema.ts';
import { states as words } from './schemas-0_3.ts';

/**
 * REST of 0.3 has the names of its protocol buffers in some agents and those of its text in others; both are taken, and
 * what neither has is wrong.
 */
const states = [
  ...words,
  ...words.map((word) => `TASK_STATE_${word.toUpperCase().replaceAll('-', '_')}`),
  'TASK_STATE_CANCELLED',
];
const id = (tag: string): Shape => text(tag, { mayBeEmpty: false });
const contents = ['text', 'file', 'data'];

const part: Shape = (value, at, flaws) => {
  const there = isObject(value)
    ? contents.filter((name) => value[name] !== undefined && value[name] !== null)
    : [];
  if (there.length !== 1)
    flaws.push({
      tag: 'part',
      message: `${at} has ${there.join(' and ') || 'none'} of text, file and data; it must have one`,
    });
};

const members = object('message', {
  messageId: { shape: id('message'), required: 'message' },
  role: { shape: oneOf('message', ['user', 'agent', 'ROLE_USER', 'ROLE_AGENT']), required: 'message' },
});

const message: Shape = (value, at, flaws) => {
  members(value, at, flaws);
  if (!isObject(value)) return;
  const name = value.content === undefined ? 'parts' : 'content';
  if (value[name] === undefined) flaws.push({ tag: 'message', message: `${at}.content is missing` });
  else list('message', part)(value[name], `${at}.${name}`, flaws);
};

const status = object('status', {
  state: { shape: oneOf('status', states), required: 'status' },
  message: { shape: message },
  update: { shape: message },
});

const artifact = object('artifact', {
  artifactId: { shape: id('artifact'), required: 'artifact' },
  parts: { shape: list('artifact', part), required: 'artifact' },
});

/** A task. */
export const task0_3Rest: Shape = object('task', {
  id: { shape: id('task'), required: 'task' },
  contextId: { shape: id('task'), required: 'task' },
  status: { shape: status, required: 'task' },
  artifacts: { shape: listById('artifact', artifact, 'artifactId') },
  history: { shape: list('task', message) },
  metadata: { shape: bag('metadata') },
});

const ids = {
  taskId: { shape: id('event'), required: 'event' },
  contextId: { shape: id('event'), required: 'event' },
};

const payloads: Readonly<Record<string, Shape>> = {
  task: task0_3Rest,
  message,
  msg: message,
  statusUpdate: object('event', { ...ids, status: { shape: status, required: 'event' } }),
  artifactUpdate: object('event', { ...ids, artifact: { shape: artifact, required: 'event' } }),
};

/** What is sent and streamed: exactly one thing, under its name. */
export const wrapped: Shape = (value, at, flaws) => {
  const there = isObject(value) ? Object.keys(payloads).filter((name) => isObject(value[name])) : [];
  if (there.length !== 1)
    flaws.push({
      tag: 'wrapped',
      message: `${at} has ${there.join(' and ') || 'none'} of ${Object.keys(payloads).join(', ')}: ${told(value)}`,
    });
  for (const name of there) payloads[name]?.((value as Record<string, unknown>)[name], name, flaws);
};
