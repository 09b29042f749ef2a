import type { CheckedTransport, CheckedVersion } from '../rule-model.ts';
import { defineInvariants, type Invariant, type Observation } from '../observation/observation.ts';
import { type SchemaError, listSchema, type Schema } from './schema.ts';
import { event0_1, pushConfig0_1, task0_1 } from './schemas-0_1.ts';
import { task0_3Rest, wrapped0_3Rest } from './schemas-0_3-rest.ts';
import { taggedByKind0_3, pushConfig0_3, task0_3 } from './schemas-0_3.ts';

const known = new WeakMap<Observation, readonly SchemaError[] | undefined>();

/** The schemas of one version over one transport; undefined where no text says what they are. */
interface Shapes {
  readonly event: Schema;
  readonly sent: Schema;
  readonly task: Schema;
  readonly push?: Schema;
}

const schemas: { readonly [lane: string]: Shapes } = {
  '0.3 JSONRPC': { event: taggedByKind0_3, sent: taggedByKind0_3, task: task0_3, push: pushConfig0_3 },
  '0.3 HTTP+JSON': { event: wrapped0_3Rest, sent: wrapped0_3Rest, task: task0_3Rest },
  '0.1 JSONRPC': { event: event0_1, sent: task0_1, task: task0_1, push: pushConfig0_1 },
};

function shapeFor(observation: Observation): { schema: Schema; value: unknown } | undefined {
  const { version, transport } = observation.driver;
  const known = schemas[`${version} ${transport}`];
  if (!known) return undefined;
  if (observation.kind === 'event') return { schema: known.event, value: observation.event.raw };
  if (observation.kind !== 'response' || observation.response.result === undefined) return undefined;
  const { operation, response } = observation;
  const ofOperation: Partial<Record<typeof operation, Schema | undefined>> = {
    send: known.sent,
    get: known.task,
    cancel: known.task,
    createPush: known.push,
    getPush: known.push,
    listPush: known.push && listSchema('push-config', known.push),
  };
  const schema = ofOperation[operation];
  return schema && { schema, value: response.result };
}

function flawsOf(observation: Observation): readonly SchemaError[] | undefined {
  if (known.has(observation)) return known.get(observation);
  const found = shapeFor(observation);
  let errors: SchemaError[] | undefined;
  if (found) found.schema(found.value, 'result', (errors = []));
  known.set(observation, errors);
  return errors;
}

type Row = readonly [tag: string, section: string, sentence: string, remedy: string];

/** What only one transport of 0.3 can break; REST of 0.3 leaves out what is false or empty. */
const only: { readonly [tag: string]: CheckedTransport } = {
  kind: 'JSONRPC',
  final: 'JSONRPC',
  timestamp: 'JSONRPC',
  'push-config': 'JSONRPC',
  wrapped: 'HTTP+JSON',
};

const rows: { readonly [version in Exclude<CheckedVersion, '1.0'>]: readonly Row[] } = {
  '0.3': [
    ['task', '6.1', 'A task has an id, a contextId and a status.', 'Send all three with every task.'],
    ['status', '6.2', 'A status has a state that the protocol knows.', 'Use the names of TaskState.'],
    [
      'message',
      '6.4',
      'A message has a messageId, a role and parts.',
      'Give every message of the agent a messageId.',
    ],
    [
      'part',
      '6.5',
      'A part has a kind, and what that kind names; a file has either bytes or a uri.',
      'Send {"kind": "text", "text": …} and the like.',
    ],
    ['artifact', '6.7', 'An artifact has an artifactId and parts.', 'Give each artifact an id of its own.'],
    [
      'kind',
      '6',
      'Everything that can be told apart says its kind.',
      'Send kind: task, message, status-update or artifact-update.',
    ],
    [
      'event',
      '7.2.2',
      'An update names its task and its context.',
      'Send taskId and contextId with every update.',
    ],
    [
      'final',
      '7.2.2',
      'A status update says whether it is the last.',
      'Send final with every status update.',
    ],
    ['timestamp', '6.2', 'Moments are texts of ISO 8601.', 'Write 2026-01-31T12:00:00.000Z.'],
    ['metadata', '6', 'Metadata is an object.', 'Send an object, or nothing.'],
    [
      'wrapped',
      '7.1',
      'REST gives one of task and message, and in streams one of four, under its name.',
      'Send {"task": …}, not the task by itself.',
    ],
    [
      'push-config',
      '7.5',
      'A webhook is given back with the id of its task and its address.',
      'Send taskId and pushNotificationConfig with its url.',
    ],
  ],
  '0.1': [
    ['task', 'Task', 'A task has an id and a status.', 'Send both with every task.'],
    [
      'status',
      'TaskStatus',
      'A status has a state that the protocol knows.',
      'Use submitted, working, input-required, completed, canceled, failed or unknown.',
    ],
    ['message', 'Message', 'A message has a role and parts.', 'Send both.'],
    [
      'part',
      'Part',
      'A part has a type, and what that type names.',
      'Send {"type": "text", "text": …} and the like.',
    ],
    ['artifact', 'Artifact', 'An artifact has parts.', 'Send parts with every artifact.'],
    [
      'event',
      'Streaming',
      'An update names its task, and has a status or an artifact.',
      'Send the id of the task with every update.',
    ],
    ['timestamp', 'TaskStatus', 'Moments are texts of ISO 8601.', 'Write 2026-01-31T12:00:00.000Z.'],
    ['metadata', 'Task', 'Metadata is an object.', 'Send an object, or nothing.'],
    [
      'push-config',
      'tasks/pushNotification/set',
      'A webhook is given back with the id of its task and its address.',
      'Send id and pushNotificationConfig with its url.',
    ],
  ],
};

function invariantsOf(version: Exclude<CheckedVersion, '1.0'>): Invariant[] {
  return rows[version].map(([tag, section, sentence, remedy]) => ({
    id: `${version}.${tag}`,
    requirements: [`${version}/${tag}`],
    section,
    level: 'MUST',
    category: 'lifecycle',
    sentence,
    remedy,
    versions: [version],
    ...(only[tag] ? { transports: [only[tag]] } : {}),
    check: (observation) =>
      flawsOf(observation)
        ?.filter((error) => error.tag === tag)
        .map(({ message }) => message),
  }));
}

/** What the data models of the versions before 1.0 ask of everything that is sent. */
export const modelPre1_0Invariants = defineInvariants([
  ...invariantsOf('0.3'),
  ...invariantsOf('0.1'),
  {
    id: 'stream.final',
    requirements: ['0.3/final-last', '0.1/final-last'],
    section: '7.2.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'The last event of a stream is a status with final true, and no other event has it.',
    remedy: 'Mark the status that ends the stream, and that one alone.',
    versions: ['0.3', '0.1'],
    check(observation) {
      if (observation.kind !== 'stream' || observation.events.length === 0 || !observation.isComplete)
        return undefined;
      const { events } = observation;
      if (events.some(({ kind }) => kind === 'message')) return undefined;
      const marks = events.map((event) => event.kind === 'status' && event.final === true);
      const last = events.at(-1);
      // REST of 0.3 leaves out what is false, and some close with the task.
      if (last?.kind === 'task') return [];
      const wrong = marks.at(-1) ? [] : ['The last event is not marked as final'];
      if (marks.slice(0, -1).includes(true)) wrong.push('An event before the last one is marked as final');
      return wrong;
    },
  },
]);
