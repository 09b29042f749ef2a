import { isJsonObject } from '../drivers/normalized-views.ts';
import { webhook0_3 } from './schemas-0_3.ts';
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

const states = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'unknown'];
const id = (tag: string): Schema => textSchema(tag, { mayBeEmpty: false });

const part: Schema = (value, at, errors) => {
  if (!isJsonObject(value)) {
    errors.push({ tag: 'part', message: `${at} must be an object, not ${shortValue(value)}` });
    return;
  }
  const schemas: Readonly<Record<string, Schema>> = {
    text: textSchema('part'),
    file: anyObjectSchema('part'),
    data: anyObjectSchema('part'),
  };
  // The first schema let the type be guessed.
  const guessed = Object.keys(schemas).find((name) => value[name] !== undefined) ?? '';
  const type = value.type === undefined || value.type === null ? guessed : value.type;
  const schema = typeof type === 'string' ? schemas[type] : undefined;
  if (!schema || typeof type !== 'string')
    errors.push({ tag: 'part', message: `${at}.type is ${shortValue(type)}; it may be text, file, data` });
  else schema(value[type], `${at}.${type}`, errors);
};

const message: Schema = objectSchema('message', {
  role: { schema: enumSchema('message', ['user', 'agent']), required: 'message' },
  parts: { schema: listSchema('message', part), required: 'message' },
  metadata: { schema: anyObjectSchema('metadata') },
});

const timestamp: Schema = (value, at, errors) => {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value)))
    errors.push({
      tag: 'timestamp',
      message: `${at} is ${shortValue(value)}, which is no moment of ISO 8601`,
    });
};

const status: Schema = objectSchema('status', {
  state: { schema: enumSchema('status', states), required: 'status' },
  message: { schema: message },
  timestamp: { schema: timestamp },
});

const artifact: Schema = objectSchema('artifact', {
  parts: { schema: listSchema('artifact', part), required: 'artifact' },
  append: { schema: booleanSchema('artifact') },
  lastChunk: { schema: booleanSchema('artifact') },
});

/** A task of 0.1. */
export const task0_1: Schema = objectSchema('task', {
  id: { schema: id('task'), required: 'task' },
  sessionId: { schema: textSchema('task') },
  status: { schema: status, required: 'task' },
  artifacts: { schema: uniqueListSchema('artifact', artifact, 'index') },
  history: { schema: listSchema('task', message) },
  metadata: { schema: anyObjectSchema('metadata') },
});

/** A webhook of a task of 0.1. */
export const pushConfig0_1: Schema = objectSchema('push-config', {
  id: { schema: id('push-config'), required: 'push-config' },
  pushNotificationConfig: { schema: webhook0_3, required: 'push-config' },
});

/** An event of 0.1: a status or an artifact, told by its members. */
export const event0_1: Schema = (value, at, errors) => {
  const isArtifact = isJsonObject(value) && value.artifact !== undefined && value.artifact !== null;
  objectSchema(
    'event',
    isArtifact
      ? { id: { schema: id('event'), required: 'event' }, artifact: { schema: artifact, required: 'event' } }
      : {
          id: { schema: id('event'), required: 'event' },
          status: { schema: status, required: 'event' },
          final: { schema: booleanSchema('event') },
        },
  )(value, at, errors);
};
