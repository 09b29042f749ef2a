import type { CheckedVersion } from '../../rule-model.ts';
import {
  type Mutation,
  mutateCard,
  mutateEvery,
  mutateStream,
  isMutableJson,
  type MutableJson,
  framePayload,
  type WireKind,
  withFramePayload,
  dropMember,
  onTextParts,
  setMember,
} from '../harness/mutations.ts';
import { type MutantAgent, defineMutants, type WireMutation } from '../harness/mutant-agent.ts';
import { operationMutant } from '../harness/operation-mutant.ts';

type Old = Exclude<CheckedVersion, '1.0'>;

/** An agent of an older version whose things of a kind are bent. */
function bent(
  version: Old,
  id: string,
  tag: string,
  what: string,
  kind: WireKind,
  bend: Mutation,
): MutantAgent {
  return {
    id: `${version}.${tag}:${id}`,
    violates: `${version}.${tag}`,
    description: what,
    versions: [version],
    transports: ['JSONRPC'],
    wire: () => mutateEvery(kind, bend),
  };
}

/** An agent of an older version whose card is bent. */
function card(
  version: Old,
  id: string,
  breaks: string,
  what: string,
  bend: (shown: MutableJson) => unknown,
): MutantAgent {
  return {
    id: `${breaks}:${id}`,
    violates: breaks,
    description: what,
    versions: [version],
    wire: () => mutateCard(bend),
  };
}

/** An agent of an older version whose events are bent; nothing is sent for those that are left out. */
function event(
  version: Old,
  id: string,
  breaks: string,
  what: string,
  bend: (payload: MutableJson, index: number) => MutableJson | undefined | 'same',
): MutantAgent {
  const wire = (): WireMutation =>
    mutateStream((data, index) => {
      const other = bend(framePayload(data), index);
      return other === 'same' ? undefined : other === undefined ? [] : [withFramePayload(data, other)];
    });
  return {
    id: `${breaks}:${id}`,
    violates: breaks,
    description: what,
    versions: [version],
    transports: ['JSONRPC'],
    wire,
  };
}

const without = (shown: MutableJson, name: string): MutableJson =>
  Object.fromEntries(Object.entries(shown).filter(([key]) => key !== name));
const withSkill = (shown: MutableJson, change: (skill: MutableJson) => MutableJson): MutableJson => ({
  ...shown,
  skills: (shown.skills as MutableJson[]).map(change),
});
const isStatus = (payload: MutableJson): boolean =>
  isMutableJson(payload.status) && !('history' in payload) && payload.kind !== 'task';

/** Agents of the versions before 1.0 that are wrong in one thing. */
export const pre1_0Mutants = defineMutants([
  ...(['0.3', '0.1'] as const).map((version) =>
    bent(version, 'twice', 'artifact', 'An artifact is in a task twice.', 'task', (task) => {
      if (Array.isArray(task.artifacts)) task.artifacts = [...task.artifacts, ...task.artifacts];
    }),
  ),
  bent('0.3', 'no-id', 'task', 'A task has no id.', 'task', dropMember('id')),
  bent('0.3', 'no-context', 'task', 'A task has no contextId.', 'task', dropMember('contextId')),
  bent('0.3', 'no-status', 'task', 'A task has no status.', 'task', dropMember('status')),
  bent('0.3', 'history-object', 'task', 'History is an object.', 'task', setMember('history', {})),
  bent('0.3', 'new-names', 'status', 'States have the names of 1.0.', 'status', (status) => {
    status.state = `TASK_STATE_${String(status.state).toUpperCase()}`;
  }),
  bent('0.3', 'no-state', 'status', 'A status has no state.', 'status', dropMember('state')),
  bent('0.3', 'strange', 'status', 'A state is none of the protocol.', 'status', setMember('state', 'done')),
  bent('0.3', 'no-message-id', 'message', 'A message has no messageId.', 'message', dropMember('messageId')),
  bent(
    '0.3',
    'new-role',
    'message',
    'A role has the name of 1.0.',
    'message',
    setMember('role', 'ROLE_AGENT'),
  ),
  bent('0.3', 'no-parts', 'message', 'A message has no parts.', 'message', dropMember('parts')),
  bent(
    '0.3',
    'type',
    'part',
    'Parts say their type, as in 0.1.',
    'part',
    onTextParts((part) => {
      part.type = part.kind;
      delete part.kind;
    }),
  ),
  bent('0.3', 'bare', 'part', 'Parts have no kind, as in 1.0.', 'part', dropMember('kind')),
  bent(
    '0.3',
    'no-text',
    'part',
    'A text has no text.',
    'part',
    onTextParts((part) => {
      delete part.text;
    }),
  ),
  bent(
    '0.3',
    'two-files',
    'part',
    'A file has bytes and a uri.',
    'part',
    onTextParts((part) => {
      Object.assign(part, { kind: 'file', file: { bytes: 'AA==', uri: 'https://example.com' } });
      delete part.text;
    }),
  ),
  bent(
    '0.3',
    'no-artifact-id',
    'artifact',
    'An artifact has no artifactId.',
    'artifact',
    dropMember('artifactId'),
  ),
  bent('0.3', 'no-artifact-parts', 'artifact', 'An artifact has no parts.', 'artifact', dropMember('parts')),
  bent('0.3', 'no-kind', 'kind', 'A task has no kind.', 'task', dropMember('kind')),
  bent('0.3', 'message-kind', 'kind', 'A message has no kind.', 'message', dropMember('kind')),
  event('0.3', 'wrapped', '0.3.kind', 'Events are wrapped as in 1.0.', (payload) =>
    payload.kind === 'status-update' ? { statusUpdate: payload } : 'same',
  ),
  event('0.3', 'no-task', '0.3.event', 'An update names no task.', (payload) =>
    'taskId' in payload && payload.kind !== 'message' ? without(payload, 'taskId') : 'same',
  ),
  event('0.3', 'no-context', '0.3.event', 'An update names no context.', (payload) =>
    payload.kind === 'artifact-update' ? without(payload, 'contextId') : 'same',
  ),
  event('0.3', 'no-final', '0.3.final', 'Status updates do not say whether they are the last.', (payload) =>
    'final' in payload ? without(payload, 'final') : 'same',
  ),
  event('0.3', 'final-text', '0.3.final', 'final is a text.', (payload) =>
    'final' in payload ? { ...payload, final: String(payload.final) } : 'same',
  ),
  event('0.3', 'never', 'stream.final', 'No event is final.', (payload) =>
    'final' in payload ? { ...payload, final: false } : 'same',
  ),
  event('0.3', 'always', 'stream.final', 'Every status is final.', (payload) =>
    'final' in payload ? { ...payload, final: true } : 'same',
  ),
  bent(
    '0.3',
    'seconds',
    'timestamp',
    'Moments are seconds.',
    'status',
    setMember('timestamp', 1_700_000_000),
  ),
  bent('0.3', 'metadata-text', 'metadata', 'Metadata is a text.', 'task', (task) =>
    Object.assign(task, { metadata: 'x' }),
  ),

  card('0.3', 'no-name', 'card-0.3.fields', 'The card has no name.', (shown) => without(shown, 'name')),
  card('0.3', 'no-version', 'card-0.3.fields', 'The card has no version of the agent.', (shown) =>
    without(shown, 'version'),
  ),
  card('0.3', 'no-capabilities', 'card-0.3.fields', 'The card has no capabilities.', (shown) =>
    without(shown, 'capabilities'),
  ),
  card('0.3', 'no-modes', 'card-0.3.fields', 'The card has no modes.', (shown) =>
    without(shown, 'defaultOutputModes'),
  ),
  card('0.3', 'no-protocol', 'card-0.3.version', 'The card does not say its version.', (shown) =>
    without(shown, 'protocolVersion'),
  ),
  card('0.3', 'no-tags', 'card-0.3.skills', 'A skill has no tags.', (shown) =>
    withSkill(shown, (skill) => without(skill, 'tags')),
  ),
  card('0.3', 'no-skill-id', 'card-0.3.skills', 'A skill has no id.', (shown) =>
    withSkill(shown, (skill) => without(skill, 'id')),
  ),
  {
    id: 'card-0.3.transports:lies',
    violates: 'card-0.3.transports',
    description: 'The card names a transport that is not served.',
    versions: ['0.3'],
    wire: () => ({
      request: ({ path }) =>
        path.startsWith('/v1/')
          ? {
              status: 404,
              headers: { 'content-type': 'text/html' },
              text: '<html>No</html>',
              json: undefined,
            }
          : undefined,
    }),
  },
  card('0.3', 'text-flag', 'card.flags', 'A capability is a text.', (shown) => ({
    ...shown,
    capabilities: { ...(shown.capabilities as MutableJson), pushNotifications: 'yes' },
  })),
  card('0.1', 'number-flag', 'card.flags', 'A capability is a number.', (shown) => ({
    ...shown,
    capabilities: { ...(shown.capabilities as MutableJson), pushNotifications: 1 },
  })),
  {
    id: 'card-before.public:guarded',
    violates: 'card-before.public',
    description: 'The card needs credentials.',
    versions: ['0.3'],
    requiresAuthentication: true,
    wire: () => ({
      request: ({ path, headers }) =>
        path.includes('well-known') && headers.authorization === undefined
          ? { status: 401, headers: { 'content-type': 'application/json' }, text: '{}', json: undefined }
          : undefined,
    }),
  },

  card('0.1', 'no-description', 'card-0.1.fields', 'The card has no description.', (shown) =>
    without(shown, 'description'),
  ),
  card('0.1', 'no-skills', 'card-0.1.fields', 'The card has no skills.', (shown) => without(shown, 'skills')),
  card('0.1', 'no-modes', 'card-0.1.skills', 'A skill has no inputModes.', (shown) =>
    withSkill(shown, (skill) => without(skill, 'inputModes')),
  ),
  card('0.1', 'empty-modes', 'card-0.1.skills', 'A skill has no outputModes in its list.', (shown) =>
    withSkill(shown, (skill) => ({ ...skill, outputModes: [] })),
  ),
  card('0.1', 'no-skill-description', 'card-0.1.skills', 'A skill has no description.', (shown) =>
    withSkill(shown, (skill) => without(skill, 'description')),
  ),
  card(
    '0.1',
    'no-token-url',
    'card-0.1.authentication',
    'OAuth 2 without an address for tokens.',
    (shown) => ({ ...shown, authentication: { schemes: ['oauth2'], credentials: { oauth2: {} } } }),
  ),
  card('0.1', 'no-header', 'card-0.1.authentication', 'An API key without its header.', (shown) => ({
    ...shown,
    authentication: { schemes: ['apiKey'], credentials: { apiKey: { name: 'x' } } },
  })),
  bent('0.1', 'no-id', 'task', 'A task has no id.', 'task', dropMember('id')),
  bent('0.1', 'no-status', 'task', 'A task has no status.', 'task', dropMember('status')),
  bent(
    '0.1',
    'rejected',
    'status',
    'A task is rejected, which 0.1 does not know.',
    'status',
    setMember('state', 'rejected'),
  ),
  bent('0.1', 'no-state', 'status', 'A status has no state.', 'status', dropMember('state')),
  bent('0.1', 'no-role', 'message', 'A message has no role.', 'message', dropMember('role')),
  bent('0.1', 'no-parts', 'message', 'A message has no parts.', 'message', dropMember('parts')),
  bent(
    '0.1',
    'strange-type',
    'part',
    'A part is of a type that nobody knows.',
    'part',
    onTextParts((part) => {
      part.type = 'markdown';
    }),
  ),
  bent(
    '0.1',
    'no-text',
    'part',
    'A text has no text.',
    'part',
    onTextParts((part) => {
      part.type = 'text';
      delete part.text;
    }),
  ),
  bent('0.1', 'no-artifact-parts', 'artifact', 'An artifact has no parts.', 'artifact', dropMember('parts')),
  event('0.1', 'no-id', '0.1.event', 'An update names no task.', (payload) => without(payload, 'id')),
  event('0.1', 'text-final', '0.1.event', 'final is a text.', (payload) =>
    'final' in payload ? { ...payload, final: 'true' } : 'same',
  ),
  event('0.1', 'never', 'stream.final', 'No event is final.', (payload) =>
    'final' in payload ? { ...payload, final: false } : 'same',
  ),
  bent('0.1', 'seconds', 'timestamp', 'Moments are words.', 'status', setMember('timestamp', 'just now')),
  bent('0.1', 'metadata-text', 'metadata', 'Metadata is a text.', 'task', (task) =>
    Object.assign(task, { metadata: 'x' }),
  ),
  event('0.1', 'artifact-first', 'stream.first-status', 'A stream begins with an artifact.', (payload) =>
    isStatus(payload) && payload.final !== true ? undefined : 'same',
  ),
  {
    id: 'history.transitions:none',
    violates: 'history.transitions',
    description: 'History is promised and not given.',
    versions: ['0.1', '0.3'],
    wire: () => ({
      ...mutateCard((shown) => ({
        ...shown,
        capabilities: { ...(shown.capabilities as MutableJson), stateTransitionHistory: true },
      })),
    }),
  },
  {
    id: 'send.same-id:own',
    violates: 'send.same-id',
    description: 'The agent makes ids of its own.',
    versions: ['0.1'],
    wire: () =>
      mutateEvery('task', (task) => {
        task.id = 'of-my-own';
      }),
  },
  operationMutant(
    'refuses',
    'send.goes-on',
    'A task that waits takes no further message.',
    (agent) => ({
      send: (request, call) =>
        JSON.stringify(request.message.parts).includes('the first one')
          ? agent.getTask({ id: request.clientTaskId ?? '' }, call)
          : agent.send(request, call),
    }),
    ['0.1'],
  ),
  {
    id: 'stream.subscribe-path:none',
    violates: 'stream.subscribe-path',
    description: 'There is nothing at /subscribe.',
    versions: ['0.1'],
    wire: () => ({
      request: ({ path }) =>
        path === '/subscribe'
          ? { status: 404, headers: { 'content-type': 'application/json' }, text: '{}', json: undefined }
          : undefined,
    }),
  },
  {
    id: 'auth.required:open',
    violates: 'auth.required',
    description: 'Nobody needs credentials.',
    versions: ['0.1', '0.3'],
    requiresAuthentication: true,
    wire: () => ({
      request: ({ headers }) => {
        headers.authorization ??= 'Bearer token-of-ann';
      },
    }),
  },
]);
