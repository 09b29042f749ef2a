import { isObject } from '../drivers/normalized-views.ts';
import { webhook } from './schemas-0_3.ts';
import { bag, flag, list, listById, object, oneOf, type Shape, text, told } from './schema.ts';

const states = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'unknown'];
const id = (tag: string): Shape => text(tag, { mayBeEmpty: false });

const part: Shape = (value, at, flaws) => {
  if (!isObject(value)) {
    flaws.push({ tag: 'part', message: `${at} must be an object, not ${told(value)}` });
    return;
  }
  const shapes: Readonly<Record<string, Shape>> = {
    text: text('part'),
    file: bag('part'),
    data: bag('part'),
  };
  // The first schema let the type be guessed.
  const guessed = Object.keys(shapes).find((name) => value[name] !== undefined) ?? '';
  const type = value.type === undefined || value.type === null ? guessed : value.type;
  const shape = typeof type === 'string' ? shapes[type] : undefined;
  if (!shape || typeof type !== 'string')
    flaws.push({ tag: 'part', message: `${at}.type is ${told(type)}; it may be text, file, data` });
  else shape(value[type], `${at}.${type}`, flaws);
};

const message: Shape = object('message', {
  role: { shape: oneOf('message', ['user', 'agent']), required: 'message' },
  parts: { shape: list('message', part), required: 'message' },
  metadata: { shape: bag('metadata') },
});

const timestamp: Shape = (value, at, flaws) => {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value)))
    flaws.push({ tag: 'timestamp', message: `${at} is ${told(value)}, which is no moment of ISO 8601` });
};

const status: Shape = object('status', {
  state: { shape: oneOf('status', states), required: 'status' },
  message: { shape: message },
  timestamp: { shape: timestamp },
});

const artifact: Shape = object('artifact', {
  parts: { shape: list('artifact', part), required: 'artifact' },
  append: { shape: flag('artifact') },
  lastChunk: { shape: flag('artifact') },
});

/** A task of 0.1. */
export const task0_1: Shape = object('task', {
  id: { shape: id('task'), required: 'task' },
  sessionId: { shape: text('task') },
  status: { shape: status, required: 'task' },
  artifacts: { shape: listById('artifact', artifact, 'index') },
  history: { shape: list('task', message) },
  metadata: { shape: bag('metadata') },
});

/** A webhook of a task of 0.1. */
export const pushConfig0_1: Shape = object('push-config', {
  id: { shape: id('push-config'), required: 'push-config' },
  pushNotificationConfig: { shape: webhook, required: 'push-config' },
});

/** An event of 0.1: a status or an artifact, told by its members. */
export const event0_1: Shape = (value, at, flaws) => {
  const isArtifact = isObject(value) && value.artifact !== undefined && value.artifact !== null;
  object(
    'event',
    isArtifact
      ? { id: { shape: id('event'), required: 'event' }, artifact: { shape: artifact, required: 'event' } }
      : {
          id: { shape: id('event'), required: 'event' },
          status: { shape: status, required: 'event' },
          final: { shape: flag('event') },
        },
  )(value, at, flaws);
};
