import type { RequirementLevel } from '../rule-model.ts';
import { defineInvariants, type Observation } from '../observation/observation.ts';
import type { SchemaError, Schema } from './schema.ts';
import {
  event1_0,
  taskPage1_0,
  pushConfig1_0,
  pushConfigPage1_0,
  sendResult1_0,
  task1_0,
} from './schemas-1_0.ts';

/** Flaws are looked for once, whichever rules ask. */
const known = new WeakMap<Observation, readonly SchemaError[] | undefined>();

/** Everything that is wrong with the schema of what was seen; undefined where it has none to look at. */
function flawsOf(observation: Observation): readonly SchemaError[] | undefined {
  if (known.has(observation)) return known.get(observation);
  const looked = check(observation);
  known.set(observation, looked);
  return looked;
}

function check(observation: Observation): readonly SchemaError[] | undefined {
  if (observation.kind === 'event') return flawsIn(event1_0, observation.event.raw, 'event');
  if (observation.kind === 'push') return flawsIn(event1_0, observation.body, 'notification');
  if (observation.kind !== 'response' || observation.response.result === undefined) return undefined;
  const schemas: Partial<Record<typeof observation.operation, Schema>> = {
    send: sendResult1_0,
    get: task1_0,
    cancel: task1_0,
    list: taskPage1_0,
    createPush: pushConfig1_0,
    getPush: pushConfig1_0,
    listPush: pushConfigPage1_0,
  };
  const schema = schemas[observation.operation];
  return schema && flawsIn(schema, observation.response.result, 'result');
}

function flawsIn(schema: Schema, value: unknown, at: string): SchemaError[] {
  const errors: SchemaError[] = [];
  schema(value, at, errors);
  return errors;
}

/** What the errors of one name mean: id, requirements, section, level, sentence, remedy. */
type Row = readonly [
  tag: string,
  requirements: readonly string[],
  section: string,
  level: RequirementLevel,
  sentence: string,
  remedy: string,
];

const rows: readonly Row[] = [
  [
    'sent',
    ['SEND-003', 'RPC-008', 'REST-006'],
    '3.1.1',
    'MUST',
    'The answer to a send holds either a task or a message.',
    'Wrap the answer: {"task": …} or {"message": …}.',
  ],
  [
    'task',
    ['MODEL-002', 'GET-001', 'TID-002'],
    '4.1.1',
    'MUST',
    'A task has an id and a status, and artifacts and history are lists.',
    'Send id and status with every task; do not wrap it where it is asked for by name.',
  ],
  [
    'task-context',
    ['CTX-002', 'JSON-008'],
    '3.4.1',
    'MUST',
    'A task says which context it belongs to.',
    'Send contextId with every task, made up where the caller gave none.',
  ],
  [
    'status',
    ['MODEL-003'],
    '4.1.2',
    'MUST',
    'A status has a state that the protocol knows.',
    'Use the names of TaskState, and nothing else.',
  ],
  [
    'message',
    ['MODEL-004', 'JSON-008'],
    '4.1.4',
    'MUST',
    'A message has an id, a role and parts.',
    'Give every message of the agent a messageId of its own.',
  ],
  [
    'role',
    ['MODEL-006'],
    '4.1.5',
    'MUST',
    'The role of a message is ROLE_USER or ROLE_AGENT.',
    'Use one of the two names.',
  ],
  [
    'part',
    ['MODEL-007'],
    '4.1.6',
    'MUST',
    'A part has exactly one of text, raw, url and data.',
    'Split a part with several contents into several parts.',
  ],
  [
    'raw',
    ['MODEL-008'],
    '4.1.6',
    'MUST',
    'Bytes are base64.',
    'Encode bytes in standard base64 with padding.',
  ],
  [
    'artifact',
    ['MODEL-009'],
    '4.1.7',
    'MUST',
    'An artifact has an id that is unique in its task, and parts.',
    'Give each artifact an artifactId of its own.',
  ],
  [
    'status-event',
    ['MODEL-010'],
    '4.2.1',
    'MUST',
    'A status update names its task and context and has a status.',
    'Send taskId, contextId and status with every update.',
  ],
  [
    'artifact-event',
    ['MODEL-011'],
    '4.2.2',
    'MUST',
    'An artifact update names its task and context and has an artifact.',
    'Send taskId, contextId and artifact with every update.',
  ],
  [
    'payload',
    ['RPC-009', 'REST-021', 'PUSH-012'],
    '3.2.3',
    'MUST',
    'An event holds exactly one of task, message, statusUpdate and artifactUpdate.',
    'Wrap each event in the one member that names it.',
  ],
  [
    'page',
    ['LIST-011'],
    '3.1.4',
    'MUST',
    'A page has tasks, its size and how many there are in all.',
    'Send tasks, pageSize and totalSize always, zero included.',
  ],
  [
    'page-token',
    ['LIST-002'],
    '3.1.4',
    'MUST',
    'A page always has nextPageToken.',
    'Send nextPageToken always; it is empty on the last page.',
  ],
  [
    'push-config',
    ['PUSH-003', 'PUSH-005', 'PUSH-007'],
    '4.3.1',
    'MUST',
    'A push configuration has an id and a url.',
    'Send the configuration flat: id, taskId, url, token, authentication.',
  ],
  [
    'camel',
    ['JSON-001'],
    '5.5',
    'MUST',
    'Names of members are in camelCase.',
    'Write contextId, not context_id.',
  ],
  [
    'enum',
    ['JSON-002'],
    '5.5',
    'MUST',
    'Enumerations are written by their names in the protocol buffers.',
    'Write TASK_STATE_WORKING and ROLE_AGENT, not working and agent, and no numbers.',
  ],
  [
    'timestamp',
    ['JSON-003'],
    '5.6.1',
    'MUST',
    'Moments are texts of ISO 8601.',
    'Write 2026-01-31T12:00:00.000Z.',
  ],
  [
    'utc',
    ['JSON-007', 'JSON-003'],
    '5.6.1',
    'MUST',
    'Moments are in UTC, with the letter Z.',
    'Convert to UTC and end with Z.',
  ],
  [
    'milliseconds',
    ['JSON-004'],
    '5.6.1',
    'SHOULD',
    'Moments have milliseconds.',
    'Write three digits after the seconds.',
  ],
  [
    'empty',
    ['JSON-010', 'MODEL-004', 'MODEL-009'],
    '5.7',
    'MUST',
    'Lists that are required have at least one element.',
    'Leave out a message or an artifact without parts.',
  ],
  ['metadata', ['MODEL-001'], '4', 'MUST', 'Metadata is an object.', 'Send an object, or nothing.'],
  [
    'extensions',
    ['MODEL-001'],
    '4',
    'MUST',
    'Extensions are a list of URIs.',
    'Send a list of texts, or nothing.',
  ],
  [
    'foreign',
    ['MODEL-001'],
    'A.2',
    'SHOULD',
    'Words of older versions (kind, final, file) are not sent to callers of 1.0.',
    'Send 1.0 schemas only to those who ask for 1.0.',
  ],
];

/** What the data model of 1.0 asks of everything that is sent. */
export const modelInvariants = defineInvariants(
  rows.map(([tag, requirements, section, level, sentence, remedy]) => ({
    id: `model.${tag}`,
    requirements,
    section,
    level,
    category: 'lifecycle' as const,
    sentence,
    remedy,
    versions: ['1.0' as const],
    check: (observation: Observation) =>
      flawsOf(observation)
        ?.filter((error) => error.tag === tag)
        .map((error) => error.message),
  })),
);
