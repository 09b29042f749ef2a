import { isJsonObject } from '../../../primitives/json.ts';
import {
  anyObjectSchema,
  anySchema,
  booleanSchema,
  enumSchema,
  idSchema,
  listSchema,
  objectSchema,
  oneOfSchema,
  requiredMember,
  type Schema,
  shortValue,
  textSchema,
  uniqueListSchema,
} from './schema.ts';

/** Task states of 0.3. */
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
const metadata = anyObjectSchema('metadata');
const kind = (name: string) => ({ kind: requiredMember('kind', enumSchema('kind', [name])) });

/** Webhook of a push configuration. */
export const webhook0_3: Schema = objectSchema('push-config', {
  url: requiredMember('push-config', idSchema('push-config')),
  id: textSchema('push-config'),
  token: textSchema('push-config'),
});

/** ISO 8601 timestamp; 0.3 does not require a time zone. */
export const isoTimestamp0_3: Schema = (value, at, errors) => {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value)))
    errors.push({
      tag: 'timestamp',
      message: `${at} must be an ISO 8601 timestamp, not ${shortValue(value)}`,
    });
};

/** A part whose member `tagName` names its content: text, file or data. */
export function partSchemaPre1_0(
  tagName: 'kind' | 'type',
  file: Schema,
  { mayOmitTag = false } = {},
): Schema {
  const contents: Readonly<Record<string, Schema>> = {
    text: textSchema('part'),
    file,
    data: anyObjectSchema('part'),
  };
  const names = Object.keys(contents);
  return (value, at, errors) => {
    anyObjectSchema('part')(value, at, errors);
    if (!isJsonObject(value)) return;
    const inferred = mayOmitTag ? (names.find((name) => value[name] !== undefined) ?? '') : undefined;
    const content = value[tagName] ?? inferred;
    const schema = typeof content === 'string' ? contents[content] : undefined;
    if (schema && typeof content === 'string') schema(value[content], `${at}.${content}`, errors);
    else enumSchema('part', names)(content, `${at}.${tagName}`, errors);
  };
}

const part = partSchemaPre1_0('kind', oneOfSchema('part', { bytes: anySchema, uri: anySchema }));

const message = objectSchema('message', {
  ...kind('message'),
  messageId: requiredMember('message', idSchema('message')),
  role: requiredMember('message', enumSchema('message', ['user', 'agent'])),
  parts: requiredMember('message', listSchema('message', part)),
  contextId: textSchema('message'),
  taskId: textSchema('message'),
  metadata,
});

const status = objectSchema('status', {
  state: requiredMember('status', enumSchema('status', states0_3)),
  message,
  timestamp: isoTimestamp0_3,
});

const artifact = objectSchema('artifact', {
  artifactId: requiredMember('artifact', idSchema('artifact')),
  name: textSchema('artifact'),
  parts: requiredMember('artifact', listSchema('artifact', part)),
  metadata,
});

/** Members that identify the task of an event. */
export const eventIds0_3 = {
  taskId: requiredMember('event', idSchema('event')),
  contextId: requiredMember('event', idSchema('event')),
};

/** Task of 0.3 over JSON-RPC. */
export const task0_3: Schema = objectSchema('task', {
  ...kind('task'),
  id: requiredMember('task', idSchema('task')),
  contextId: requiredMember('task', idSchema('task')),
  status: requiredMember('task', status),
  artifacts: uniqueListSchema('artifact', artifact, 'artifactId'),
  history: listSchema('task', message),
  metadata,
});

/** Push configuration of 0.3. */
export const pushConfig0_3: Schema = objectSchema('push-config', {
  taskId: requiredMember('push-config', idSchema('push-config')),
  pushNotificationConfig: requiredMember('push-config', webhook0_3),
});

const schemasByKind: Readonly<Record<string, Schema>> = {
  task: task0_3,
  message,
  'status-update': objectSchema('event', {
    ...eventIds0_3,
    status: requiredMember('event', status),
    final: requiredMember('final', booleanSchema('final')),
    metadata,
  }),
  'artifact-update': objectSchema('event', {
    ...eventIds0_3,
    artifact: requiredMember('event', artifact),
    append: booleanSchema('event'),
    lastChunk: booleanSchema('event'),
    metadata,
  }),
};

/** Result or event of 0.3 over JSON-RPC; its `kind` selects the schema. */
export const taggedByKind0_3: Schema = (value, at, errors) => {
  const name = isJsonObject(value) ? value.kind : value;
  const schema = isJsonObject(value) && typeof name === 'string' ? schemasByKind[name] : undefined;
  if (schema) schema(value, at, errors);
  else
    errors.push({
      tag: 'kind',
      message: `${at}.kind must be one of ${Object.keys(schemasByKind).join(', ')}, not ${shortValue(name)}`,
    });
};
