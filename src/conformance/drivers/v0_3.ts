import type { CheckedTransport } from '../rule-model.ts';
import {
  decodeRestResponse,
  decodeRestFrame,
  type RestRequestParts,
  encodeRestRequest,
} from './rest-encoding.ts';
import { decodeRpcResponse, decodeRpcFrame, encodeRpcRequest } from './rpc-encoding.ts';
import type {
  OperationInput,
  MessageDraft,
  DriverOperation,
  ProtocolDriver,
  WebhookDraft,
} from './protocol-driver.ts';
import { isJsonObject, type JsonObject } from '../../primitives/json.ts';
import {
  normalizeArtifact,
  type NormalizedEvent,
  withoutUndefined,
  asList,
  normalizeTask,
  type NormalizedTask,
  asText,
} from './normalized-views.ts';

const stateNames = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'rejected'];
const wireStates: Readonly<Record<string, string>> = Object.fromEntries(
  [...stateNames, 'auth-required', 'unknown'].map((name) => [name, name]),
);
const memberNames = { context: 'contextId', artifactId: 'artifactId' };

/** REST of 0.3 uses the enum names of its protocol buffers. */
const shortState = (state: unknown): string => {
  const text = String(state);
  const name = text
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
  return text.startsWith('TASK_STATE_') ? (name === 'cancelled' ? 'canceled' : name) : text;
};
const toTask = (raw: JsonObject): NormalizedTask => normalizeTask(raw, memberNames, shortState);

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
  messageId,
  taskId,
  contextId,
  parts,
  metadata,
}: MessageDraft): JsonObject {
  return {
    kind: 'message',
    messageId: messageId ?? crypto.randomUUID(),
    role: 'user',
    parts: parts ?? [{ kind: 'text', text }],
    ...withoutUndefined({ taskId, contextId, metadata }),
  };
}

function encodeRestMessage({
  text = 'hello',
  messageId,
  taskId,
  contextId,
  parts,
  metadata,
}: MessageDraft): JsonObject {
  return {
    messageId: messageId ?? crypto.randomUUID(),
    role: 'ROLE_USER',
    content: parts ?? [{ text }],
    ...withoutUndefined({ taskId, contextId, metadata }),
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
  const id = encodeURIComponent(input.id ?? '');
  const configs = `/v1/tasks/${encodeURIComponent(input.taskId ?? '')}/pushNotificationConfigs`;
  switch (operation) {
    case 'send':
    case 'stream': {
      const body = {
        message: encodeRestMessage(message),
        configuration: encodeConfiguration(input, 'pushNotification'),
      };
      return { method: 'POST', path: `/v1/message:${operation}`, body };
    }
    case 'get':
      return { method: 'GET', path: `/v1/tasks/${id}`, query: { historyLength } };
    case 'cancel':
      return { method: 'POST', path: `/v1/tasks/${id}:cancel`, body: {} };
    case 'subscribe':
      return { method: 'POST', path: `/v1/tasks/${id}:subscribe`, body: {} };
    case 'createPush':
      return { method: 'POST', path: configs, body: webhook ? { ...encodeWebhook(webhook) } : {} };
    case 'getPush':
      return { method: 'GET', path: `${configs}/${id}` };
    case 'listPush':
      return { method: 'GET', path: configs };
    case 'deletePush':
      return { method: 'DELETE', path: `${configs}/${id}` };
    case 'extendedCard':
      return { method: 'GET', path: '/v1/card' };
    case 'list':
      return undefined;
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
  const ids = { taskId: asText(body.taskId), contextId: asText(body.contextId) };
  if (kind === 'task') return { kind, task: toTask(body), raw };
  if (kind === 'message') return { kind, parts: asList(body.parts) ?? asList(body.content) ?? [], raw };
  if (kind === 'status-update') {
    const status = isJsonObject(body.status) ? body.status : {};
    return {
      kind: 'status',
      ...ids,
      state: shortState(status.state),
      timestamp: asText(status.timestamp),
      final: body.final === true,
      raw,
    };
  }
  if (kind === 'artifact-update') {
    return {
      kind: 'artifact',
      ...ids,
      artifact: isJsonObject(body.artifact) ? normalizeArtifact(body.artifact, 'artifactId') : undefined,
      append: body.append === true,
      lastChunk: body.lastChunk === true,
      raw,
    };
  }
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
    encode(operation, input, overrides) {
      if (isRpc) {
        const method = methods[operation];
        return method === undefined
          ? undefined
          : encodeRpcRequest(url, {}, method, encodeParams(operation, input), overrides);
      }
      const request = encodeRest(operation, input);
      return request && encodeRestRequest(url.replace(/\/v1\/?$/, ''), {}, request, overrides);
    },
    decode: isRpc ? decodeRpcResponse : decodeRestResponse,
    decodeFrame: isRpc ? decodeRpcFrame : decodeRestFrame,
    decodeTask(result) {
      if (!isJsonObject(result)) return undefined;
      if (isJsonObject(result.task)) return toTask(result.task);
      return isJsonObject(result.status) ? toTask(result) : undefined;
    },
    decodeMessage(result) {
      if (!isJsonObject(result)) return undefined;
      const { body, kind } = unwrapKind(result);
      return kind === 'message'
        ? { parts: asList(body.parts) ?? asList(body.content) ?? [], raw: body }
        : undefined;
    },
    decodeEvent: (event) => decodeEvent(event, isRpc),
  };
}
