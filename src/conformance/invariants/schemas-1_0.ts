import { isObject } from '../drivers/normalized-views.ts';
import {
  anything,
  bag,
  type Flaw,
  flag,
  list,
  listById,
  object,
  oneOf,
  type Shape,
  text,
  told,
} from './schema.ts';

const states = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
];

const id = (tag: string): Shape => text(tag, { mayBeEmpty: false });
const metadata = { shape: bag('metadata') };
const extensions = { shape: list('extensions', text('extensions')) };

/** A moment: ISO 8601 in UTC. */
const timestamp: Shape = (value, at, flaws) => {
  if (
    typeof value !== 'string' ||
    !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?$/.test(value)
  )
    flaws.push({ tag: 'timestamp', message: `${at} is ${told(value)}, which is no moment of ISO 8601` });
  else if (Number.isNaN(Date.parse(value)))
    flaws.push({ tag: 'timestamp', message: `${at} is ${told(value)}, which is no moment at all` });
  else if (!value.endsWith('Z'))
    flaws.push({ tag: 'utc', message: `${at} is ${told(value)}; moments are in UTC and end with Z` });
  else if (!/\.\d{3}/.test(value))
    flaws.push({ tag: 'milliseconds', message: `${at} is ${told(value)}, without milliseconds` });
};

const contents = ['text', 'raw', 'url', 'data'];

const labels = object(
  'part',
  { filename: { shape: text('part') }, mediaType: { shape: text('part') }, metadata },
  'camel',
);

/** One piece of content. */
const part: Shape = (value, at, flaws) => {
  if (!isObject(value)) {
    flaws.push({ tag: 'part', message: `${at} must be an object, not ${told(value)}` });
    return;
  }
  // A null is content as data, and absence as anything else.
  const there = contents.filter((name) =>
    name === 'data' ? name in value : value[name] !== undefined && value[name] !== null,
  );
  if (there.length !== 1)
    flaws.push({
      tag: 'part',
      message: `${at} has ${there.length === 0 ? 'none' : there.join(' and ')} of text, raw, url and data; it must have one`,
    });
  const { text: words, raw, url } = value;
  if (words !== undefined && words !== null) text('part')(words, `${at}.text`, flaws);
  if (url !== undefined && url !== null) text('part')(url, `${at}.url`, flaws);
  if (raw !== undefined && raw !== null && !isBase64(raw))
    flaws.push({ tag: 'raw', message: `${at}.raw is ${told(raw)}, which is no base64` });
  if ('kind' in value || 'type' in value || 'file' in value)
    flaws.push({
      tag: 'foreign',
      message: `${at} has the words of an older version: ${Object.keys(value).join(', ')}`,
    });
  labels(value, at, flaws);
};

function isBase64(value: unknown): boolean {
  return typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}

const role: Shape = (value, at, flaws) => {
  oneOf(value === 'user' || value === 'agent' ? 'enum' : 'role', ['ROLE_USER', 'ROLE_AGENT'])(
    value,
    at,
    flaws,
  );
};

/** A message. */
const message: Shape = withoutKind(
  object(
    'message',
    {
      messageId: { shape: id('message'), required: 'message' },
      role: { shape: role, required: 'message' },
      parts: { shape: list('message', part, { min: 1, minTag: 'empty' }), required: 'message' },
      contextId: { shape: text('message') },
      taskId: { shape: text('message') },
      referenceTaskIds: { shape: list('message', text('message')) },
      extensions,
      metadata,
    },
    'camel',
  ),
);

const state: Shape = (value, at, flaws) => {
  if (typeof value === 'number' || /^[a-z-]+$/.test(String(value)))
    flaws.push({
      tag: 'enum',
      message: `${at} is ${told(value)}; states are written such as TASK_STATE_WORKING`,
    });
  else oneOf('status', states)(value, at, flaws);
};

/** A status. */
const status: Shape = object(
  'status',
  {
    state: { shape: state, required: 'status' },
    message: { shape: message },
    timestamp: { shape: timestamp },
  },
  'camel',
);

/** An artifact. */
const artifact: Shape = object(
  'artifact',
  {
    artifactId: { shape: id('artifact'), required: 'artifact' },
    name: { shape: text('artifact') },
    description: { shape: text('artifact') },
    parts: { shape: list('artifact', part, { min: 1, minTag: 'empty' }), required: 'artifact' },
    extensions,
    metadata,
  },
  'camel',
);

/** A task. */
export const task: Shape = withoutKind(
  object(
    'task',
    {
      id: { shape: id('task'), required: 'task' },
      contextId: { shape: id('task-context'), required: 'task-context' },
      status: { shape: status, required: 'task' },
      artifacts: { shape: listById('artifact', artifact, 'artifactId') },
      history: { shape: list('task', message) },
      metadata,
    },
    'camel',
  ),
);

/** Older versions mark everything with its kind; 1.0 marks nothing. */
function withoutKind(shape: Shape): Shape {
  return (value, at, flaws) => {
    shape(value, at, flaws);
    if (isObject(value) && 'kind' in value)
      flaws.push({ tag: 'foreign', message: `${at}.kind is a word of an older version` });
  };
}

const ids = (tag: string) => ({
  taskId: { shape: id(tag), required: tag },
  contextId: { shape: id(tag), required: tag },
});

const statusUpdate = withoutKind((value, at, flaws) => {
  object(
    'status-event',
    { ...ids('status-event'), status: { shape: status, required: 'status-event' }, metadata },
    'camel',
  )(value, at, flaws);
  if (isObject(value) && 'final' in value)
    flaws.push({ tag: 'foreign', message: `${at}.final is a word of an older version` });
});

const artifactUpdate = withoutKind(
  object(
    'artifact-event',
    {
      ...ids('artifact-event'),
      artifact: { shape: artifact, required: 'artifact-event' },
      append: { shape: flag('artifact-event') },
      lastChunk: { shape: flag('artifact-event') },
      metadata,
    },
    'camel',
  ),
);

const payloads: Readonly<Record<string, Shape>> = { task, message, statusUpdate, artifactUpdate };
const payloadNames = object(
  'payload',
  Object.fromEntries(Object.keys(payloads).map((name) => [name, { shape: anything }])),
  'camel',
);

/** What a stream and a webhook carry: exactly one of four. */
export const event: Shape = (value, at, flaws) => {
  payloadNames(value, at, flaws);
  if (!isObject(value)) return;
  const there = Object.keys(payloads).filter((name) => value[name] !== undefined && value[name] !== null);
  if (there.length !== 1)
    flaws.push({
      tag: 'payload',
      message: `${at} has ${there.length === 0 ? 'none' : there.join(' and ')} of ${Object.keys(payloads).join(', ')}; it must have one`,
    });
  for (const name of there) payloads[name]?.(value[name], name, flaws);
};

/** The answer to a send: exactly one of two. */
export const sent: Shape = (value, at, flaws) => {
  const there = isObject(value)
    ? ['task', 'message'].filter((name) => value[name] !== undefined && value[name] !== null)
    : [];
  if (there.length !== 1) {
    flaws.push({
      tag: 'sent',
      message: `${at} has ${there.join(' and ') || 'none'} of task and message; it must have one`,
    });
    return;
  }
  for (const name of there) payloads[name]?.((value as Record<string, unknown>)[name], name, flaws);
};

/** The answer to a list. */
export const page: Shape = object(
  'page',
  {
    tasks: { shape: list('page', task), required: 'page' },
    nextPageToken: { shape: text('page-token'), required: 'page-token' },
    pageSize: { shape: count, required: 'page' },
    totalSize: { shape: count, required: 'page' },
  },
  'camel',
);

function count(value: unknown, at: string, flaws: Flaw[]): void {
  if (!Number.isInteger(value) || (value as number) < 0)
    flaws.push({ tag: 'page', message: `${at} must be a number from 0 up, not ${told(value)}` });
}

/** A push configuration. */
export const pushConfig: Shape = object(
  'push-config',
  {
    id: { shape: id('push-config'), required: 'push-config' },
    taskId: { shape: text('push-config') },
    url: { shape: id('push-config'), required: 'push-config' },
    token: { shape: text('push-config') },
    authentication: {
      shape: object('push-config', {
        scheme: { shape: id('push-config'), required: 'push-config' },
        credentials: { shape: text('push-config') },
      }),
    },
  },
  'camel',
);

/** The answer to a list of push configurations. */
export const pushConfigs: Shape = object(
  'push-config',
  { configs: { shape: list('push-config', pushConfig) } },
  'camel',
);
