import type { CheckedTransport } from '../rule-model.ts';
import { encodeGrpcRequest } from './grpc/grpc-encoding.ts';
import { service0_3 } from './grpc/service-schemas.ts';
import { encodeRestRequest, type RestRequestParts, restRoute } from './rest-encoding.ts';
import { encodeRpcRequest } from './rpc-encoding.ts';
import { grpcDecoding, restDecoding, rpcDecoding, type TransportEncoding } from './transport-encoding.ts';
import type {
  OperationInput,
  MessageDraft,
  DriverOperation,
  ProtocolDriver,
  WebhookDraft,
} from './protocol-driver.ts';
import { isJsonObject, type JsonObject } from '../../primitives/json.ts';
import {
  asList,
  type NormalizedEvent,
  normalizeArtifactUpdate,
  normalizeStatusUpdate,
  normalizeTask,
  normalizeTaskResult,
  type WireNames,
  withoutUndefined,
  listOf,
} from './normalized-views.ts';

const stateNames = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'rejected'];
const wireStates: Readonly<Record<string, string>> = Object.fromEntries(
  [...stateNames, 'auth-required', 'unknown'].map((name) => [name, name]),
);
/** REST of 0.3 uses the enum names of its protocol buffers. */
const shortState = (state: unknown): string => {
  const text = String(state);
  const name = text
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
  return text.startsWith('TASK_STATE_') ? (name === 'cancelled' ? 'canceled' : name) : text;
};
const names: WireNames = {
  taskId: 'taskId',
  contextId: 'contextId',
  artifactId: 'artifactId',
  shortState,
};

const methods: Readonly<Record<DriverOperation, string | undefined>> = {
  send: 'message/send',
  stream: 'message/stream',
  get: 'tasks/get',
  list: undefined,
  cancel: 'tasks/cancel',
  subscribe: 'tasks/resubscribe',
  createPush: 'tasks/pushNotificationConfig/set',
  getPush: 'tasks/pushNotificationConfig/get',
  listPush: 'tasks/pushNotificationConfig/list',
  deletePush: 'tasks/pushNotificationConfig/delete',
  extendedCard: 'agent/getAuthenticatedExtendedCard',
};

function encodeRpcMessage({
  text = 'hello',
  parts = [{ kind: 'text', text }],
  ...draft
}: MessageDraft): JsonObject {
  return {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts,
    ...withoutUndefined({ ...draft }),
  };
}

function encodeRestMessage({ text = 'hello', parts = [{ text }], ...draft }: MessageDraft): JsonObject {
  return {
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    content: parts,
    ...withoutUndefined({ ...draft }),
  };
}

function encodeWebhook({ id, url, token, scheme, credentials }: WebhookDraft): JsonObject {
  const authentication =
    scheme === undefined ? undefined : { schemes: [scheme], ...withoutUndefined({ credentials }) };
  return { url, ...withoutUndefined({ id, token, authentication }) };
}

function encodeConfiguration(input: OperationInput, pushName: string): Record<string, unknown> {
  const { historyLength, returnImmediately, acceptedOutputModes, webhook } = input;
  return withoutUndefined({
    // Always sent: servers disagree about the default.
    blocking: returnImmediately !== true,
    historyLength,
    acceptedOutputModes,
    [pushName]: webhook && encodeWebhook(webhook),
  });
}

function encodeParams(
  operation: DriverOperation,
  input: OperationInput,
): Record<string, unknown> | undefined {
  const { id, taskId, historyLength, webhook, message = {} } = input;
  switch (operation) {
    case 'send':
    case 'stream':
      return {
        message: encodeRpcMessage(message),
        configuration: encodeConfiguration(input, 'pushNotificationConfig'),
      };
    case 'get':
      return withoutUndefined({ id, historyLength });
    case 'cancel':
    case 'subscribe':
      return withoutUndefined({ id });
    case 'createPush':
      return withoutUndefined({ taskId, pushNotificationConfig: webhook && encodeWebhook(webhook) });
    case 'getPush':
    case 'deletePush':
      return withoutUndefined({ id: taskId, pushNotificationConfigId: id });
    case 'listPush':
      return withoutUndefined({ id: taskId });
    case 'list':
    case 'extendedCard':
      return undefined;
  }
}

function encodeRest(operation: DriverOperation, input: OperationInput): RestRequestParts | undefined {
  const { historyLength, webhook, message = {} } = input;
  if (operation === 'extendedCard') return { method: 'GET', path: '/v1/card' };
  const route = restRoute(operation, input, '/v1');
  if (!route || operation === 'get') return route && { ...route, query: { historyLength } };
  if (operation === 'createPush') return { ...route, body: webhook ? encodeWebhook(webhook) : {} };
  if (operation !== 'send' && operation !== 'stream')
    return route.method === 'POST' ? { ...route, body: {} } : route;
  const configuration = encodeConfiguration(input, 'pushNotification');
  return { ...route, body: { message: encodeRestMessage(message), configuration } };
}

/** Tasks and push configurations have resource names. */
function encodeGrpc(operation: DriverOperation, input: OperationInput): Record<string, unknown> | undefined {
  const { id = '', taskId = '', historyLength, webhook, pageSize, pageToken } = input;
  const parent = `tasks/${taskId}`;
  switch (operation) {
    case 'get':
      return withoutUndefined({ name: `tasks/${id}`, historyLength });
    case 'cancel':
    case 'subscribe':
      return { name: `tasks/${id}` };
    case 'createPush': {
      const configId = webhook?.id ?? crypto.randomUUID();
      const name = `${parent}/pushNotificationConfigs/${configId}`;
      const pushNotificationConfig = webhook && { id: configId, ...encodeWebhook(webhook) };
      return { parent, configId, config: { name, pushNotificationConfig } };
    }
    case 'getPush':
    case 'deletePush':
      // Without an id, the id of the configuration is the task id.
      return { name: `${parent}/pushNotificationConfigs/${input.id ?? taskId}` };
    case 'listPush':
      return withoutUndefined({ parent, pageSize, pageToken });
    default:
      return encodeRest(operation, input)?.body;
  }
}

function unwrapKind(event: JsonObject): { kind: unknown; body: JsonObject } {
  for (const [name, kind] of wrappers) if (isJsonObject(event[name])) return { kind, body: event[name] };
  return { kind: event.kind, body: event };
}

/** REST of 0.3 wraps objects in a named member; JSON-RPC marks them with `kind`. */
const wrappers: readonly (readonly [string, string])[] = [
  ['task', 'task'],
  ['message', 'message'],
  ['msg', 'message'],
  ['statusUpdate', 'status-update'],
  ['artifactUpdate', 'artifact-update'],
];

function decodeEvent(event: unknown, isRpc: boolean): NormalizedEvent {
  if (!isJsonObject(event)) return { kind: 'unknown', reason: 'not an object', raw: event };
  const { kind, body } = isRpc ? { kind: event.kind, body: event } : unwrapKind(event);
  const raw = event;
  if (kind === 'task') return { kind, task: normalizeTask(body, names), raw };
  if (kind === 'message') return { kind, parts: asList(body.parts) ?? listOf(body.content), raw };
  if (kind === 'status-update') return normalizeStatusUpdate(body, names, raw);
  if (kind === 'artifact-update') return normalizeArtifactUpdate(body, names, raw);
  return { kind: 'unknown', reason: `unknown kind ${JSON.stringify(kind)}`, raw };
}

/** Creates the driver for 0.3, and for 0.2, which has the same wire format. */
export function createDriver0_3(transport: CheckedTransport, url: string): ProtocolDriver {
  const isRpc = transport === 'JSONRPC';
  return {
    version: '0.3',
    transport,
    url,
    headers: {},
    wireStates,
    ...createEncoding(transport, url),
    decodeTask: (result) => normalizeTaskResult(result, names),
    decodeMessage(result) {
      if (!isJsonObject(result)) return undefined;
      const { body, kind } = unwrapKind(result);
      return kind === 'message'
        ? { parts: asList(body.parts) ?? listOf(body.content), raw: body }
        : undefined;
    },
    decodeEvent: (event) => decodeEvent(event, isRpc),
  };
}

function createEncoding(transport: CheckedTransport, url: string): TransportEncoding {
  switch (transport) {
    case 'JSONRPC':
      return {
        ...rpcDecoding,
        encode(operation, input, overrides) {
          const method = methods[operation];
          return method === undefined
            ? undefined
            : encodeRpcRequest(url, {}, method, encodeParams(operation, input), overrides);
        },
      };
    case 'HTTP+JSON':
      return {
        ...restDecoding,
        encode(operation, input, overrides) {
          const request = encodeRest(operation, input);
          return request && encodeRestRequest(url.replace(/\/v1\/?$/, ''), {}, request, overrides);
        },
      };
    case 'GRPC':
      return {
        ...grpcDecoding,
        encode: (operation, input, overrides) =>
          encodeGrpcRequest(url, {}, service0_3, operation, encodeGrpc(operation, input), overrides),
      };
  }
}
