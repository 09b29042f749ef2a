import { isJsonObject } from '../drivers/normalized-views.ts';
import {
  anySchema,
  anyObjectSchema,
  type SchemaError,
  booleanSchema,
  listSchema,
  uniqueListSchema,
  objectSchema,
  enumSchema,
  type Schema,
  textSchema,
  shortValue,
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

const id = (tag: string): Schema => textSchema(tag, { mayBeEmpty: false });
const metadata = { schema: anyObjectSchema('metadata') };
const extensions = { schema: listSchema('extensions', textSchema('extensions')) };

/** A moment: ISO 8601 in UTC. */
const timestamp: Schema = (value, at, errors) => {
  if (
    typeof value !== 'string' ||
    !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?$/.test(value)
  )
    errors.push({
      tag: 'timestamp',
      message: `${at} is ${shortValue(value)}, which is no moment of ISO 8601`,
    });
  else if (Number.isNaN(Date.parse(value)))
    errors.push({ tag: 'timestamp', message: `${at} is ${shortValue(value)}, which is no moment at all` });
  else if (!value.endsWith('Z'))
    errors.push({ tag: 'utc', message: `${at} is ${shortValue(value)}; moments are in UTC and end with Z` });
  else if (!/\.\d{3}/.test(value))
    errors.push({ tag: 'milliseconds', message: `${at} is ${shortValue(value)}, without milliseconds` });
};

const contents = ['text', 'raw', 'url', 'data'];

const labels = objectSchema(
  'part',
  { filename: { schema: textSchema('part') }, mediaType: { schema: textSchema('part') }, metadata },
  'camel',
);

/** One piece of content. */
const part: Schema = (value, at, errors) => {
  if (!isJsonObject(value)) {
    errors.push({ tag: 'part', message: `${at} must be an object, not ${shortValue(value)}` });
    return;
  }
  // A null is content as data, and absence as anything else.
  const there = contents.filter((name) =>
    name === 'data' ? name in value : value[name] !== undefined && value[name] !== null,
  );
  if (there.length !== 1)
    errors.push({
      tag: 'part',
      message: `${at} has ${there.length === 0 ? 'none' : there.join(' and ')} of text, raw, url and data; it must have one`,
    });
  const { text: words, raw, url } = value;
  if (words !== undefined && words !== null) textSchema('part')(words, `${at}.text`, errors);
  if (url !== undefined && url !== null) textSchema('part')(url, `${at}.url`, errors);
  if (raw !== undefined && raw !== null && !isBase64(raw))
    errors.push({ tag: 'raw', message: `${at}.raw is ${shortValue(raw)}, which is no base64` });
  if ('kind' in value || 'type' in value || 'file' in value)
    errors.push({
      tag: 'foreign',
      message: `${at} has the words of an older version: ${Object.keys(value).join(', ')}`,
    });
  labels(value, at, errors);
};

function isBase64(value: unknown): boolean {
  return typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}

const role: Schema = (value, at, errors) => {
  enumSchema(value === 'user' || value === 'agent' ? 'enum' : 'role', ['ROLE_USER', 'ROLE_AGENT'])(
    value,
    at,
    errors,
  );
};

/** A message. */
const message: Schema = withoutKind(
  objectSchema(
    'message',
    {
      messageId: { schema: id('message'), required: 'message' },
      role: { schema: role, required: 'message' },
      parts: { schema: listSchema('message', part, { min: 1, minTag: 'empty' }), required: 'message' },
      contextId: { schema: textSchema('message') },
      taskId: { schema: textSchema('message') },
      referenceTaskIds: { schema: listSchema('message', textSchema('message')) },
      extensions,
      metadata,
    },
    'camel',
  ),
);

const state: Schema = (value, at, errors) => {
  if (typeof value === 'number' || /^[a-z-]+$/.test(String(value)))
    errors.push({
      tag: 'enum',
      message: `${at} is ${shortValue(value)}; states are written such as TASK_STATE_WORKING`,
    });
  else enumSchema('status', states)(value, at, errors);
};

/** A status. */
const status: Schema = objectSchema(
  'status',
  {
    state: { schema: state, required: 'status' },
    message: { schema: message },
    timestamp: { schema: timestamp },
  },
  'camel',
);

/** An artifact. */
const artifact: Schema = objectSchema(
  'artifact',
  {
    artifactId: { schema: id('artifact'), required: 'artifact' },
    name: { schema: textSchema('artifact') },
    description: { schema: textSchema('artifact') },
    parts: { schema: listSchema('artifact', part, { min: 1, minTag: 'empty' }), required: 'artifact' },
    extensions,
    metadata,
  },
  'camel',
);

/** A task. */
export const task1_0: Schema = withoutKind(
  objectSchema(
    'task',
    {
      id: { schema: id('task'), required: 'task' },
      contextId: { schema: id('task-context'), required: 'task-context' },
      status: { schema: status, required: 'task' },
      artifacts: { schema: uniqueListSchema('artifact', artifact, 'artifactId') },
      history: { schema: listSchema('task', message) },
      metadata,
    },
    'camel',
  ),
);

/** Older versions mark everything with its kind; 1.0 marks nothing. */
function withoutKind(schema: Schema): Schema {
  return (value, at, errors) => {
    schema(value, at, errors);
    if (isJsonObject(value) && 'kind' in value)
      errors.push({ tag: 'foreign', message: `${at}.kind is a word of an older version` });
  };
}

const ids = (tag: string) => ({
  taskId: { schema: id(tag), required: tag },
  contextId: { schema: id(tag), required: tag },
});

const statusUpdate = withoutKind((value, at, errors) => {
  objectSchema(
    'status-event',
    { ...ids('status-event'), status: { schema: status, required: 'status-event' }, metadata },
    'camel',
  )(value, at, errors);
  if (isJsonObject(value) && 'final' in value)
    errors.push({ tag: 'foreign', message: `${at}.final is a word of an older version` });
});

const artifactUpdate = withoutKind(
  objectSchema(
    'artifact-event',
    {
      ...ids('artifact-event'),
      artifact: { schema: artifact, required: 'artifact-event' },
      append: { schema: booleanSchema('artifact-event') },
      lastChunk: { schema: booleanSchema('artifact-event') },
      metadata,
    },
    'camel',
  ),
);

const payloads: Readonly<Record<string, Schema>> = { task: task1_0, message, statusUpdate, artifactUpdate };
const payloadNames = objectSchema(
  'payload',
  Object.fromEntries(Object.keys(payloads).map((name) => [name, { schema: anySchema }])),
  'camel',
);

/** What a stream and a webhook carry: exactly one of four. */
export const event1_0: Schema = (value, at, errors) => {
  payloadNames(value, at, errors);
  if (!isJsonObject(value)) return;
  const there = Object.keys(payloads).filter((name) => value[name] !== undefined && value[name] !== null);
  if (there.length !== 1)
    errors.push({
      tag: 'payload',
      message: `${at} has ${there.length === 0 ? 'none' : there.join(' and ')} of ${Object.keys(payloads).join(', ')}; it must have one`,
    });
  for (const name of there) payloads[name]?.(value[name], name, errors);
};

/** The answer to a send: exactly one of two. */
export const sendResult1_0: Schema = (value, at, errors) => {
  const there = isJsonObject(value)
    ? ['task', 'message'].filter((name) => value[name] !== undefined && value[name] !== null)
    : [];
  if (there.length !== 1) {
    errors.push({
      tag: 'sent',
      message: `${at} has ${there.join(' and ') || 'none'} of task and message; it must have one`,
    });
    return;
  }
  for (const name of there) payloads[name]?.((value as Record<string, unknown>)[name], name, errors);
};

/** The answer to a list. */
export const taskPage1_0: Schema = objectSchema(
  'page',
  {
    tasks: { schema: listSchema('page', task1_0), required: 'page' },
    nextPageToken: { schema: textSchema('page-token'), required: 'page-token' },
    pageSize: { schema: count, required: 'page' },
    totalSize: { schema: count, required: 'page' },
  },
  'camel',
);

function count(value: unknown, at: string, errors: SchemaError[]): void {
  if (!Number.isInteger(value) || (value as number) < 0)
    errors.push({ tag: 'page', message: `${at} must be a number from 0 up, not ${shortValue(value)}` });
}

/** A push configuration. */
export const pushConfig1_0: Schema = objectSchema(
  'push-config',
  {
    id: { schema: id('push-config'), required: 'push-config' },
    taskId: { schema: textSchema('push-config') },
    url: { schema: id('push-config'), required: 'push-config' },
    token: { schema: textSchema('push-config') },
    authentication: {
      schema: objectSchema('push-config', {
        scheme: { schema: id('push-config'), required: 'push-config' },
        credentials: { schema: textSchema('push-config') },
      }),
    },
  },
  'camel',
);

/** The answer to a list of push configurations. */
export const pushConfigPage1_0: Schema = objectSchema(
  'push-config',
  { configs: { schema: listSchema('push-config', pushConfig1_0) } },
  'camel',
);
