import {
  mutateEvery,
  mutateResult,
  type Mutation,
  isMutableJson,
  type MutableJson,
  type WireKind,
  dropMember,
  onTextParts,
  setMember,
} from '../harness/mutations.ts';
import { type MutantAgent, defineMutants } from '../harness/mutant-agent.ts';

/** A broken agent in one line: how, which rule, what, of which things, and the bend. */
function bent(id: string, breaks: string, what: string, kind: WireKind, bend: Mutation): MutantAgent {
  return {
    id: `${breaks}:${id}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    wire: () => mutateEvery(kind, bend),
  };
}

const rename =
  (from: string, to: string): Mutation =>
  (thing) => {
    if (!(from in thing)) return;
    thing[to] = thing[from];
    delete thing[from];
  };
const stamp =
  (change: (text: string) => unknown): Mutation =>
  (status) => {
    if (typeof status.timestamp === 'string') status.timestamp = change(status.timestamp);
  };
const states =
  (change: (state: string) => unknown): Mutation =>
  (status) => {
    status.state = change(String(status.state));
  };
const sendOnly = /SendMessage|POST \/message:send/;

/** Agents whose data model is wrong in one thing. */
export const modelMutants = defineMutants([
  bent('no-id', 'model.task', 'A task has no id.', 'task', dropMember('id')),
  bent('no-status', 'model.task', 'A task has no status.', 'task', dropMember('status')),
  bent(
    'history-object',
    'model.task',
    'History is an object instead of a list.',
    'task',
    setMember('history', { first: {} }),
  ),
  bent('empty-id', 'model.task', 'A task has an empty id.', 'task', setMember('id', '')),
  bent('numeric-id', 'model.task', 'A task has a number for its id.', 'task', setMember('id', 17)),
  bent('no-context', 'model.task-context', 'A task names no context.', 'task', dropMember('contextId')),
  bent(
    'strange-state',
    'model.status',
    'A state is none of the protocol.',
    'status',
    setMember('state', 'TASK_STATE_DONE'),
  ),
  bent('no-state', 'model.status', 'A status has no state.', 'status', dropMember('state')),
  bent(
    'unspecified',
    'model.status',
    'A status is unspecified.',
    'status',
    setMember('state', 'TASK_STATE_UNSPECIFIED'),
  ),
  bent(
    'two-l',
    'model.status',
    'Canceled is spelt with two l.',
    'status',
    states((state) => (state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state)),
  ),
  bent('no-message-id', 'model.message', 'A message has no id.', 'message', dropMember('messageId')),
  bent('no-role', 'model.message', 'A message has no role.', 'message', dropMember('role')),
  bent('no-parts', 'model.message', 'A message has no parts.', 'message', dropMember('parts')),
  bent(
    'content',
    'model.message',
    'The parts of a message are called content.',
    'message',
    rename('parts', 'content'),
  ),
  bent(
    'strange-role',
    'model.role',
    'The role is assistant.',
    'message',
    setMember('role', 'ROLE_ASSISTANT'),
  ),
  bent(
    'two-contents',
    'model.part',
    'A part has a text and data.',
    'part',
    onTextParts((part) => Object.assign(part, { data: {} })),
  ),
  bent(
    'no-content',
    'model.part',
    'A part has no content.',
    'part',
    onTextParts((part) => {
      delete part.text;
    }),
  ),
  bent(
    'text-object',
    'model.part',
    'A text is an object.',
    'part',
    onTextParts((part) => Object.assign(part, { text: { value: part.text } })),
  ),
  bent(
    'raw-text',
    'model.raw',
    'Bytes are sent as they are.',
    'part',
    onTextParts((part) => {
      part.raw = `${String(part.text)}!`;
      delete part.text;
    }),
  ),
  bent(
    'raw-url-safe',
    'model.raw',
    'Bytes are in the alphabet for addresses, without padding.',
    'part',
    onTextParts((part) => {
      part.raw = '-_8';
      delete part.text;
    }),
  ),
  bent('no-artifact-id', 'model.artifact', 'An artifact has no id.', 'artifact', dropMember('artifactId')),
  bent('no-artifact-parts', 'model.artifact', 'An artifact has no parts.', 'artifact', dropMember('parts')),
  bent('same-ids', 'model.artifact', 'Two artifacts have the same id.', 'task', (task) => {
    if (Array.isArray(task.artifacts) && task.artifacts.length > 0)
      task.artifacts.push({ ...(task.artifacts[0] as MutableJson) });
  }),
  bent(
    'no-task-id',
    'model.status-event',
    'A status update names no task.',
    'statusUpdate',
    dropMember('taskId'),
  ),
  bent(
    'no-context-id',
    'model.status-event',
    'A status update names no context.',
    'statusUpdate',
    dropMember('contextId'),
  ),
  bent(
    'no-event-status',
    'model.status-event',
    'A status update has no status.',
    'statusUpdate',
    dropMember('status'),
  ),
  bent(
    'no-artifact-task',
    'model.artifact-event',
    'An artifact update names no task.',
    'artifactUpdate',
    dropMember('taskId'),
  ),
  bent(
    'no-artifact',
    'model.artifact-event',
    'An artifact update has no artifact.',
    'artifactUpdate',
    dropMember('artifact'),
  ),
  bent('append-text', 'model.artifact-event', 'append is a text.', 'artifactUpdate', (update) =>
    Object.assign(update, { append: 'false' }),
  ),
  {
    id: 'model.payload:two',
    violates: 'model.payload',
    description: 'An event has two payloads.',
    versions: ['1.0'],
    wire: () => ({
      frame(data) {
        const frame = data as MutableJson;
        const payload = isMutableJson(frame.result) ? frame.result : frame;
        if (isMutableJson(payload.statusUpdate))
          payload.message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] };
        return [frame];
      },
    }),
  },
  {
    id: 'model.payload:bare',
    violates: 'model.payload',
    description: 'An event is not wrapped.',
    versions: ['1.0'],
    wire: () => ({
      frame(data) {
        const frame = data as MutableJson;
        if (isMutableJson(frame.result) && isMutableJson(frame.result.statusUpdate))
          return [{ ...frame, result: frame.result.statusUpdate }];
        return [isMutableJson(frame.statusUpdate) ? frame.statusUpdate : frame];
      },
    }),
  },
  {
    id: 'model.sent:bare',
    violates: 'model.sent',
    description: 'The answer to a send is a bare task.',
    versions: ['1.0'],
    wire: () => mutateResult(sendOnly, ({ task, message }) => task ?? message),
  },
  {
    id: 'model.sent:both',
    violates: 'model.sent',
    description: 'The answer to a send has a task and a message.',
    versions: ['1.0'],
    wire: () =>
      mutateResult(sendOnly, (result) => ({
        ...result,
        message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] },
      })),
  },
  {
    id: 'model.sent:empty',
    violates: 'model.sent',
    description: 'The answer to a send is empty.',
    versions: ['1.0'],
    wire: () => mutateResult(sendOnly, () => ({})),
  },
  {
    id: 'model.task:wrapped',
    violates: 'model.task',
    description: 'The answer to a get is wrapped.',
    versions: ['1.0'],
    wire: () => mutateResult(/^GetTask$|^GET \/tasks\/\{id\}$/, (task) => ({ task })),
  },
  bent('no-total', 'model.page', 'A page does not say how many there are.', 'page', dropMember('totalSize')),
  bent('no-size', 'model.page', 'A page does not say its size.', 'page', dropMember('pageSize')),
  bent('null-tasks', 'model.page', 'A page without tasks has null.', 'page', (page) => {
    if ((page.tasks as unknown[]).length === 0) page.tasks = null;
  }),
  bent('no-token', 'model.page-token', 'The last page has no token.', 'page', (page) => {
    if (page.nextPageToken === '') delete page.nextPageToken;
  }),
  bent(
    'snake-context',
    'model.camel',
    'contextId is written in snake case.',
    'task',
    rename('contextId', 'context_id'),
  ),
  bent(
    'snake-artifact',
    'model.camel',
    'artifactId is written in snake case.',
    'artifact',
    rename('artifactId', 'artifact_id'),
  ),
  bent(
    'snake-message',
    'model.camel',
    'messageId is written in snake case.',
    'message',
    rename('messageId', 'message_id'),
  ),
  bent(
    'snake-token',
    'model.camel',
    'nextPageToken is written in snake case.',
    'page',
    rename('nextPageToken', 'next_page_token'),
  ),
  bent(
    'short-states',
    'model.enum',
    'States have the names of 0.3.',
    'status',
    states((state) => state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-')),
  ),
  bent('numbers', 'model.enum', 'States are numbers.', 'status', setMember('state', 3)),
  bent('short-roles', 'model.enum', 'Roles have the names of 0.3.', 'message', setMember('role', 'agent')),
  bent(
    'seconds',
    'model.timestamp',
    'Moments are seconds since 1970.',
    'status',
    stamp((text) => Math.floor(Date.parse(text) / 1000)),
  ),
  bent(
    'date-text',
    'model.timestamp',
    'Moments are written for people.',
    'status',
    stamp((text) => new Date(text).toUTCString()),
  ),
  bent(
    'offset',
    'model.utc',
    'Moments have an offset.',
    'status',
    stamp((text) => text.replace('Z', '+00:00')),
  ),
  bent(
    'no-zone',
    'model.utc',
    'Moments have no zone.',
    'status',
    stamp((text) => text.replace('Z', '')),
  ),
  bent(
    'no-milliseconds',
    'model.milliseconds',
    'Moments end with the seconds.',
    'status',
    stamp((text) => text.replace(/\.\d+/, '')),
  ),
  bent(
    'no-parts-at-all',
    'model.empty',
    'A message has an empty list of parts.',
    'message',
    setMember('parts', []),
  ),
  bent(
    'empty-artifact',
    'model.empty',
    'An artifact has an empty list of parts.',
    'artifact',
    setMember('parts', []),
  ),
  bent('metadata-text', 'model.metadata', 'Metadata is a text.', 'task', (task) =>
    Object.assign(task, { metadata: 'none' }),
  ),
  bent('extensions-text', 'model.extensions', 'Extensions are one text.', 'message', (message) =>
    Object.assign(message, { extensions: 'urn:x' }),
  ),
  bent('kind', 'model.foreign', 'A task has its kind, as in 0.3.', 'task', (task) =>
    Object.assign(task, { kind: 'task' }),
  ),
  bent('final', 'model.foreign', 'A status update has final, as in 0.3.', 'statusUpdate', (update) =>
    Object.assign(update, { final: false }),
  ),
  bent(
    'part-kind',
    'model.foreign',
    'A part has its kind, as in 0.3.',
    'part',
    onTextParts((part) => Object.assign(part, { kind: 'text' })),
  ),
  {
    id: 'model.push-config:nested',
    violates: 'model.push-config',
    description: 'A push configuration is nested, as in 0.3.',
    versions: ['1.0'],
    wire: () =>
      mutateResult(
        /^CreateTaskPushNotificationConfig$|^POST .*pushNotificationConfigs$/,
        ({ taskId, ...config }) => ({
          taskId,
          pushNotificationConfig: config,
        }),
      ),
  },
]);
