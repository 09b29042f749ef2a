import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import { type MutantAgent, type MutantSetup, mutant, mutantTable } from '../harness/mutant-agent.ts';
import {
  type Mutation,
  type WireKind,
  addMembers,
  dropMember,
  framePayload,
  missingMemberMutants,
  mutateEvery,
  mutateResult,
  onTextParts,
  renameMember,
  setMember,
} from '../harness/mutations.ts';

const mutateEveryObject = (kind: WireKind, mutate: Mutation): MutantSetup => ({
  wire: () => mutateEvery(kind, mutate),
});
const setTextPart = (members: JsonObject): Mutation =>
  onTextParts((part) => {
    delete part.text;
    Object.assign(part, members);
  });
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
  ...missingMemberMutants({
    'model.task': ['task', 'id', 'status'],
    'model.task-context': ['task', 'contextId'],
    'model.status': ['status', 'state'],
    'model.message': ['message', 'messageId', 'role', 'parts'],
    'model.artifact': ['artifact', 'artifactId', 'parts'],
    'model.status-event': ['statusUpdate', 'taskId', 'contextId', 'status'],
    'model.artifact-event': ['artifactUpdate', 'taskId', 'artifact'],
    'model.page': ['page', 'totalSize', 'pageSize'],
  }),
  ...mutantTable(mutateEveryObject, {
    'model.task': {
      'history-object': [
        'The history is an object instead of an array.',
        'task',
        setMember('history', { first: {} }),
      ],
      'empty-id': ['A task has an empty id.', 'task', setMember('id', '')],
      'numeric-id': ['The id of a task is a number.', 'task', setMember('id', 17)],
    },
    'model.status': {
      'strange-state': ['A status has an unknown state.', 'status', setMember('state', 'TASK_STATE_DONE')],
      unspecified: [
        'A status has the state TASK_STATE_UNSPECIFIED.',
        'status',
        setMember('state', 'TASK_STATE_UNSPECIFIED'),
      ],
      'two-l': [
        'The state canceled is spelled with two l.',
        'status',
        onState((state) => (state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state)),
      ],
    },
    'model.message': {
      content: ['The parts of a message are named content.', 'message', renameMember('parts', 'content')],
    },
    'model.role': {
      'strange-role': [
        'A message has the role ROLE_ASSISTANT.',
        'message',
        setMember('role', 'ROLE_ASSISTANT'),
      ],
    },
    'model.part': {
      'two-contents': ['A part has text and data.', 'part', onTextParts(addMembers({ data: {} }))],
      'no-content': ['A part has no content.', 'part', onTextParts(dropMember('text'))],
      'text-object': ['The text of a part is an object.', 'part', setMember('text', { value: 'x' })],
    },
    'model.raw': {
      'raw-text': ['Raw content is not base64.', 'part', setTextPart({ raw: 'Hello!' })],
      'raw-url-safe': ['Raw content is base64url without padding.', 'part', setTextPart({ raw: '-_8' })],
    },
    'model.artifact-event': {
      'append-text': ['append is a string.', 'artifactUpdate', addMembers({ append: 'false' })],
    },
    'model.camel': {
      'snake-context': ['contextId is in snake case.', 'task', renameMember('contextId', 'context_id')],
      'snake-artifact': [
        'artifactId is in snake case.',
        'artifact',
        renameMember('artifactId', 'artifact_id'),
      ],
      'snake-message': ['messageId is in snake case.', 'message', renameMember('messageId', 'message_id')],
      'snake-token': [
        'nextPageToken is in snake case.',
        'page',
        renameMember('nextPageToken', 'next_page_token'),
      ],
    },
    'model.enum': {
      'short-states': [
        'States have their 0.3 names.',
        'status',
        onState((state) => state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-')),
      ],
      numbers: ['States are numbers.', 'status', setMember('state', 3)],
      'short-roles': ['Roles have their 0.3 names.', 'message', setMember('role', 'agent')],
    },
    'model.timestamp': {
      seconds: [
        'Timestamps are seconds since 1970.',
        'status',
        onTimestamp((text) => Math.floor(Date.parse(text) / 1000)),
      ],
      'date-text': [
        'Timestamps are not ISO 8601.',
        'status',
        onTimestamp((text) => new Date(text).toUTCString()),
      ],
    },
    'model.utc': {
      offset: [
        'Timestamps have an offset instead of Z.',
        'status',
        onTimestamp((text) => text.replace('Z', '+00:00')),
      ],
      'no-zone': ['Timestamps have no time zone.', 'status', onTimestamp((text) => text.replace('Z', ''))],
    },
    'model.milliseconds': {
      'no-milliseconds': [
        'Timestamps have no milliseconds.',
        'status',
        onTimestamp((text) => text.replace(/\.\d+/, '')),
      ],
    },
    'model.empty': {
      'no-parts-at-all': ['A message has an empty array of parts.', 'message', setMember('parts', [])],
      'empty-artifact': ['An artifact has an empty array of parts.', 'artifact', setMember('parts', [])],
    },
    'model.metadata': {
      'metadata-text': ['Metadata is a string.', 'task', addMembers({ metadata: 'none' })],
    },
    'model.extensions': {
      'extensions-text': ['Extensions are a string.', 'message', addMembers({ extensions: 'urn:x' })],
    },
    'model.foreign': {
      kind: ['A task has a kind, as in 0.3.', 'task', addMembers({ kind: 'task' })],
      final: ['A status update has final, as in 0.3.', 'statusUpdate', addMembers({ final: false })],
      'part-kind': ['A part has a kind, as in 0.3.', 'part', onTextParts(addMembers({ kind: 'text' }))],
    },
  }),
  mutant('model.artifact:same-ids', 'Two artifacts have the same id.', {
    wire: () =>
      mutateEvery('task', (task) => {
        if (Array.isArray(task.artifacts) && task.artifacts.length > 0)
          task.artifacts.push({ ...(task.artifacts[0] as JsonObject) });
      }),
  }),
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
  mutant('model.page:null-tasks', 'The tasks of an empty page are null.', {
    wire: () =>
      mutateEvery('page', (page) => {
        if ((page.tasks as unknown[]).length === 0) page.tasks = null;
      }),
  }),
  mutant('model.page-token:no-token', 'The last page has no nextPageToken.', {
    wire: () =>
      mutateEvery('page', (page) => {
        if (page.nextPageToken === '') delete page.nextPageToken;
      }),
  }),
  mutant('model.push-config:nested', 'A push configuration is nested, as in 0.3.', {
    wire: () =>
      mutateResult(
        /^CreateTaskPushNotificationConfig$|^POST .*pushNotificationConfigs$/,
        ({ taskId, ...config }) => ({ taskId, pushNotificationConfig: config }),
      ),
  }),
];
