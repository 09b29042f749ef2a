import { isJsonObject } from '../../../primitives/json.ts';
import { isoTimestamp0_3, partSchemaPre1_0, webhook0_3 } from './schemas-0_3.ts';
import {
  anyObjectSchema,
  booleanSchema,
  enumSchema,
  idSchema,
  listSchema,
  objectSchema,
  requiredMember,
  type Schema,
  textSchema,
  uniqueListSchema,
} from './schema.ts';

const states = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'unknown'];
const metadata = anyObjectSchema('metadata');

// In the first schema the type is optional.
const part = partSchemaPre1_0('type', anyObjectSchema('part'), { mayOmitTag: true });

const message = objectSchema('message', {
  role: requiredMember('message', enumSchema('message', ['user', 'agent'])),
  parts: requiredMember('message', listSchema('message', part)),
  metadata,
});

const status = objectSchema('status', {
  state: requiredMember('status', enumSchema('status', states)),
  message,
  timestamp: isoTimestamp0_3,
});

const artifact = objectSchema('artifact', {
  parts: requiredMember('artifact', listSchema('artifact', part)),
  append: booleanSchema('artifact'),
  lastChunk: booleanSchema('artifact'),
});

/** Task of 0.1. */
export const task0_1: Schema = objectSchema('task', {
  id: requiredMember('task', idSchema('task')),
  sessionId: textSchema('task'),
  status: requiredMember('task', status),
  artifacts: uniqueListSchema('artifact', artifact, 'index'),
  history: listSchema('task', message),
  metadata,
});

/** Push configuration of 0.1. */
export const pushConfig0_1: Schema = objectSchema('push-config', {
  id: requiredMember('push-config', idSchema('push-config')),
  pushNotificationConfig: requiredMember('push-config', webhook0_3),
});

const id = requiredMember('event', idSchema('event'));
const artifactEvent = objectSchema('event', { id, artifact: requiredMember('event', artifact) });
const statusEvent = objectSchema('event', {
  id,
  status: requiredMember('event', status),
  final: booleanSchema('event'),
});

/** Event of 0.1: an artifact update if it has an artifact, otherwise a status update. */
export const event0_1: Schema = (value, at, errors) => {
  const isArtifact = isJsonObject(value) && value.artifact !== undefined && value.artifact !== null;
  (isArtifact ? artifactEvent : statusEvent)(value, at, errors);
};
