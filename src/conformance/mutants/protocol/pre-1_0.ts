import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import type { CheckedVersion } from '../../rule-model.ts';
import { type MutantAgent, type MutantSetup, mutant, mutantTable } from '../harness/mutant-agent.ts';
import {
  type Mutation,
  type WireKind,
  addMembers,
  dropMember,
  framePayload,
  missingMemberMutants,
  mutateCard,
  mutateEvery,
  mutateStream,
  onTextParts,
  renameMember,
  setMember,
  withFramePayload,
} from '../harness/mutations.ts';
import { operationMutants } from '../harness/operation-mutants.ts';
import { testPrincipals } from '../harness/serve-mutant.ts';
import { htmlResponse, wireJsonResponse } from '../harness/wire-responses.ts';

type OldVersion = Exclude<CheckedVersion, '1.0'>;

const overRpc = (version: OldVersion) => ({ versions: [version], transports: ['JSONRPC'] }) as const;

const mutateOldCard = (version: OldVersion, mutate: (card: JsonObject) => unknown): MutantSetup => ({
  versions: [version],
  wire: () => mutateCard(mutate),
});

/** Mutates stream events over JSON-RPC. `mutate` returns the replacement; undefined drops the event. */
const mutateEvents = (
  version: OldVersion,
  mutate: (payload: JsonObject) => JsonObject | undefined | 'same',
): MutantSetup => ({
  ...overRpc(version),
  wire: () =>
    mutateStream((frame) => {
      const payload = mutate(framePayload(frame));
      if (payload === 'same') return undefined;
      return payload === undefined ? [] : [withFramePayload(frame, payload)];
    }),
});

const withFinal =
  (final: (value: unknown) => unknown) =>
  (payload: JsonObject): JsonObject | 'same' =>
    'final' in payload ? { ...payload, final: final(payload.final) } : 'same';

const withoutMember =
  (name: string) =>
  ({ [name]: _removed, ...others }: JsonObject): JsonObject =>
    others;
const withoutInUpdate =
  (kind: string, name: string) =>
  (payload: JsonObject): JsonObject | 'same' =>
    payload.kind === kind ? withoutMember(name)(payload) : 'same';
const wrapStatus = (payload: JsonObject): JsonObject | 'same' =>
  payload.kind === 'status-update' ? { statusUpdate: payload } : 'same';
const withAuthentication =
  (scheme: string, credentials: JsonObject) =>
  (card: JsonObject): JsonObject => ({
    ...card,
    authentication: { schemes: [scheme], credentials: { [scheme]: credentials } },
  });
const inSkills =
  (mutate: (skill: JsonObject) => JsonObject) =>
  (card: JsonObject): JsonObject => ({ ...card, skills: (card.skills as JsonObject[]).map(mutate) });
const withCapabilities =
  (capabilities: JsonObject) =>
  (card: JsonObject): JsonObject => ({
    ...card,
    capabilities: { ...(card.capabilities as JsonObject), ...capabilities },
  });
const isStatus = (payload: JsonObject): boolean =>
  isJsonObject(payload.status) && !('history' in payload) && payload.kind !== 'task';

const repeatArtifacts: Mutation = (task) => {
  if (Array.isArray(task.artifacts)) task.artifacts = [...task.artifacts, ...task.artifacts];
};

/** Mutations of every object of a kind: description, kind, mutation. */
const everyObject: Readonly<
  Record<OldVersion, Record<string, Record<string, readonly [string, WireKind, Mutation]>>>
> = {
  '0.3': {
    '0.3.artifact': { twice: ['An artifact occurs twice in a task.', 'task', repeatArtifacts] },
    '0.3.task': { 'history-object': ['History is an object.', 'task', setMember('history', {})] },
    '0.3.status': {
      'new-names': [
        'States have their 1.0 names.',
        'status',
        (status) => {
          status.state = `TASK_STATE_${String(status.state).toUpperCase()}`;
        },
      ],
      strange: ['A status has an unknown state.', 'status', setMember('state', 'done')],
    },
    '0.3.message': { 'new-role': ['A role has its 1.0 name.', 'message', setMember('role', 'ROLE_AGENT')] },
    '0.3.part': {
      type: ['Parts have a type instead of a kind.', 'part', onTextParts(renameMember('kind', 'type'))],
      'two-files': [
        'A file has bytes and a uri.',
        'part',
        onTextParts((part) => {
          Object.assign(part, { kind: 'file', file: { bytes: 'AA==', uri: 'https://example.com' } });
          delete part.text;
        }),
      ],
    },
    '0.3.kind': { 'message-kind': ['A message has no kind.', 'message', dropMember('kind')] },
    '0.3.timestamp': {
      seconds: ['Timestamps are seconds.', 'status', setMember('timestamp', 1_700_000_000)],
    },
    '0.3.metadata': { 'metadata-text': ['Metadata is a string.', 'task', addMembers({ metadata: 'x' })] },
  },
  '0.1': {
    '0.1.artifact': { twice: ['An artifact occurs twice in a task.', 'task', repeatArtifacts] },
    '0.1.status': {
      rejected: ['A task has a state that 0.1 does not define.', 'status', setMember('state', 'rejected')],
    },
    '0.1.part': {
      'strange-type': ['A part has an unknown type.', 'part', onTextParts(addMembers({ type: 'markdown' }))],
      'no-text': [
        'A text part has no text.',
        'part',
        onTextParts((part) => {
          part.type = 'text';
          delete part.text;
        }),
      ],
    },
    '0.1.timestamp': {
      words: ['Timestamps are not ISO 8601.', 'status', setMember('timestamp', 'just now')],
    },
    '0.1.metadata': { 'metadata-text': ['Metadata is a string.', 'task', addMembers({ metadata: 'x' })] },
  },
};

/** Mutants of the versions before 1.0. */
export const pre1_0Mutants: readonly MutantAgent[] = [
  ...missingMemberMutants(
    {
      '0.3.task': ['task', 'id', 'contextId', 'status'],
      '0.3.status': ['status', 'state'],
      '0.3.message': ['message', 'messageId', 'parts'],
      '0.3.part': ['part', 'kind', 'text'],
      '0.3.artifact': ['artifact', 'artifactId', 'parts'],
      '0.3.kind': ['task', 'kind'],
    },
    overRpc('0.3'),
  ),
  ...missingMemberMutants(
    {
      '0.1.task': ['task', 'id', 'status'],
      '0.1.status': ['status', 'state'],
      '0.1.message': ['message', 'role', 'parts'],
      '0.1.artifact': ['artifact', 'parts'],
    },
    overRpc('0.1'),
  ),
  ...(['0.3', '0.1'] as const).flatMap((version) =>
    mutantTable(
      (kind: WireKind, mutate: Mutation): MutantSetup => ({
        ...overRpc(version),
        wire: () => mutateEvery(kind, mutate),
      }),
      everyObject[version],
    ),
  ),
  ...mutantTable(mutateEvents, {
    '0.3.kind': { wrapped: ['Events are wrapped as in 1.0.', '0.3', wrapStatus] },
    '0.3.event': {
      'no-task': ['A status update has no taskId.', '0.3', withoutInUpdate('status-update', 'taskId')],
      'no-context': [
        'An artifact update has no contextId.',
        '0.3',
        withoutInUpdate('artifact-update', 'contextId'),
      ],
    },
    '0.3.final': {
      'no-final': ['A status update has no final member.', '0.3', withoutInUpdate('status-update', 'final')],
      'final-text': ['final is a string.', '0.3', withFinal(String)],
    },
    'stream.final': {
      never: ['No event is final.', '0.3', withFinal(() => false)],
      always: ['Every status is final.', '0.3', withFinal(() => true)],
      'never-0.1': ['No event is final.', '0.1', withFinal(() => false)],
    },
    '0.1.event': {
      'no-id': ['An update has no task id.', '0.1', withoutMember('id')],
      'text-final': ['final is a string.', '0.1', withFinal(() => 'true')],
    },
    'stream.first-status': {
      'artifact-first': [
        'A stream starts with an artifact.',
        '0.1',
        (payload) => (isStatus(payload) && payload.final !== true ? undefined : 'same'),
      ],
    },
  }),
  ...mutantTable(mutateOldCard, {
    'card-0.3.fields': {
      'no-name': ['The card has no name.', '0.3', withoutMember('name')],
      'no-version': ['The card has no version.', '0.3', withoutMember('version')],
      'no-capabilities': ['The card has no capabilities.', '0.3', withoutMember('capabilities')],
      'no-modes': ['The card has no output modes.', '0.3', withoutMember('defaultOutputModes')],
    },
    'card-0.3.version': {
      'no-protocol': ['The card has no protocolVersion.', '0.3', withoutMember('protocolVersion')],
    },
    'card-0.3.skills': {
      'no-tags': ['A skill has no tags.', '0.3', inSkills(withoutMember('tags'))],
      'no-skill-id': ['A skill has no id.', '0.3', inSkills(withoutMember('id'))],
    },
    'card.flags': {
      'text-flag': ['A capability is a string.', '0.3', withCapabilities({ pushNotifications: 'yes' })],
      'number-flag': ['A capability is a number.', '0.1', withCapabilities({ pushNotifications: 1 })],
    },
    'card-0.1.fields': {
      'no-description': ['The card has no description.', '0.1', withoutMember('description')],
      'no-skills': ['The card has no skills.', '0.1', withoutMember('skills')],
    },
    'card-0.1.skills': {
      'no-modes': ['A skill has no inputModes.', '0.1', inSkills(withoutMember('inputModes'))],
      'empty-modes': [
        'The outputModes of a skill are empty.',
        '0.1',
        inSkills((skill) => ({ ...skill, outputModes: [] })),
      ],
      'no-skill-description': ['A skill has no description.', '0.1', inSkills(withoutMember('description'))],
    },
    'card-0.1.authentication': {
      'no-token-url': ['An OAuth 2 scheme has no token URL.', '0.1', withAuthentication('oauth2', {})],
      'no-header': ['An API key scheme has no header.', '0.1', withAuthentication('apiKey', { name: 'x' })],
    },
  }),
  mutant('card-0.3.transports:lies', 'The card lists a transport that is not served.', {
    versions: ['0.3'],
    wire: () => ({
      request: ({ path }) => (path.startsWith('/v1/') ? htmlResponse(404) : undefined),
    }),
  }),
  mutant('card-before.public:guarded', 'The card requires credentials.', {
    versions: ['0.3'],
    requiresAuthentication: true,
    wire: () => ({
      request: ({ path, headers }) =>
        path.includes('well-known') && headers.authorization === undefined
          ? wireJsonResponse(401, {})
          : undefined,
    }),
  }),
  mutant(
    'history.transitions:none',
    'The card declares stateTransitionHistory, but no history is returned.',
    {
      versions: ['0.1', '0.3'],
      wire: () => mutateCard(withCapabilities({ stateTransitionHistory: true })),
    },
  ),
  mutant('send.same-id:own', 'The agent replaces the task id of the client.', {
    versions: ['0.1'],
    wire: () =>
      mutateEvery('task', (task) => {
        task.id = 'of-my-own';
      }),
  }),
  operationMutants(['0.1'])(
    'send.goes-on:refuses',
    'An interrupted task accepts no further message.',
    (agent) => ({
      send: (request, call) =>
        JSON.stringify(request.message.parts).includes('the first one')
          ? agent.getTask({ id: request.clientTaskId ?? '' }, call)
          : agent.send(request, call),
    }),
  ),
  mutant('stream.subscribe-path:none', 'The path /subscribe does not exist.', {
    versions: ['0.1'],
    wire: () => ({
      request: ({ path }) => (path === '/subscribe' ? wireJsonResponse(404, {}) : undefined),
    }),
  }),
  mutant('stream.at-url:subscribe-only', 'Streams exist at the path /subscribe only.', {
    versions: ['0.1'],
    wire: () => ({
      request(request) {
        if (request.path === '/subscribe') request.path = '/';
        else if (/Subscribe$|resubscribe$/i.test(request.operation))
          return wireJsonResponse(200, { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'No' } });
        return undefined;
      },
    }),
  }),
  mutant('auth.required:open', 'No credentials are required.', {
    versions: ['0.1', '0.3'],
    requiresAuthentication: true,
    wire: () => ({
      request: ({ headers }) => {
        headers.authorization ??= `Bearer ${testPrincipals.ann}`;
      },
    }),
  }),
];
