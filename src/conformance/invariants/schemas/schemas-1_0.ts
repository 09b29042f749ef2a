import { isJsonObject } from '../../../primitives/json.ts';
import {
  anyObjectSchema,
  anySchema,
  booleanSchema,
  countSchema,
  enumSchema,
  idSchema,
  isPresent,
  listSchema,
  objectSchema,
  oneOfSchema,
  requiredMember,
  type Schema,
  type SchemaMember,
  shortValue,
  textSchema,
  uniqueListSchema,
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

const metadata = anyObjectSchema('metadata');
const extensions = listSchema('extensions', textSchema('extensions'));

const camelCaseObject = (tag: string, members: Readonly<Record<string, SchemaMember | Schema>>): Schema =>
  objectSchema(tag, members, 'camel');

const timestamp: Schema = (value, at, errors) => {
  const report = (tag: string, expected: string): unknown =>
    errors.push({ tag, message: `${at} must ${expected}, not ${shortValue(value)}` });
  if (
    typeof value !== 'string' ||
    !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?$/.test(value) ||
    Number.isNaN(Date.parse(value))
  )
    report('timestamp', 'be an ISO 8601 timestamp');
  else if (!value.endsWith('Z')) report('utc', 'be in UTC and end with Z');
  else if (!/\.\d{3}/.test(value)) report('milliseconds', 'have milliseconds');
};

const base64: Schema = (value, at, errors) => {
  const isBase64 =
    typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
  if (!isBase64) errors.push({ tag: 'raw', message: `${at} must be base64, not ${shortValue(value)}` });
};

const partContent = oneOfSchema(
  'part',
  { text: textSchema('part'), raw: base64, url: textSchema('part'), data: anySchema },
  // null is valid content of data and means absence everywhere else.
  (value, name) => (name === 'data' ? name in value : isPresent(value, name)),
);

const partMembers = camelCaseObject('part', {
  filename: textSchema('part'),
  mediaType: textSchema('part'),
  metadata,
});

const part: Schema = (value, at, errors) => {
  partMembers(value, at, errors);
  if (!isJsonObject(value)) return;
  partContent(value, at, errors);
  if ('kind' in value || 'type' in value || 'file' in value)
    errors.push({
      tag: 'foreign',
      message: `${at} has members of an older version: ${Object.keys(value).join(', ')}`,
    });
};

const role: Schema = (value, at, errors) => {
  const tag = value === 'user' || value === 'agent' ? 'enum' : 'role';
  enumSchema(tag, ['ROLE_USER', 'ROLE_AGENT'])(value, at, errors);
};

/** Rejects members that exist only in older versions, such as `kind`. */
function withoutMember(name: string, schema: Schema): Schema {
  return (value, at, errors) => {
    schema(value, at, errors);
    if (isJsonObject(value) && name in value)
      errors.push({ tag: 'foreign', message: `${at}.${name} is a member of an older version` });
  };
}

const parts = (tag: string): SchemaMember =>
  requiredMember(tag, listSchema(tag, part, { min: 1, minTag: 'empty' }));

const message = withoutMember(
  'kind',
  camelCaseObject('message', {
    messageId: requiredMember('message', idSchema('message')),
    role: requiredMember('message', role),
    parts: parts('message'),
    contextId: textSchema('message'),
    taskId: textSchema('message'),
    referenceTaskIds: listSchema('message', textSchema('message')),
    extensions,
    metadata,
  }),
);

const state: Schema = (value, at, errors) => {
  const tag = typeof value === 'number' || /^[a-z-]+$/.test(String(value)) ? 'enum' : 'status';
  enumSchema(tag, states)(value, at, errors);
};

const status = camelCaseObject('status', { state: requiredMember('status', state), message, timestamp });

const artifact = camelCaseObject('artifact', {
  artifactId: requiredMember('artifact', idSchema('artifact')),
  name: textSchema('artifact'),
  description: textSchema('artifact'),
  parts: parts('artifact'),
  extensions,
  metadata,
});

/** Task of 1.0. */
export const task1_0: Schema = withoutMember(
  'kind',
  camelCaseObject('task', {
    id: requiredMember('task', idSchema('task')),
    contextId: requiredMember('task-context', idSchema('task-context')),
    status: requiredMember('task', status),
    artifacts: uniqueListSchema('artifact', artifact, 'artifactId'),
    history: listSchema('task', message),
    metadata,
  }),
);

const eventSchema = (tag: string, members: Readonly<Record<string, SchemaMember | Schema>>): Schema =>
  withoutMember(
    'kind',
    camelCaseObject(tag, {
      taskId: requiredMember(tag, idSchema(tag)),
      contextId: requiredMember(tag, idSchema(tag)),
      ...members,
      metadata,
    }),
  );

const statusUpdate = withoutMember(
  'final',
  eventSchema('status-event', { status: requiredMember('status-event', status) }),
);

const artifactUpdate = eventSchema('artifact-event', {
  artifact: requiredMember('artifact-event', artifact),
  append: booleanSchema('artifact-event'),
  lastChunk: booleanSchema('artifact-event'),
});

const payloads = { task: task1_0, message, statusUpdate, artifactUpdate };
const payload = oneOfSchema('payload', payloads);
const payloadNames = camelCaseObject(
  'payload',
  Object.fromEntries(Object.keys(payloads).map((name) => [name, anySchema])),
);

/** Event of a stream or notification: exactly one payload. */
export const event1_0: Schema = (value, at, errors) => {
  payloadNames(value, at, errors);
  if (isJsonObject(value)) payload(value, at, errors);
};

/** Result of a send: a task or a message. */
export const sendResult1_0: Schema = oneOfSchema('sent', { task: task1_0, message });

/** Result of ListTasks. */
export const taskPage1_0: Schema = camelCaseObject('page', {
  tasks: requiredMember('page', listSchema('page', task1_0)),
  nextPageToken: requiredMember('page-token', textSchema('page-token')),
  pageSize: requiredMember('page', countSchema('page')),
  totalSize: requiredMember('page', countSchema('page')),
});

/** Push configuration of 1.0. */
export const pushConfig1_0: Schema = camelCaseObject('push-config', {
  id: requiredMember('push-config', idSchema('push-config')),
  taskId: textSchema('push-config'),
  url: requiredMember('push-config', idSchema('push-config')),
  token: textSchema('push-config'),
  authentication: objectSchema('push-config', {
    scheme: requiredMember('push-config', idSchema('push-config')),
    credentials: textSchema('push-config'),
  }),
});

/** Result of listing push configurations. */
export const pushConfigPage1_0: Schema = camelCaseObject('push-config', {
  configs: listSchema('push-config', pushConfig1_0),
});
