import { type CheckedTransport, type CheckedVersion, jsonTransports, must } from '../rule-model.ts';
import { defineInvariants, type Invariant } from '../observation/observation.ts';
import { listSchema, objectSchema, type Schema } from './schemas/schema.ts';
import { createSchemaChecks } from './schemas/schema-checks.ts';
import { event0_1, pushConfig0_1, task0_1 } from './schemas/schemas-0_1.ts';
import { pushConfig0_3Grpc, task0_3Rest, wrapped0_3Rest } from './schemas/schemas-0_3-rest.ts';
import { taggedByKind0_3, pushConfig0_3, task0_3 } from './schemas/schemas-0_3.ts';

/** Schemas of one protocol variant, by operation. `event` is the schema of stream events. */
type VariantSchemas = { readonly [operation: string]: Schema };

const taskSchemas = (event: Schema, send: Schema, task: Schema): VariantSchemas => ({
  event,
  send,
  get: task,
  cancel: task,
});
const pushSchemas = (config: Schema): VariantSchemas => ({
  createPush: config,
  getPush: config,
  listPush: listSchema('push-config', config),
});

/** 0.3 over REST has no schemas for push configurations because no specification text defines them. */
const schemas: { readonly [variant: string]: VariantSchemas } = {
  '0.3 JSONRPC': { ...taskSchemas(taggedByKind0_3, taggedByKind0_3, task0_3), ...pushSchemas(pushConfig0_3) },
  '0.3 HTTP+JSON': taskSchemas(wrapped0_3Rest, wrapped0_3Rest, task0_3Rest),
  '0.3 GRPC': {
    ...taskSchemas(wrapped0_3Rest, wrapped0_3Rest, task0_3Rest),
    createPush: pushConfig0_3Grpc,
    getPush: pushConfig0_3Grpc,
    listPush: objectSchema('push-config', { configs: listSchema('push-config', pushConfig0_3Grpc) }),
  },
  '0.1 JSONRPC': { ...taskSchemas(event0_1, task0_1, task0_1), ...pushSchemas(pushConfig0_1) },
};

const schemaCheck = createSchemaChecks((observation) => {
  const { version, transport } = observation.driver;
  const ofVariant = schemas[`${version} ${transport}`];
  const isEvent = observation.kind === 'event';
  if (!isEvent && observation.kind !== 'response') return undefined;
  const schema = ofVariant?.[isEvent ? 'event' : observation.operation];
  const value = isEvent ? observation.event.raw : observation.response.result;
  return schema && (isEvent || value !== undefined) ? { schema, value, at: 'result' } : undefined;
});

/** Rules of 0.3 that do not apply to all transports: REST and gRPC of 0.3 omit members that are false or empty. */
const transportsByTag: { readonly [tag: string]: readonly CheckedTransport[] } = {
  kind: ['JSONRPC'],
  final: ['JSONRPC'],
  timestamp: ['JSONRPC', 'GRPC'],
  metadata: jsonTransports,
  'push-config': ['JSONRPC', 'GRPC'],
  wrapped: ['HTTP+JSON', 'GRPC'],
};

type RuleRow = readonly [section: string, sentence: string, remedy: string];

const statusSentence = 'The agent sends every status with a state of the protocol.';
const timestampSentence = 'The agent writes timestamps as ISO 8601 strings.';
const timestampRemedy = 'Write timestamps like 2026-01-31T12:00:00.000Z.';
const metadataSentence = 'The agent sends metadata as an object.';
const metadataRemedy = 'Send metadata as an object or omit it.';
const pushConfigSentence =
  'The agent returns every push configuration with the id or the name of the task and the URL of the webhook.';

const rules: { readonly [version in Exclude<CheckedVersion, '1.0'>]: Readonly<Record<string, RuleRow>> } = {
  '0.3': {
    task: [
      '6.1',
      'The agent sends every task with an id, a contextId and a status.',
      'Send id, contextId and status with every task.',
    ],
    status: ['6.2', statusSentence, 'Use only the names of the TaskState enumeration.'],
    message: [
      '6.4',
      'The agent sends every message with a messageId, a role and parts.',
      'Generate a unique messageId for every message of the agent.',
    ],
    part: [
      '6.5',
      'The agent sends every part with a kind and the content of that kind; a file has either bytes or a uri.',
      'Send parts like {"kind": "text", "text": …}.',
    ],
    artifact: [
      '6.7',
      'The agent sends every artifact with an artifactId and parts.',
      'Generate a unique artifactId for each artifact of a task.',
    ],
    kind: [
      '6',
      'The agent sends tasks, messages and updates with their kind.',
      'Send kind: task, message, status-update or artifact-update.',
    ],
    event: [
      '7.2.2',
      'The agent sends every update with a taskId and a contextId.',
      'Send taskId and contextId with every update.',
    ],
    final: [
      '7.2.2',
      'The agent sends every status update with the member final.',
      'Send final with every status update.',
    ],
    timestamp: ['6.2', timestampSentence, timestampRemedy],
    metadata: ['6', metadataSentence, metadataRemedy],
    wrapped: [
      '7.1',
      'The agent wraps results and stream events of REST and gRPC in the member that names their type.',
      'Send {"task": …} instead of the bare task.',
    ],
    'push-config': ['7.5', pushConfigSentence, 'Send taskId and a pushNotificationConfig with a url.'],
  },
  '0.1': {
    task: [
      'Task',
      'The agent sends every task with an id and a status.',
      'Send id and status with every task.',
    ],
    status: [
      'TaskStatus',
      statusSentence,
      'Use submitted, working, input-required, completed, canceled, failed or unknown.',
    ],
    message: [
      'Message',
      'The agent sends every message with a role and parts.',
      'Send role and parts with every message.',
    ],
    part: [
      'Part',
      'The agent sends every part with a type and the content of that type.',
      'Send parts like {"type": "text", "text": …}.',
    ],
    artifact: ['Artifact', 'The agent sends every artifact with parts.', 'Send parts with every artifact.'],
    event: [
      'Streaming',
      'The agent sends every update with the task id and a status or an artifact.',
      'Send the task id with every update.',
    ],
    timestamp: ['TaskStatus', timestampSentence, timestampRemedy],
    metadata: ['Task', metadataSentence, metadataRemedy],
    'push-config': [
      'tasks/pushNotification/set',
      pushConfigSentence,
      'Send id and a pushNotificationConfig with a url.',
    ],
  },
};

function defineSchemaInvariants(version: Exclude<CheckedVersion, '1.0'>): Invariant[] {
  return Object.entries(rules[version]).map(([tag, [section, sentence, remedy]]) => ({
    id: `${version}.${tag}`,
    ...must(section, `${version}/${tag}`),
    category: 'lifecycle',
    sentence,
    remedy,
    versions: [version],
    ...(transportsByTag[tag] ? { transports: transportsByTag[tag] } : {}),
    check: schemaCheck(tag),
  }));
}

/** Rules of the data models before 1.0. */
export const modelPre1_0Invariants = defineInvariants({ category: 'streaming', versions: ['0.3', '0.1'] }, [
  ...defineSchemaInvariants('0.3'),
  ...defineSchemaInvariants('0.1'),
  {
    id: 'stream.final',
    ...must('7.2.2', '0.3/final-last', '0.1/final-last'),
    preconditions: ['streaming'],
    sentence:
      'The agent sends final: true with the last event of a stream, a status update, and with no other event.',
    remedy: 'Set final to true only in the status update that ends the stream.',
    check(observation) {
      if (observation.kind !== 'stream' || observation.events.length === 0 || !observation.isComplete)
        return undefined;
      const { events } = observation;
      if (events.some(({ kind }) => kind === 'message')) return undefined;
      // REST of 0.3 omits final when it is false, and some agents end the stream with the task.
      if (events.at(-1)?.kind === 'task') return [];
      const finals = events.map((event) => event.kind === 'status' && event.final);
      const messages = finals.at(-1) ? [] : ['The last event is not marked as final'];
      if (finals.slice(0, -1).includes(true))
        messages.push('An event before the last one is marked as final');
      return messages;
    },
  },
]);
