import type { RequirementLevel } from '../rule-model.ts';
import { defineInvariants } from '../observation/observation.ts';
import type { Schema } from './schema.ts';
import { createSchemaChecks } from './schema-checks.ts';
import {
  event1_0,
  taskPage1_0,
  pushConfig1_0,
  pushConfigPage1_0,
  sendResult1_0,
  task1_0,
} from './schemas-1_0.ts';

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

type RuleRow = readonly [
  tag: string,
  requirements: readonly string[],
  section: string,
  level: RequirementLevel,
  sentence: string,
  remedy: string,
];

const rules: readonly RuleRow[] = [
  [
    'sent',
    ['SEND-003', 'RPC-008', 'REST-006'],
    '3.1.1',
    'MUST',
    'The agent returns either a task or a message as the result of a send.',
    'Wrap the result: {"task": …} or {"message": …}.',
  ],
  [
    'task',
    ['MODEL-002', 'GET-001', 'TID-002'],
    '4.1.1',
    'MUST',
    'The agent sends every task with an id and a status, and its artifacts and history as arrays.',
    'Send id and status with every task, and return the task without a wrapper from GetTask and CancelTask.',
  ],
  [
    'task-context',
    ['CTX-002', 'JSON-008'],
    '3.4.1',
    'MUST',
    'The agent sends every task with a contextId.',
    'Send contextId with every task; generate one if the client sent none.',
  ],
  [
    'status',
    ['MODEL-003'],
    '4.1.2',
    'MUST',
    'The agent sends every status with a state of the protocol.',
    'Use only the names of the TaskState enumeration.',
  ],
  [
    'message',
    ['MODEL-004', 'JSON-008'],
    '4.1.4',
    'MUST',
    'The agent sends every message with a messageId, a role and parts.',
    'Generate a unique messageId for every message of the agent.',
  ],
  [
    'role',
    ['MODEL-006'],
    '4.1.5',
    'MUST',
    'The agent uses only the roles ROLE_USER and ROLE_AGENT.',
    'Set the role to ROLE_USER or ROLE_AGENT.',
  ],
  [
    'part',
    ['MODEL-007'],
    '4.1.6',
    'MUST',
    'The agent sends every part with exactly one of text, raw, url and data.',
    'Split a part with several contents into several parts.',
  ],
  [
    'raw',
    ['MODEL-008'],
    '4.1.6',
    'MUST',
    'The agent encodes the raw content of parts in base64.',
    'Encode bytes in standard base64 with padding.',
  ],
  [
    'artifact',
    ['MODEL-009'],
    '4.1.7',
    'MUST',
    'The agent sends every artifact with parts and an artifactId that is unique in its task.',
    'Generate a unique artifactId for each artifact of a task.',
  ],
  [
    'status-event',
    ['MODEL-010'],
    '4.2.1',
    'MUST',
    'The agent sends every status update with a taskId, a contextId and a status.',
    'Send taskId, contextId and status with every status update.',
  ],
  [
    'artifact-event',
    ['MODEL-011'],
    '4.2.2',
    'MUST',
    'The agent sends every artifact update with a taskId, a contextId and an artifact.',
    'Send taskId, contextId and artifact with every artifact update.',
  ],
  [
    'payload',
    ['RPC-009', 'REST-021', 'PUSH-012'],
    '3.2.3',
    'MUST',
    'The agent sends every event with exactly one of task, message, statusUpdate and artifactUpdate.',
    'Wrap each event in the member that names its type.',
  ],
  [
    'page',
    ['LIST-011'],
    '3.1.4',
    'MUST',
    'The agent returns every page of tasks with tasks, pageSize and totalSize.',
    'Always send tasks, pageSize and totalSize, even if they are empty or 0.',
  ],
  [
    'page-token',
    ['LIST-002'],
    '3.1.4',
    'MUST',
    'The agent returns every page of tasks with a nextPageToken.',
    'Always send nextPageToken; send an empty string on the last page.',
  ],
  [
    'push-config',
    ['PUSH-003', 'PUSH-005', 'PUSH-007'],
    '4.3.1',
    'MUST',
    'The agent returns every push configuration with an id and a url.',
    'Send id, taskId, url, token and authentication as members of the configuration, without nesting.',
  ],
  [
    'camel',
    ['JSON-001'],
    '5.5',
    'MUST',
    'The agent writes member names in camelCase.',
    'Rename the members, for example context_id to contextId.',
  ],
  [
    'enum',
    ['JSON-002'],
    '5.5',
    'MUST',
    'The agent writes enumeration values as the names of the protocol buffers.',
    'Write TASK_STATE_WORKING and ROLE_AGENT instead of working, agent or numbers.',
  ],
  [
    'timestamp',
    ['JSON-003'],
    '5.6.1',
    'MUST',
    'The agent writes timestamps as ISO 8601 strings.',
    'Write timestamps like 2026-01-31T12:00:00.000Z.',
  ],
  [
    'utc',
    ['JSON-007', 'JSON-003'],
    '5.6.1',
    'MUST',
    'The agent writes timestamps in UTC with the suffix Z.',
    'Convert timestamps to UTC and end them with Z.',
  ],
  [
    'milliseconds',
    ['JSON-004'],
    '5.6.1',
    'SHOULD',
    'The agent writes timestamps with milliseconds.',
    'Write three digits after the seconds.',
  ],
  [
    'empty',
    ['JSON-010', 'MODEL-004', 'MODEL-009'],
    '5.7',
    'MUST',
    'The agent sends required arrays with at least one element.',
    'Do not send messages or artifacts without parts.',
  ],
  [
    'metadata',
    ['MODEL-001'],
    '4',
    'MUST',
    'The agent sends metadata as an object.',
    'Send metadata as an object or omit it.',
  ],
  [
    'extensions',
    ['MODEL-001'],
    '4',
    'MUST',
    'The agent sends extensions as an array of URIs.',
    'Send extensions as an array of strings or omit it.',
  ],
  [
    'foreign',
    ['MODEL-001'],
    'A.2',
    'SHOULD',
    'The agent sends no members of older versions (kind, final, file) to 1.0 clients.',
    'Encode responses in the format of the version that the client requested.',
  ],
];

/** Rules of the 1.0 data model. */
export const modelInvariants = defineInvariants(
  rules.map(([tag, requirements, section, level, sentence, remedy]) => ({
    id: `model.${tag}`,
    requirements,
    section,
    level,
    category: 'lifecycle',
    sentence,
    remedy,
    versions: ['1.0'],
    check: schemaCheck(tag),
  })),
);
