import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import type { CheckedVersion } from '../../rule-model.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import {
  type Mutation,
  type WireKind,
  addMembers,
  dropMember,
  framePayload,
  mutateCard,
  mutateEvery,
  mutateStream,
  onTextParts,
  renameMember,
  setMember,
  withFramePayload,
} from '../harness/mutations.ts';
import { operationMutant } from '../harness/operation-mutant.ts';
import { testPrincipals } from '../harness/serve-mutant.ts';
import { htmlResponse, wireJsonResponse } from '../harness/wire-responses.ts';

type OldVersion = Exclude<CheckedVersion, '1.0'>;

/** Mutates every object of a kind over JSON-RPC, in the version at the start of the id. */
function everyMutant(id: string, description: string, kind: WireKind, mutate: Mutation): MutantAgent {
  return mutant(id, description, {
    versions: [id.slice(0, 3) as OldVersion],
    transports: ['JSONRPC'],
    wire: () => mutateEvery(kind, mutate),
  });
}

function cardMutant(
  version: OldVersion,
  id: string,
  description: string,
  mutate: (card: JsonObject) => unknown,
): MutantAgent {
  return mutant(id, description, { versions: [version], wire: () => mutateCard(mutate) });
}

/** Mutates stream events over JSON-RPC. `mutate` returns the replacement; undefined drops the event. */
function eventMutant(
  version: OldVersion,
  id: string,
  description: string,
  mutate: (payload: JsonObject) => JsonObject | undefined | 'same',
): MutantAgent {
  return mutant(id, description, {
    versions: [version],
    transports: ['JSONRPC'],
    wire: () =>
      mutateStream((frame) => {
        const payload = mutate(framePayload(frame));
        return payload === 'same'
          ? undefined
          : payload === undefined
            ? []
            : [withFramePayload(frame, payload)];
      }),
  });
}

const withFinal =
  (final: (value: unknown) => unknown) =>
  (payload: JsonObject): JsonObject | 'same' =>
    'final' in payload ? { ...payload, final: final(payload.final) } : 'same';

const without = (object: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
const withoutMember =
  (name: string) =>
  (object: JsonObject): JsonObject =>
    without(object, name);
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

/** Mutants of the versions before 1.0. */
export const pre1_0Mutants: readonly MutantAgent[] = [
  ...(['0.3', '0.1'] as const).map((version) =>
    everyMutant(`${version}.artifact:twice`, 'An artifact occurs twice in a task.', 'task', (task) => {
      if (Array.isArray(task.artifacts)) task.artifacts = [...task.artifacts, ...task.artifacts];
    }),
  ),
  everyMutant('0.3.task:no-id', 'A task has no id.', 'task', dropMember('id')),
  everyMutant('0.3.task:no-context', 'A task has no contextId.', 'task', dropMember('contextId')),
  everyMutant('0.3.task:no-status', 'A task has no status.', 'task', dropMember('status')),
  everyMutant('0.3.task:history-object', 'History is an object.', 'task', setMember('history', {})),
  everyMutant('0.3.status:new-names', 'States have their 1.0 names.', 'status', (status) => {
    status.state = `TASK_STATE_${String(status.state).toUpperCase()}`;
  }),
  everyMutant('0.3.status:no-state', 'A status has no state.', 'status', dropMember('state')),
  everyMutant('0.3.status:strange', 'A status has an unknown state.', 'status', setMember('state', 'done')),
  everyMutant('0.3.message:no-message-id', 'A message has no messageId.', 'message', dropMember('messageId')),
  everyMutant('0.3.message:new-role', 'A role has its 1.0 name.', 'message', setMember('role', 'ROLE_AGENT')),
  everyMutant('0.3.message:no-parts', 'A message has no parts.', 'message', dropMember('parts')),
  everyMutant(
    '0.3.part:type',
    'Parts have a type instead of a kind, as in 0.1.',
    'part',
    onTextParts(renameMember('kind', 'type')),
  ),
  everyMutant('0.3.part:bare', 'Parts have no kind, as in 1.0.', 'part', dropMember('kind')),
  everyMutant('0.3.part:no-text', 'A text part has no text.', 'part', onTextParts(dropMember('text'))),
  everyMutant(
    '0.3.part:two-files',
    'A file has bytes and a uri.',
    'part',
    onTextParts((part) => {
      Object.assign(part, { kind: 'file', file: { bytes: 'AA==', uri: 'https://example.com' } });
      delete part.text;
    }),
  ),
  everyMutant(
    '0.3.artifact:no-artifact-id',
    'An artifact has no artifactId.',
    'artifact',
    dropMember('artifactId'),
  ),
  everyMutant('0.3.artifact:no-artifact-parts', 'An artifact has no parts.', 'artifact', dropMember('parts')),
  everyMutant('0.3.kind:no-kind', 'A task has no kind.', 'task', dropMember('kind')),
  everyMutant('0.3.kind:message-kind', 'A message has no kind.', 'message', dropMember('kind')),
  eventMutant('0.3', '0.3.kind:wrapped', 'Events are wrapped as in 1.0.', (payload) =>
    payload.kind === 'status-update' ? { statusUpdate: payload } : 'same',
  ),
  eventMutant('0.3', '0.3.event:no-task', 'An update has no taskId.', (payload) =>
    'taskId' in payload && payload.kind !== 'message' ? without(payload, 'taskId') : 'same',
  ),
  eventMutant('0.3', '0.3.event:no-context', 'An update has no contextId.', (payload) =>
    payload.kind === 'artifact-update' ? without(payload, 'contextId') : 'same',
  ),
  eventMutant('0.3', '0.3.final:no-final', 'A status update has no final member.', (payload) =>
    'final' in payload ? without(payload, 'final') : 'same',
  ),
  eventMutant('0.3', '0.3.final:final-text', 'final is a string.', withFinal(String)),
  eventMutant(
    '0.3',
    'stream.final:never',
    'No event is final.',
    withFinal(() => false),
  ),
  eventMutant(
    '0.3',
    'stream.final:always',
    'Every status is final.',
    withFinal(() => true),
  ),
  everyMutant(
    '0.3.timestamp:seconds',
    'Timestamps are seconds.',
    'status',
    setMember('timestamp', 1_700_000_000),
  ),
  everyMutant('0.3.metadata:metadata-text', 'Metadata is a string.', 'task', addMembers({ metadata: 'x' })),

  cardMutant('0.3', 'card-0.3.fields:no-name', 'The card has no name.', withoutMember('name')),
  cardMutant('0.3', 'card-0.3.fields:no-version', 'The card has no version.', withoutMember('version')),
  cardMutant(
    '0.3',
    'card-0.3.fields:no-capabilities',
    'The card has no capabilities.',
    withoutMember('capabilities'),
  ),
  cardMutant(
    '0.3',
    'card-0.3.fields:no-modes',
    'The card has no output modes.',
    withoutMember('defaultOutputModes'),
  ),
  cardMutant(
    '0.3',
    'card-0.3.version:no-protocol',
    'The card has no protocolVersion.',
    withoutMember('protocolVersion'),
  ),
  cardMutant('0.3', 'card-0.3.skills:no-tags', 'A skill has no tags.', inSkills(withoutMember('tags'))),
  cardMutant('0.3', 'card-0.3.skills:no-skill-id', 'A skill has no id.', inSkills(withoutMember('id'))),
  mutant('card-0.3.transports:lies', 'The card lists a transport that is not served.', {
    versions: ['0.3'],
    wire: () => ({
      request: ({ path }) => (path.startsWith('/v1/') ? htmlResponse(404) : undefined),
    }),
  }),
  cardMutant(
    '0.3',
    'card.flags:text-flag',
    'A capability is a string.',
    withCapabilities({ pushNotifications: 'yes' }),
  ),
  cardMutant(
    '0.1',
    'card.flags:number-flag',
    'A capability is a number.',
    withCapabilities({ pushNotifications: 1 }),
  ),
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

  cardMutant(
    '0.1',
    'card-0.1.fields:no-description',
    'The card has no description.',
    withoutMember('description'),
  ),
  cardMutant('0.1', 'card-0.1.fields:no-skills', 'The card has no skills.', withoutMember('skills')),
  cardMutant(
    '0.1',
    'card-0.1.skills:no-modes',
    'A skill has no inputModes.',
    inSkills(withoutMember('inputModes')),
  ),
  cardMutant(
    '0.1',
    'card-0.1.skills:empty-modes',
    'The outputModes of a skill are empty.',
    inSkills((skill) => ({ ...skill, outputModes: [] })),
  ),
  cardMutant(
    '0.1',
    'card-0.1.skills:no-skill-description',
    'A skill has no description.',
    inSkills(withoutMember('description')),
  ),
  cardMutant(
    '0.1',
    'card-0.1.authentication:no-token-url',
    'An OAuth 2 scheme has no token URL.',
    (card) => ({ ...card, authentication: { schemes: ['oauth2'], credentials: { oauth2: {} } } }),
  ),
  cardMutant('0.1', 'card-0.1.authentication:no-header', 'An API key scheme has no header.', (card) => ({
    ...card,
    authentication: { schemes: ['apiKey'], credentials: { apiKey: { name: 'x' } } },
  })),
  everyMutant('0.1.task:no-id', 'A task has no id.', 'task', dropMember('id')),
  everyMutant('0.1.task:no-status', 'A task has no status.', 'task', dropMember('status')),
  everyMutant(
    '0.1.status:rejected',
    'A task has the state rejected, which 0.1 does not define.',
    'status',
    setMember('state', 'rejected'),
  ),
  everyMutant('0.1.status:no-state', 'A status has no state.', 'status', dropMember('state')),
  everyMutant('0.1.message:no-role', 'A message has no role.', 'message', dropMember('role')),
  everyMutant('0.1.message:no-parts', 'A message has no parts.', 'message', dropMember('parts')),
  everyMutant(
    '0.1.part:strange-type',
    'A part has an unknown type.',
    'part',
    onTextParts(addMembers({ type: 'markdown' })),
  ),
  everyMutant(
    '0.1.part:no-text',
    'A text part has no text.',
    'part',
    onTextParts((part) => {
      part.type = 'text';
      delete part.text;
    }),
  ),
  everyMutant('0.1.artifact:no-artifact-parts', 'An artifact has no parts.', 'artifact', dropMember('parts')),
  eventMutant('0.1', '0.1.event:no-id', 'An update has no task id.', withoutMember('id')),
  eventMutant(
    '0.1',
    '0.1.event:text-final',
    'final is a string.',
    withFinal(() => 'true'),
  ),
  eventMutant(
    '0.1',
    'stream.final:never',
    'No event is final.',
    withFinal(() => false),
  ),
  everyMutant(
    '0.1.timestamp:seconds',
    'Timestamps are not ISO 8601.',
    'status',
    setMember('timestamp', 'just now'),
  ),
  everyMutant('0.1.metadata:metadata-text', 'Metadata is a string.', 'task', addMembers({ metadata: 'x' })),
  eventMutant('0.1', 'stream.first-status:artifact-first', 'A stream starts with an artifact.', (payload) =>
    isStatus(payload) && payload.final !== true ? undefined : 'same',
  ),
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
  operationMutant(
    'send.goes-on:refuses',
    'An interrupted task accepts no further message.',
    (agent) => ({
      send: (request, call) =>
        JSON.stringify(request.message.parts).includes('the first one')
          ? agent.getTask({ id: request.clientTaskId ?? '' }, call)
          : agent.send(request, call),
    }),
    ['0.1'],
  ),
  mutant('stream.subscribe-path:none', 'The path /subscribe does not exist.', {
    versions: ['0.1'],
    wire: () => ({
      request: ({ path }) => (path === '/subscribe' ? wireJsonResponse(404, {}) : undefined),
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
