/**
 * Arbitrary model values for property tests.
 *
 * Excludes values that the wire cannot distinguish: empty optional texts, empty metadata, empty lists of extensions, and
 * the metadata keys that dialects reserve.
 *
 * @module
 */
import * as fc from 'fast-check';
import type {
  AgentCard,
  AgentInterface,
  AgentSkill,
  OAuthFlow,
  SecurityRequirement,
  SecurityScheme,
} from '../src/protocol/card.ts';
import type { StreamEvent } from '../src/protocol/event.ts';
import type { Message } from '../src/protocol/message.ts';
import type { Metadata, Part } from '../src/protocol/part.ts';
import type { PushConfig } from '../src/protocol/push.ts';
import type { SendRequest } from '../src/protocol/requests.ts';
import { type Artifact, type Task, type TaskStatus, taskStates } from '../src/protocol/task.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const someText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const url = id.map((path) => `https://agent.test/${path}`);
const mediaType = fc.constantFrom('text/plain', 'application/json', 'image/png', 'text/markdown');

/** Creates records with some required and other optional keys. */
function record<T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }, required: (keyof T)[]): fc.Arbitrary<T> {
  return fc.record(fields, { requiredKeys: required, noNullPrototype: true });
}

function someOf<T>(each: fc.Arbitrary<T>, maxLength = 3): fc.Arbitrary<T[]> {
  return fc.array(each, { minLength: 1, maxLength });
}

// JSON has no -0, and a key named __proto__ needs special handling.
const json: fc.Arbitrary<unknown> = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as unknown);

const metadata: fc.Arbitrary<Metadata> = fc
  .dictionary(someText, json, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as Metadata);

const labels = { filename: someText, mediaType, metadata };

/** Parts of all four kinds. */
const part: fc.Arbitrary<Part> = fc.oneof(
  record({ text, ...labels }, ['text']),
  record(
    {
      raw: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64')),
      ...labels,
    },
    ['raw'],
  ),
  record({ url, ...labels }, ['url']),
  record(
    {
      data: fc.oneof(json, fc.constantFrom<unknown>(null, [], {}, 0, '', false, { data: { data: {} } })),
      ...labels,
    },
    ['data'],
  ),
);

const parts = someOf(part);

/** Messages of both roles. */
export const message: fc.Arbitrary<Message> = record<Message>(
  {
    messageId: id,
    role: fc.constantFrom('user', 'agent'),
    parts,
    contextId: id,
    taskId: id,
    extensions: someOf(url),
    referenceTaskIds: someOf(id),
    metadata,
  },
  ['messageId', 'role', 'parts'],
);

const timestamp = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());

/** Statuses of all states. */
const status: fc.Arbitrary<TaskStatus> = record<TaskStatus>(
  { state: fc.constantFrom(...taskStates), message, timestamp },
  ['state'],
);

/** Artifacts with at least one part. */
const artifact: fc.Arbitrary<Artifact> = record<Artifact>(
  { artifactId: id, name: someText, description: someText, parts, extensions: someOf(url), metadata },
  ['artifactId', 'parts'],
);

/** Tasks. */
export const task: fc.Arbitrary<Task> = record<Omit<Task, 'originVersion'>>(
  { id, contextId: id, status, artifacts: someOf(artifact, 2), history: someOf(message, 2), metadata },
  ['id', 'contextId', 'status'],
);

/** Events of all kinds without sequence number. */
export const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  task.map((each): StreamEvent => ({ kind: 'task', task: each })),
  message.map((each): StreamEvent => ({ kind: 'message', message: each })),
  record({ kind: fc.constant('status' as const), taskId: id, contextId: id, status, metadata }, [
    'kind',
    'taskId',
    'contextId',
    'status',
  ]),
  record(
    {
      kind: fc.constant('artifact' as const),
      taskId: id,
      contextId: id,
      artifact,
      append: fc.boolean(),
      lastChunk: fc.boolean(),
      metadata,
    },
    ['kind', 'taskId', 'contextId', 'artifact'],
  ),
);

const target = {
  url,
  token: someText,
  authentication: record({ scheme: fc.constantFrom('Bearer', 'Basic'), credentials: someText }, ['scheme']),
};

/** Push configurations of a task. */
export const push: fc.Arbitrary<PushConfig> = record({ taskId: id, id, ...target }, ['taskId', 'id', 'url']);

/** Send requests. `returnImmediately` is true or absent, because older versions cannot distinguish false from absent. */
export const send: fc.Arbitrary<SendRequest> = record<Omit<SendRequest, 'clientTaskId' | 'afterSequence'>>(
  {
    message,
    configuration: record(
      {
        acceptedOutputModes: someOf(mediaType),
        historyLength: fc.nat({ max: 100 }),
        returnImmediately: fc.constant(true),
        pushConfig: record({ id, ...target }, ['url']),
      },
      [],
    ).filter((each) => Object.keys(each).length > 0),
    metadata,
  },
  ['message'],
);

const scopes = fc.dictionary(id, text, { maxKeys: 2, noNullPrototype: true });
const refreshUrl = { refreshUrl: url, scopes };

const flows = record<{ [name: string]: OAuthFlow }>(
  {
    authorizationCode: record(
      { authorizationUrl: url, tokenUrl: url, pkceRequired: fc.boolean(), ...refreshUrl },
      ['authorizationUrl', 'tokenUrl', 'scopes'],
    ),
    clientCredentials: record({ tokenUrl: url, ...refreshUrl }, ['tokenUrl', 'scopes']),
    implicit: record({ authorizationUrl: url, ...refreshUrl }, ['authorizationUrl', 'scopes']),
    password: record({ tokenUrl: url, ...refreshUrl }, ['tokenUrl', 'scopes']),
    deviceCode: record({ deviceAuthorizationUrl: url, tokenUrl: url, ...refreshUrl }, [
      'deviceAuthorizationUrl',
      'tokenUrl',
      'scopes',
    ]),
  },
  [],
);

const description = someText;

/** Security schemes of all types. */
const securityScheme: fc.Arbitrary<SecurityScheme> = fc.oneof(
  record(
    {
      type: fc.constant('apiKey' as const),
      location: fc.constantFrom('header' as const, 'query' as const, 'cookie' as const),
      name: id,
      description,
    },
    ['type', 'location', 'name'],
  ),
  record(
    {
      type: fc.constant('http' as const),
      scheme: fc.constantFrom('bearer', 'basic'),
      bearerFormat: someText,
      description,
    },
    ['type', 'scheme'],
  ),
  record({ type: fc.constant('oauth2' as const), flows, oauth2MetadataUrl: url, description }, [
    'type',
    'flows',
  ]) as fc.Arbitrary<SecurityScheme>,
  record({ type: fc.constant('openIdConnect' as const), openIdConnectUrl: url, description }, [
    'type',
    'openIdConnectUrl',
  ]),
  record({ type: fc.constant('mutualTLS' as const), description }, ['type']),
);

const schemeName = fc.constantFrom('key', 'bearer', 'oauth', 'oidc', 'mtls');

const requirements: fc.Arbitrary<SecurityRequirement[]> = fc.uniqueArray(
  fc.dictionary(schemeName, fc.array(id, { maxLength: 2 }), {
    minKeys: 1,
    maxKeys: 2,
    noNullPrototype: true,
  }),
  { minLength: 1, maxLength: 3, selector: (each) => JSON.stringify(each) },
);

const skill: fc.Arbitrary<AgentSkill> = record<AgentSkill>(
  {
    id,
    name: text,
    description: text,
    tags: fc.array(someText, { maxLength: 2 }),
    examples: someOf(text),
    inputModes: someOf(mediaType),
    outputModes: someOf(mediaType),
    securityRequirements: requirements,
  },
  ['id', 'name', 'description', 'tags'],
);

const anyInterface: fc.Arbitrary<AgentInterface> = fc.oneof(
  record<AgentInterface>(
    {
      url,
      protocolBinding: fc.constantFrom('JSONRPC', 'HTTP+JSON', 'GRPC'),
      protocolVersion: fc.constant('1.0'),
      tenant: id,
    },
    ['url', 'protocolBinding', 'protocolVersion'],
  ),
  record<AgentInterface>(
    {
      url,
      protocolBinding: fc.constantFrom('JSONRPC', 'HTTP+JSON', 'GRPC'),
      protocolVersion: fc.constant('0.3'),
    },
    ['url', 'protocolBinding', 'protocolVersion'],
  ),
);

/** Interfaces with at least one for 0.3, so that a 0.3 card needs no guess. */
const interfaces: fc.Arbitrary<AgentInterface[]> = fc
  .uniqueArray(anyInterface, {
    minLength: 1,
    maxLength: 4,
    selector: (each) => `${each.url} ${each.protocolBinding} ${each.protocolVersion}`,
  })
  .filter((list) => list.some((each) => each.protocolVersion === '0.3'));

/** Cards without signatures, which a translation must drop. */
export const card: fc.Arbitrary<AgentCard> = record<Omit<AgentCard, 'signatures'>>(
  {
    name: someText,
    description: text,
    version: text,
    interfaces,
    capabilities: record(
      {
        streaming: fc.boolean(),
        pushNotifications: fc.boolean(),
        extendedAgentCard: fc.boolean(),
        stateTransitionHistory: fc.boolean(),
        extensions: someOf(
          record({ uri: url, description, required: fc.boolean(), params: metadata }, ['uri']),
          2,
        ),
      },
      [],
    ),
    defaultInputModes: fc.array(mediaType, { maxLength: 2 }),
    defaultOutputModes: fc.array(mediaType, { maxLength: 2 }),
    skills: fc.array(skill, { maxLength: 2 }),
    provider: record({ organization: text, url }, ['organization']),
    documentationUrl: url,
    iconUrl: url,
    securitySchemes: fc.dictionary(schemeName, securityScheme, {
      minKeys: 1,
      maxKeys: 3,
      noNullPrototype: true,
    }),
    securityRequirements: requirements,
  },
  [
    'name',
    'description',
    'version',
    'interfaces',
    'capabilities',
    'defaultInputModes',
    'defaultOutputModes',
    'skills',
  ],
);
