import { type Citation, jsonTransports, must, should } from '../rule-model.ts';
import { defineInvariants } from '../observation/observation.ts';
import type { Schema } from './schemas/schema.ts';
import { createSchemaChecks } from './schemas/schema-checks.ts';
import {
  event1_0,
  taskPage1_0,
  pushConfig1_0,
  pushConfigPage1_0,
  sendResult1_0,
  task1_0,
} from './schemas/schemas-1_0.ts';

const resultSchemas: { readonly [operation: string]: Schema } = {
  send: sendResult1_0,
  get: task1_0,
  cancel: task1_0,
  list: taskPage1_0,
  createPush: pushConfig1_0,
  getPush: pushConfig1_0,
  listPush: pushConfigPage1_0,
};

const schemaCheck = createSchemaChecks((observation) => {
  if (observation.kind === 'event') return { schema: event1_0, value: observation.event.raw, at: 'event' };
  if (observation.kind === 'push') return { schema: event1_0, value: observation.body, at: 'notification' };
  if (observation.kind !== 'response' || observation.response.result === undefined) return undefined;
  const schema = resultSchemas[observation.operation];
  return schema && { schema, value: observation.response.result, at: 'result' };
});

/** Citation, sentence and remedy of a rule by error tag. */
const rules: Readonly<Record<string, readonly [Citation, string, string]>> = {
  sent: [
    must('3.1.1', 'SEND-003', 'RPC-008', 'REST-006'),
    'The agent returns either a task or a message as the result of a send.',
    'Wrap the result: {"task": …} or {"message": …}.',
  ],
  task: [
    must('4.1.1', 'MODEL-002', 'GET-001', 'TID-002'),
    'The agent sends every task with an id and a status, and its artifacts and history as arrays.',
    'Send id and status with every task, and return the task without a wrapper from GetTask and CancelTask.',
  ],
  'task-context': [
    must('3.4.1', 'CTX-002', 'JSON-008'),
    'The agent sends every task with a contextId.',
    'Send contextId with every task; generate one if the client sent none.',
  ],
  status: [
    must('4.1.2', 'MODEL-003'),
    'The agent sends every status with a state of the protocol.',
    'Use only the names of the TaskState enumeration.',
  ],
  message: [
    must('4.1.4', 'MODEL-004', 'JSON-008'),
    'The agent sends every message with a messageId, a role and parts.',
    'Generate a unique messageId for every message of the agent.',
  ],
  role: [
    must('4.1.5', 'MODEL-006'),
    'The agent uses only the roles ROLE_USER and ROLE_AGENT.',
    'Set the role to ROLE_USER or ROLE_AGENT.',
  ],
  part: [
    must('4.1.6', 'MODEL-007'),
    'The agent sends every part with exactly one of text, raw, url and data.',
    'Split a part with several contents into several parts.',
  ],
  raw: [
    must('4.1.6', 'MODEL-008'),
    'The agent encodes the raw content of parts in base64.',
    'Encode bytes in standard base64 with padding.',
  ],
  artifact: [
    must('4.1.7', 'MODEL-009'),
    'The agent sends every artifact with parts and an artifactId that is unique in its task.',
    'Generate a unique artifactId for each artifact of a task.',
  ],
  'status-event': [
    must('4.2.1', 'MODEL-010'),
    'The agent sends every status update with a taskId, a contextId and a status.',
    'Send taskId, contextId and status with every status update.',
  ],
  'artifact-event': [
    must('4.2.2', 'MODEL-011'),
    'The agent sends every artifact update with a taskId, a contextId and an artifact.',
    'Send taskId, contextId and artifact with every artifact update.',
  ],
  payload: [
    must('3.2.3', 'RPC-009', 'REST-021', 'PUSH-012'),
    'The agent sends every event with exactly one of task, message, statusUpdate and artifactUpdate.',
    'Wrap each event in the member that names its type.',
  ],
  page: [
    must('3.1.4', 'LIST-011'),
    'The agent returns every page of tasks with tasks, pageSize and totalSize.',
    'Always send tasks, pageSize and totalSize, even if they are empty or 0.',
  ],
  'page-token': [
    must('3.1.4', 'LIST-002'),
    'The agent returns every page of tasks with a nextPageToken.',
    'Always send nextPageToken; send an empty string on the last page.',
  ],
  'push-config': [
    must('4.3.1', 'PUSH-003', 'PUSH-005', 'PUSH-007'),
    'The agent returns every push configuration with an id and a url.',
    'Send id, taskId, url, token and authentication as members of the configuration, without nesting.',
  ],
  camel: [
    must('5.5', 'JSON-001'),
    'The agent writes member names in camelCase.',
    'Rename the members, for example context_id to contextId.',
  ],
  enum: [
    must('5.5', 'JSON-002'),
    'The agent writes enumeration values as the names of the protocol buffers.',
    'Write TASK_STATE_WORKING and ROLE_AGENT instead of working, agent or numbers.',
  ],
  timestamp: [
    must('5.6.1', 'JSON-003'),
    'The agent writes timestamps as ISO 8601 strings.',
    'Write timestamps like 2026-01-31T12:00:00.000Z.',
  ],
  utc: [
    must('5.6.1', 'JSON-007', 'JSON-003'),
    'The agent writes timestamps in UTC with the suffix Z.',
    'Convert timestamps to UTC and end them with Z.',
  ],
  milliseconds: [
    should('5.6.1', 'JSON-004'),
    'The agent writes timestamps with milliseconds.',
    'Write three digits after the seconds.',
  ],
  empty: [
    must('5.7', 'JSON-010', 'MODEL-004', 'MODEL-009'),
    'The agent sends required arrays with at least one element.',
    'Do not send messages or artifacts without parts.',
  ],
  metadata: [
    must('4', 'MODEL-001'),
    'The agent sends metadata as an object.',
    'Send metadata as an object or omit it.',
  ],
  extensions: [
    must('4', 'MODEL-001'),
    'The agent sends extensions as an array of URIs.',
    'Send extensions as an array of strings or omit it.',
  ],
  foreign: [
    should('A.2', 'MODEL-001'),
    'The agent sends no members of older versions (kind, final, file) to 1.0 clients.',
    'Encode responses in the format of the version that the client requested.',
  ],
};

/** Rules of JSON that protobuf cannot violate: names, types and defaults of fields are part of its definition. */
const jsonTags: ReadonlySet<string> = new Set([
  'raw',
  'page',
  'page-token',
  'camel',
  'enum',
  'utc',
  'milliseconds',
  'metadata',
  'extensions',
  'foreign',
]);

/** Rules of the 1.0 data model. */
export const modelInvariants = defineInvariants(
  { category: 'lifecycle', versions: ['1.0'] },
  Object.entries(rules).map(([tag, [citation, sentence, remedy]]) => ({
    id: `model.${tag}`,
    ...citation,
    sentence,
    remedy,
    ...(jsonTags.has(tag) ? { transports: jsonTransports } : {}),
    check: schemaCheck(tag),
  })),
);
