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
const metadata = { schema: anyObjectSchema('metadata') };
const kind = (word: string) => ({ kind: { schema: enumSchema('kind', [word]), required: 'kind' } });

/** A webhook: where news are sent. */
export const webhook0_3: Schema = objectSchema('push-config', {
  url: { schema: id('push-config'), required: 'push-config' },
  id: { schema: textSchema('push-config') },
  token: { schema: textSchema('push-config') },
});

/** Any moment of ISO 8601; 0.3 does not insist on a zone. */
const timestamp: Schema = (value, at, errors) => {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value)))
    errors.push({
      tag: 'timestamp',
      message: `${at} is ${shortValue(value)}, which is no moment of ISO 8601`,
    });
};

const file: Schema = (value, at, errors) => {
  anyObjectSchema('part')(value, at, errors);
  if (!isJsonObject(value)) return;
  const there = ['bytes', 'uri'].filter((name) => value[name] !== undefined && value[name] !== null);
  if (there.length !== 1)
    errors.push({
      tag: 'part',
      message: `${at} has ${there.join(' and ') || 'none'} of bytes and uri; it must have one`,
    });
};

/** One piece of content, told by its kind. */
const part: Schema = (value, at, errors) => {
  if (!isJsonObject(value)) {
    errors.push({ tag: 'part', message: `${at} must be an object, not ${shortValue(value)}` });
    return;
  }
  const schemas: Readonly<Record<string, Schema>> = {
    text: textSchema('part'),
    file,
    data: anyObjectSchema('part'),
  };
  const { kind: word } = value;
  const schema = typeof word === 'string' ? schemas[word] : undefined;
  if (!schema || typeof word !== 'string')
    errors.push({ tag: 'part', message: `${at}.kind is ${shortValue(word)}; it may be text, file, data` });
  else schema(value[word], `${at}.${word}`, errors);
};

/** A message. */
const message: Schema = objectSchema('message', {
  ...kind('message'),
  messageId: { schema: id('message'), required: 'message' },
  role: { schema: enumSchema('message', ['user', 'agent']), required: 'message' },
  parts: { schema: listSchema('message', part), required: 'message' },
  contextId: { schema: textSchema('message') },
  taskId: { schema: textSchema('message') },
  metadata,
});

const status: Schema = objectSchema('status', {
  state: { schema: enumSchema('status', states0_3), required: 'status' },
  message: { schema: message },
  timestamp: { schema: timestamp },
});

const artifact: Schema = objectSchema('artifact', {
  artifactId: { schema: id('artifact'), required: 'artifact' },
  name: { schema: textSchema('artifact') },
  parts: { schema: listSchema('artifact', part), required: 'artifact' },
  metadata,
});

const ids = {
  taskId: { schema: id('event'), required: 'event' },
  contextId: { schema: id('event'), required: 'event' },
};

/** A task. */
export const task0_3: Schema = objectSchema('task', {
  ...kind('task'),
  id: { schema: id('task'), required: 'task' },
  contextId: { schema: id('task'), required: 'task' },
  status: { schema: status, required: 'task' },
  artifacts: { schema: uniqueListSchema('artifact', artifact, 'artifactId') },
  history: { schema: listSchema('task', message) },
  metadata,
});

const statusUpdate: Schema = objectSchema('event', {
  ...ids,
  status: { schema: status, required: 'event' },
  final: { schema: booleanSchema('final'), required: 'final' },
  metadata,
});

const artifactUpdate: Schema = objectSchema('event', {
  ...ids,
  artifact: { schema: artifact, required: 'event' },
  append: { schema: booleanSchema('event') },
  lastChunk: { schema: booleanSchema('event') },
  metadata,
});

/** A webhook of a task. */
export const pushConfig0_3: Schema = objectSchema('push-config', {
  taskId: { schema: id('push-config'), required: 'push-config' },
  pushNotificationConfig: { schema: webhook0_3, required: 'push-config' },
});

const kinds: Readonly<Record<string, Schema>> = {
  task: task0_3,
  message,
  'status-update': statusUpdate,
  'artifact-update': artifactUpdate,
};

/** Whatever JSON-RPC of 0.3 answers or streams, told by its kind. */
export const taggedByKind0_3: Schema = (value, at, errors) => {
  const word = isJsonObject(value) ? value.kind : undefined;
  const schema = typeof word === 'string' ? kinds[word] : undefined;
  if (schema) schema(value, at, errors);
  else
    errors.push({
      tag: 'kind',
      message: `${at}.kind is ${shortValue(isJsonObject(value) ? value.kind : value)}; it may be ${Object.keys(kinds).join(', ')}`,
    });
};
