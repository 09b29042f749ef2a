import { isJsonObject } from '../drivers/normalized-views.ts';
import {
  anyObjectSchema,
  booleanSchema,
  listSchema,
  uniqueListSchema,
  objectSchema,
  enumSchema,
  type Schema,
  textSchema,
  shortValue,
} from './schema.ts';

/** The states of 0.3. */
export const states0_3 = [
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
const id = (tag: string): Schema => textSchema(tag, { mayBeEmpty: false });
const metadata = { shape: anyObjectSchema('metadata') };
const kind = (word: string) => ({ kind: { shape: enumSchema('kind', [word]), required: 'kind' } });

/** A webhook: where news are sent. */
export const webhook0_3: Schema = objectSchema('push-config', {
  url: { shape: id('push-config'), required: 'push-config' },
  id: { shape: textSchema('push-config') },
  token: { shape: textSchema('push-config') },
});

/** Any moment of ISO 8601; 0.3 does not insist on a zone. */
const timestamp: Schema = (value, at, flaws) => {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value)))
    flaws.push({
      tag: 'timestamp',
      message: `${at} is ${shortValue(value)}, which is no moment of ISO 8601`,
    });
};

const file: Schema = (value, at, flaws) => {
  anyObjectSchema('part')(value, at, flaws);
  if (!isJsonObject(value)) return;
  const there = ['bytes', 'uri'].filter((name) => value[name] !== undefined && value[name] !== null);
  if (there.length !== 1)
    flaws.push({
      tag: 'part',
      message: `${at} has ${there.join(' and ') || 'none'} of bytes and uri; it must have one`,
    });
};

/** One piece of content, told by its kind. */
const part: Schema = (value, at, flaws) => {
  if (!isJsonObject(value)) {
    flaws.push({ tag: 'part', message: `${at} must be an object, not ${shortValue(value)}` });
    return;
  }
  const shapes: Readonly<Record<string, Schema>> = {
    text: textSchema('part'),
    file,
    data: anyObjectSchema('part'),
  };
  const { kind: word } = value;
  const shape = typeof word === 'string' ? shapes[word] : undefined;
  if (!shape || typeof word !== 'string')
    flaws.push({ tag: 'part', message: `${at}.kind is ${shortValue(word)}; it may be text, file, data` });
  else shape(value[word], `${at}.${word}`, flaws);
};

/** A message. */
const message: Schema = objectSchema('message', {
  ...kind('message'),
  messageId: { shape: id('message'), required: 'message' },
  role: { shape: enumSchema('message', ['user', 'agent']), required: 'message' },
  parts: { shape: listSchema('message', part), required: 'message' },
  contextId: { shape: textSchema('message') },
  taskId: { shape: textSchema('message') },
  metadata,
});

const status: Schema = objectSchema('status', {
  state: { shape: enumSchema('status', states0_3), required: 'status' },
  message: { shape: message },
  timestamp: { shape: timestamp },
});

const artifact: Schema = objectSchema('artifact', {
  artifactId: { shape: id('artifact'), required: 'artifact' },
  name: { shape: textSchema('artifact') },
  parts: { shape: listSchema('artifact', part), required: 'artifact' },
  metadata,
});

const ids = {
  taskId: { shape: id('event'), required: 'event' },
  contextId: { shape: id('event'), required: 'event' },
};

/** A task. */
export const task0_3: Schema = objectSchema('task', {
  ...kind('task'),
  id: { shape: id('task'), required: 'task' },
  contextId: { shape: id('task'), required: 'task' },
  status: { shape: status, required: 'task' },
  artifacts: { shape: uniqueListSchema('artifact', artifact, 'artifactId') },
  history: { shape: listSchema('task', message) },
  metadata,
});

const statusUpdate: Schema = objectSchema('event', {
  ...ids,
  status: { shape: status, required: 'event' },
  final: { shape: booleanSchema('final'), required: 'final' },
  metadata,
});

const artifactUpdate: Schema = objectSchema('event', {
  ...ids,
  artifact: { shape: artifact, required: 'event' },
  append: { shape: booleanSchema('event') },
  lastChunk: { shape: booleanSchema('event') },
  metadata,
});

/** A webhook of a task. */
export const pushConfig0_3: Schema = objectSchema('push-config', {
  taskId: { shape: id('push-config'), required: 'push-config' },
  pushNotificationConfig: { shape: webhook0_3, required: 'push-config' },
});

const kinds: Readonly<Record<string, Schema>> = {
  task: task0_3,
  message,
  'status-update': statusUpdate,
  'artifact-update': artifactUpdate,
};

/** Whatever JSON-RPC of 0.3 answers or streams, told by its kind. */
export const taggedByKind0_3: Schema = (value, at, flaws) => {
  const word = isJsonObject(value) ? value.kind : undefined;
  const shape = typeof word === 'string' ? kinds[word] : undefined;
  if (shape) shape(value, at, flaws);
  else
    flaws.push({
      tag: 'kind',
      message: `${at}.kind is ${shortValue(isJsonObject(value) ? value.kind : value)}; it may be ${Object.keys(kinds).join(', ')}`,
    });
};
