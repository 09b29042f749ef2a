import { isObject } from '../drivers/normalized-views.ts';
import { bag, flag, list, listById, object, oneOf, type Shape, text, told } from './schema.ts';

/** The states of 0.3. */
export const states = [
  'submitted',
  'working',
  'input-required',
  'completed',
  'canceled',
  'failed',
  'rejected',
  'auth-required',
  'unknown',
];
const id = (tag: string): Shape => text(tag, { mayBeEmpty: false });
const metadata = { shape: bag('metadata') };
const kind = (word: string) => ({ kind: { shape: oneOf('kind', [word]), required: 'kind' } });

/** A webhook: where news are sent. */
export const webhook: Shape = object('push-config', {
  url: { shape: id('push-config'), required: 'push-config' },
  id: { shape: text('push-config') },
  token: { shape: text('push-config') },
});

/** Any moment of ISO 8601; 0.3 does not insist on a zone. */
const timestamp: Shape = (value, at, flaws) => {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value)))
    flaws.push({ tag: 'timestamp', message: `${at} is ${told(value)}, which is no moment of ISO 8601` });
};

const file: Shape = (value, at, flaws) => {
  bag('part')(value, at, flaws);
  if (!isObject(value)) return;
  const there = ['bytes', 'uri'].filter((name) => value[name] !== undefined && value[name] !== null);
  if (there.length !== 1)
    flaws.push({
      tag: 'part',
      message: `${at} has ${there.join(' and ') || 'none'} of bytes and uri; it must have one`,
    });
};

/** One piece of content, told by its kind. */
const part: Shape = (value, at, flaws) => {
  if (!isObject(value)) {
    flaws.push({ tag: 'part', message: `${at} must be an object, not ${told(value)}` });
    return;
  }
  const shapes: Readonly<Record<string, Shape>> = { text: text('part'), file, data: bag('part') };
  const { kind: word } = value;
  const shape = typeof word === 'string' ? shapes[word] : undefined;
  if (!shape || typeof word !== 'string')
    flaws.push({ tag: 'part', message: `${at}.kind is ${told(word)}; it may be text, file, data` });
  else shape(value[word], `${at}.${word}`, flaws);
};

/** A message. */
const message: Shape = object('message', {
  ...kind('message'),
  messageId: { shape: id('message'), required: 'message' },
  role: { shape: oneOf('message', ['user', 'agent']), required: 'message' },
  parts: { shape: list('message', part), required: 'message' },
  contextId: { shape: text('message') },
  taskId: { shape: text('message') },
  metadata,
});

const status: Shape = object('status', {
  state: { shape: oneOf('status', states), required: 'status' },
  message: { shape: message },
  timestamp: { shape: timestamp },
});

const artifact: Shape = object('artifact', {
  artifactId: { shape: id('artifact'), required: 'artifact' },
  name: { shape: text('artifact') },
  parts: { shape: list('artifact', part), required: 'artifact' },
  metadata,
});

const ids = {
  taskId: { shape: id('event'), required: 'event' },
  contextId: { shape: id('event'), required: 'event' },
};

/** A task. */
export const task0_3: Shape = object('task', {
  ...kind('task'),
  id: { shape: id('task'), required: 'task' },
  contextId: { shape: id('task'), required: 'task' },
  status: { shape: status, required: 'task' },
  artifacts: { shape: listById('artifact', artifact, 'artifactId') },
  history: { shape: list('task', message) },
  metadata,
});

const statusUpdate: Shape = object('event', {
  ...ids,
  status: { shape: status, required: 'event' },
  final: { shape: flag('final'), required: 'final' },
  metadata,
});

const artifactUpdate: Shape = object('event', {
  ...ids,
  artifact: { shape: artifact, required: 'event' },
  append: { shape: flag('event') },
  lastChunk: { shape: flag('event') },
  metadata,
});

/** A webhook of a task. */
export const pushConfig0_3: Shape = object('push-config', {
  taskId: { shape: id('push-config'), required: 'push-config' },
  pushNotificationConfig: { shape: webhook, required: 'push-config' },
});

const kinds: Readonly<Record<string, Shape>> = {
  task: task0_3,
  message,
  'status-update': statusUpdate,
  'artifact-update': artifactUpdate,
};

/** Whatever JSON-RPC of 0.3 answers or streams, told by its kind. */
export const byKind: Shape = (value, at, flaws) => {
  const word = isObject(value) ? value.kind : undefined;
  const shape = typeof word === 'string' ? kinds[word] : undefined;
  if (shape) shape(value, at, flaws);
  else
    flaws.push({
      tag: 'kind',
      message: `${at}.kind is ${told(isObject(value) ? value.kind : value)}; it may be ${Object.keys(kinds).join(', ')}`,
    });
};
