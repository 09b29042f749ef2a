import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import {
  type Mutation,
  type WireKind,
  addMembers,
  dropMember,
  framePayload,
  mutateEvery,
  mutateResult,
  onTextParts,
  renameMember,
  setMember,
} from '../harness/mutations.ts';

/** Mutates every object of a kind. */
function everyMutant(id: string, description: string, kind: WireKind, mutate: Mutation): MutantAgent {
  return mutant(id, description, { wire: () => mutateEvery(kind, mutate) });
}

const onTimestamp =
  (change: (text: string) => unknown): Mutation =>
  (status) => {
    if (typeof status.timestamp === 'string') status.timestamp = change(status.timestamp);
  };
const onState =
  (change: (state: string) => unknown): Mutation =>
  (status) => {
    status.state = change(String(status.state));
  };
const send = /SendMessage|POST \/message:send/;
const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] };

/** Mutants of the 1.0 data model. */
export const modelMutants: readonly MutantAgent[] = [
  everyMutant('model.task:no-id', 'A task has no id.', 'task', dropMember('id')),
  everyMutant('model.task:no-status', 'A task has no status.', 'task', dropMember('status')),
  everyMutant(
    'model.task:history-object',
    'The history is an object instead of an array.',
    'task',
    setMember('history', { first: {} }),
  ),
  everyMutant('model.task:empty-id', 'A task has an empty id.', 'task', setMember('id', '')),
  everyMutant('model.task:numeric-id', 'The id of a task is a number.', 'task', setMember('id', 17)),
  everyMutant('model.task-context:no-context', 'A task has no contextId.', 'task', dropMember('contextId')),
  everyMutant(
    'model.status:strange-state',
    'A status has an unknown state.',
    'status',
    setMember('state', 'TASK_STATE_DONE'),
  ),
  everyMutant('model.status:no-state', 'A status has no state.', 'status', dropMember('state')),
  everyMutant(
    'model.status:unspecified',
    'A status has the state TASK_STATE_UNSPECIFIED.',
    'status',
    setMember('state', 'TASK_STATE_UNSPECIFIED'),
  ),
  everyMutant(
    'model.status:two-l',
    'The state canceled is spelled with two l.',
    'status',
    onState((state) => (state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state)),
  ),
  everyMutant('model.message:no-message-id', 'A message has no id.', 'message', dropMember('messageId')),
  everyMutant('model.message:no-role', 'A message has no role.', 'message', dropMember('role')),
  everyMutant('model.message:no-parts', 'A message has no parts.', 'message', dropMember('parts')),
  everyMutant(
    'model.message:content',
    'The parts of a message are named content.',
    'message',
    renameMember('parts', 'content'),
  ),
  everyMutant(
    'model.role:strange-role',
    'A message has the role ROLE_ASSISTANT.',
    'message',
    setMember('role', 'ROLE_ASSISTANT'),
  ),
  everyMutant(
    'model.part:two-contents',
    'A part has text and data.',
    'part',
    onTextParts(addMembers({ data: {} })),
  ),
  everyMutant('model.part:no-content', 'A part has no content.', 'part', onTextParts(dropMember('text'))),
  everyMutant(
    'model.part:text-object',
    'The text of a part is an object.',
    'part',
    onTextParts((part) => {
      part.text = { value: part.text };
    }),
  ),
  everyMutant(
    'model.raw:raw-text',
    'Raw content is not base64.',
    'part',
    onTextParts((part) => {
      part.raw = `${String(part.text)}!`;
      delete part.text;
    }),
  ),
  everyMutant(
    'model.raw:raw-url-safe',
    'Raw content is base64url without padding.',
    'part',
    onTextParts((part) => {
      part.raw = '-_8';
      delete part.text;
    }),
  ),
  everyMutant(
    'model.artifact:no-artifact-id',
    'An artifact has no id.',
    'artifact',
    dropMember('artifactId'),
  ),
  everyMutant(
    'model.artifact:no-artifact-parts',
    'An artifact has no parts.',
    'artifact',
    dropMember('parts'),
  ),
  everyMutant('model.artifact:same-ids', 'Two artifacts have the same id.', 'task', (task) => {
    if (Array.isArray(task.artifacts) && task.artifacts.length > 0)
      task.artifacts.push({ ...(task.artifacts[0] as JsonObject) });
  }),
  everyMutant(
    'model.status-event:no-task-id',
    'A status update has no taskId.',
    'statusUpdate',
    dropMember('taskId'),
  ),
  everyMutant(
    'model.status-event:no-context-id',
    'A status update has no contextId.',
    'statusUpdate',
    dropMember('contextId'),
  ),
  everyMutant(
    'model.status-event:no-event-status',
    'A status update has no status.',
    'statusUpdate',
    dropMember('status'),
  ),
  everyMutant(
    'model.artifact-event:no-artifact-task',
    'An artifact update has no taskId.',
    'artifactUpdate',
    dropMember('taskId'),
  ),
  everyMutant(
    'model.artifact-event:no-artifact',
    'An artifact update has no artifact.',
    'artifactUpdate',
    dropMember('artifact'),
  ),
  everyMutant(
    'model.artifact-event:append-text',
    'append is a string.',
    'artifactUpdate',
    addMembers({ append: 'false' }),
  ),
  mutant('model.payload:two', 'An event has two payloads.', {
    wire: () => ({
      frame(data) {
        const frame = data as JsonObject;
        const payload = framePayload(frame);
        if (isJsonObject(payload.statusUpdate)) payload.message = message;
        return [frame];
      },
    }),
  }),
  mutant('model.payload:bare', 'An event is not wrapped.', {
    wire: () => ({
      frame(data) {
        const frame = data as JsonObject;
        if (isJsonObject(frame.result) && isJsonObject(frame.result.statusUpdate))
          return [{ ...frame, result: frame.result.statusUpdate }];
        return [isJsonObject(frame.statusUpdate) ? frame.statusUpdate : frame];
      },
    }),
  }),
  mutant('model.sent:bare', 'The result of a send is a bare task.', {
    wire: () => mutateResult(send, ({ task, message }) => task ?? message),
  }),
  mutant('model.sent:both', 'The result of a send has a task and a message.', {
    wire: () => mutateResult(send, (result) => ({ ...result, message })),
  }),
  mutant('model.sent:empty', 'The result of a send is empty.', {
    wire: () => mutateResult(send, () => ({})),
  }),
  mutant('model.task:wrapped', 'The result of a get is wrapped.', {
    wire: () => mutateResult(/^GetTask$|^GET \/tasks\/\{id\}$/, (task) => ({ task })),
  }),
  everyMutant('model.page:no-total', 'A page has no totalSize.', 'page', dropMember('totalSize')),
  everyMutant('model.page:no-size', 'A page has no pageSize.', 'page', dropMember('pageSize')),
  everyMutant('model.page:null-tasks', 'The tasks of an empty page are null.', 'page', (page) => {
    if ((page.tasks as unknown[]).length === 0) page.tasks = null;
  }),
  everyMutant('model.page-token:no-token', 'The last page has no nextPageToken.', 'page', (page) => {
    if (page.nextPageToken === '') delete page.nextPageToken;
  }),
  everyMutant(
    'model.camel:snake-context',
    'contextId is written in snake case.',
    'task',
    renameMember('contextId', 'context_id'),
  ),
  everyMutant(
    'model.camel:snake-artifact',
    'artifactId is written in snake case.',
    'artifact',
    renameMember('artifactId', 'artifact_id'),
  ),
  everyMutant(
    'model.camel:snake-message',
    'messageId is written in snake case.',
    'message',
    renameMember('messageId', 'message_id'),
  ),
  everyMutant(
    'model.camel:snake-token',
    'nextPageToken is written in snake case.',
    'page',
    renameMember('nextPageToken', 'next_page_token'),
  ),
  everyMutant(
    'model.enum:short-states',
    'States have their 0.3 names.',
    'status',
    onState((state) => state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-')),
  ),
  everyMutant('model.enum:numbers', 'States are numbers.', 'status', setMember('state', 3)),
  everyMutant('model.enum:short-roles', 'Roles have their 0.3 names.', 'message', setMember('role', 'agent')),
  everyMutant(
    'model.timestamp:seconds',
    'Timestamps are seconds since 1970.',
    'status',
    onTimestamp((text) => Math.floor(Date.parse(text) / 1000)),
  ),
  everyMutant(
    'model.timestamp:date-text',
    'Timestamps are not ISO 8601.',
    'status',
    onTimestamp((text) => new Date(text).toUTCString()),
  ),
  everyMutant(
    'model.utc:offset',
    'Timestamps have an offset instead of Z.',
    'status',
    onTimestamp((text) => text.replace('Z', '+00:00')),
  ),
  everyMutant(
    'model.utc:no-zone',
    'Timestamps have no time zone.',
    'status',
    onTimestamp((text) => text.replace('Z', '')),
  ),
  everyMutant(
    'model.milliseconds:no-milliseconds',
    'Timestamps have no milliseconds.',
    'status',
    onTimestamp((text) => text.replace(/\.\d+/, '')),
  ),
  everyMutant(
    'model.empty:no-parts-at-all',
    'A message has an empty array of parts.',
    'message',
    setMember('parts', []),
  ),
  everyMutant(
    'model.empty:empty-artifact',
    'An artifact has an empty array of parts.',
    'artifact',
    setMember('parts', []),
  ),
  everyMutant(
    'model.metadata:metadata-text',
    'Metadata is a string.',
    'task',
    addMembers({ metadata: 'none' }),
  ),
  everyMutant(
    'model.extensions:extensions-text',
    'Extensions are a string.',
    'message',
    addMembers({ extensions: 'urn:x' }),
  ),
  everyMutant('model.foreign:kind', 'A task has a kind, as in 0.3.', 'task', addMembers({ kind: 'task' })),
  everyMutant(
    'model.foreign:final',
    'A status update has final, as in 0.3.',
    'statusUpdate',
    addMembers({ final: false }),
  ),
  everyMutant(
    'model.foreign:part-kind',
    'A part has a kind, as in 0.3.',
    'part',
    onTextParts(addMembers({ kind: 'text' })),
  ),
  mutant('model.push-config:nested', 'A push configuration is nested, as in 0.3.', {
    wire: () =>
      mutateResult(
        /^CreateTaskPushNotificationConfig$|^POST .*pushNotificationConfigs$/,
        ({ taskId, ...config }) => ({
          taskId,
          pushNotificationConfig: config,
        }),
      ),
  }),
];
