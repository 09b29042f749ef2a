import { isJsonObject } from '../../../primitives/json.ts';
import {
  anyObjectSchema,
  anySchema,
  enumSchema,
  idSchema,
  listSchema,
  objectSchema,
  oneOfSchema,
  requiredMember,
  type Schema,
  shortValue,
  uniqueListSchema,
} from './schema.ts';
import { eventIds0_3, states0_3 } from './schemas-0_3.ts';

/** Agents use the names of the specification or those of its protocol buffers; both are accepted. */
const states = [
  ...states0_3,
  ...states0_3.map((state) => `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`),
  'TASK_STATE_CANCELLED',
];

const part = oneOfSchema('part', { text: anySchema, file: anySchema, data: anySchema });

const messageMembers = objectSchema('message', {
  messageId: requiredMember('message', idSchema('message')),
  role: requiredMember('message', enumSchema('message', ['user', 'agent', 'ROLE_USER', 'ROLE_AGENT'])),
});

const message: Schema = (value, at, errors) => {
  messageMembers(value, at, errors);
  if (!isJsonObject(value)) return;
  const name = value.content === undefined ? 'parts' : 'content';
  if (value[name] === undefined) errors.push({ tag: 'message', message: `${at}.content is missing` });
  else listSchema('message', part)(value[name], `${at}.${name}`, errors);
};

/** A timestamp that is out of range in protobuf has another form. */
const timestamp: Schema = (value, at, errors) => {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value)))
    errors.push({ tag: 'timestamp', message: `${at} must be a timestamp, not ${shortValue(value)}` });
};

const status = objectSchema('status', {
  state: requiredMember('status', enumSchema('status', states)),
  message,
  update: message,
  timestamp,
});

const artifact = objectSchema('artifact', {
  artifactId: requiredMember('artifact', idSchema('artifact')),
  parts: requiredMember('artifact', listSchema('artifact', part)),
});

/** Task of 0.3 over REST. */
export const task0_3Rest: Schema = objectSchema('task', {
  id: requiredMember('task', idSchema('task')),
  contextId: requiredMember('task', idSchema('task')),
  status: requiredMember('task', status),
  artifacts: uniqueListSchema('artifact', artifact, 'artifactId'),
  history: listSchema('task', message),
  metadata: anyObjectSchema('metadata'),
});

/** Result of a send, and event of a stream: exactly one object, under its name. */
export const wrapped0_3Rest: Schema = oneOfSchema(
  'wrapped',
  {
    task: task0_3Rest,
    message,
    msg: message,
    statusUpdate: objectSchema('event', { ...eventIds0_3, status: requiredMember('event', status) }),
    artifactUpdate: objectSchema('event', { ...eventIds0_3, artifact: requiredMember('event', artifact) }),
  },
  (value, name) => isJsonObject(value[name]),
);

/** Push configuration of 0.3 over gRPC. */
export const pushConfig0_3Grpc: Schema = objectSchema('push-config', {
  name: requiredMember('push-config', idSchema('push-config')),
  pushNotificationConfig: requiredMember(
    'push-config',
    objectSchema('push-config', { url: requiredMember('push-config', idSchema('push-config')) }),
  ),
});
