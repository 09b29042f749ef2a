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

const part: Schema = (value, at, flaws) => {
  if (!isJsonObject(value)) {
    flaws.push({ tag: 'part', message: `${at} must be an object, not ${shortValue(value)}` });
    return;
  }
  const shapes: Readonly<Record<string, Schema>> = {
    text: textSchema('part'),
    file: anyObjectSchema('part'),
    data: anyObjectSchema('part'),
  };
  // The first schema let the type be guessed.
  const guessed = Object.keys(shapes).find((name) => value[name] !== undefined) ?? '';
  const type = value.type === undefined || value.type === null ? guessed : value.type;
  const shape = typeof type === 'string' ? shapes[type] : undefined;
  if (!shape || typeof type !== 'string')
    flaws.push({ tag: 'part', message: `${at}.type is ${shortValue(type)}; it may be text, file, data` });
  else shape(value[type], `${at}.${type}`, flaws);
};

const message: Schema = objectSchema('message', {
  role: { shape: enumSchema('message', ['user', 'agent']), required: 'message' },
  parts: { shape: listSchema('message', part), required: 'message' },
  metadata: { shape: anyObjectSchema('metadata') },
});

const timestamp: Schema = (value, at, flaws) => {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value)))
    flaws.push({
      tag: 'timestamp',
      message: `${at} is ${shortValue(value)}, which is no moment of ISO 8601`,
    });
};

const status: Schema = objectSchema('status', {
  state: { shape: enumSchema('status', states), required: 'status' },
  message: { shape: message },
  timestamp: { shape: timestamp },
});

const artifact: Schema = objectSchema('artifact', {
  parts: { shape: listSchema('artifact', part), required: 'artifact' },
  append: { shape: booleanSchema('artifact') },
  lastChunk: { shape: booleanSchema('artifact') },
});

/** A task of 0.1. */
export const task0_1: Schema = objectSchema('task', {
  id: { shape: id('task'), required: 'task' },
  sessionId: { shape: textSchema('task') },
  status: { shape: status, required: 'task' },
  artifacts: { shape: uniqueListSchema('artifact', artifact, 'index') },
  history: { shape: listSchema('task', message) },
  metadata: { shape: anyObjectSchema('metadata') },
});

/** A webhook of a task of 0.1. */
export const pushConfig0_1: Schema = objectSchema('push-config', {
  id: { shape: id('push-config'), required: 'push-config' },
  pushNotificationConfig: { shape: webhook0_3, required: 'push-config' },
});

/** An event of 0.1: a status or an artifact, told by its members. */
export const event0_1: Schema = (value, at, flaws) => {
  const isArtifact = isJsonObject(value) && value.artifact !== undefined && value.artifact !== null;
  objectSchema(
    'event',
    isArtifact
      ? { id: { shape: id('event'), required: 'event' }, artifact: { shape: artifact, required: 'event' } }
      : {
          id: { shape: id('event'), required: 'event' },
          status: { shape: status, required: 'event' },
          final: { shape: booleanSchema('event') },
        },
  )(value, at, flaws);
};
