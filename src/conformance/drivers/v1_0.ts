import type { CheckedTransport } from '../rule-model.ts';
import { encodeRestRequest, type RestRequestParts, restRoute } from './rest-encoding.ts';
import { encodeGrpcRequest } from './grpc/grpc-encoding.ts';
import { service1_0 } from './grpc/service-schemas.ts';
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
  type NormalizedEvent,
  normalizeArtifactUpdate,
  normalizeStatusUpdate,
  normalizeTask,
  normalizeTaskResult,
  type WireNames,
  withoutUndefined,
  listOf,
} from './normalized-views.ts';

const wireStates: Readonly<Record<string, string>> = {
  unknown: 'TASK_STATE_UNSPECIFIED',
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  rejected: 'TASK_STATE_REJECTED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
};
const shortNames = new Map(Object.entries(wireStates).map(([name, wire]) => [wire, name]));
const names: WireNames = {
  taskId: 'taskId',
  contextId: 'contextId',
  artifactId: 'artifactId',
  shortState: (state) => shortNames.get(state as string) ?? String(state),
};

const methods: Readonly<Record<DriverOperation, string>> = {
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  get: 'GetTask',
  list: 'ListTasks',
  cancel: 'CancelTask',
  subscribe: 'SubscribeToTask',
  createPush: 'CreateTaskPushNotificationConfig',
  getPush: 'GetTaskPushNotificationConfig',
  listPush: 'ListTaskPushNotificationConfigs',
  deletePush: 'DeleteTaskPushNotificationConfig',
  extendedCard: 'GetExtendedAgentCard',
};

function encodeMessage({ text = 'hello', parts = [{ text }], ...draft }: MessageDraft): JsonObject {
  return { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts, ...withoutUndefined({ ...draft }) };
}

function encodeWebhook({ id, url, token, scheme, credentials }: WebhookDraft): JsonObject {
  const authentication = scheme === undefined ? undefined : withoutUndefined({ scheme, credentials });
  return { url, ...withoutUndefined({ id, token, authentication }) };
}

function encodeSend(input: OperationInput): JsonObject {
  const { message = {}, historyLength, returnImmediately, acceptedOutputModes, webhook } = input;
  const configuration = withoutUndefined({
    historyLength,
    returnImmediately,
    acceptedOutputModes,
    taskPushNotificationConfig: webhook && encodeWebhook(webhook),
  });
  return {
    message: encodeMessage(message),
    ...(Object.keys(configuration).length > 0 ? { configuration } : {}),
  };
}

function encodeParams(
  operation: DriverOperation,
  input: OperationInput,
): Record<string, unknown> | undefined {
  const { id, taskId, historyLength, contextId, status, pageSize, pageToken } = input;
  switch (operation) {
    case 'send':
    case 'stream':
      return { ...encodeSend(input) };
    case 'get':
      return withoutUndefined({ id, historyLength });
    case 'cancel':
    case 'subscribe':
      return withoutUndefined({ id });
    case 'list': {
      const { statusTimestampAfter, includeArtifacts } = input;
      const filters = { contextId, status, pageSize, pageToken, historyLength };
      return withoutUndefined({ ...filters, statusTimestampAfter, includeArtifacts });
    }
    case 'createPush':
      return { ...withoutUndefined({ taskId }), ...(input.webhook && encodeWebhook(input.webhook)) };
    case 'getPush':
    case 'deletePush':
      return withoutUndefined({ taskId, id });
    case 'listPush':
      return withoutUndefined({ taskId, pageSize, pageToken });
    case 'extendedCard':
      return undefined;
  }
}

function encodeRest(operation: DriverOperation, input: OperationInput): RestRequestParts {
  const all = (encodeParams(operation, input) ?? {}) as Record<string, string | number | boolean | undefined>;
  const { id: _id, taskId: _taskId, ...query } = all;
  if (operation === 'list') return { method: 'GET', path: '/tasks', query };
  const route = restRoute(operation, input, '') ?? { method: 'GET', path: '/extendedAgentCard' };
  if (operation === 'send' || operation === 'stream') return { ...route, body: all };
  if (operation === 'createPush')
    return { ...route, body: { ...(input.webhook && encodeWebhook(input.webhook)) } };
  return route.method === 'POST' ? { ...route, body: {} } : { ...route, query };
}

function decodeEvent(event: unknown): NormalizedEvent {
  const raw = event;
  if (!isJsonObject(event)) return { kind: 'unknown', reason: 'not an object', raw };
  const { task, message, statusUpdate, artifactUpdate } = event;
  if (isJsonObject(task)) return { kind: 'task', task: normalizeTask(task, names), raw };
  if (isJsonObject(message)) return { kind: 'message', parts: listOf(message.parts), raw };
  if (isJsonObject(statusUpdate)) return normalizeStatusUpdate(statusUpdate, names, raw);
  if (isJsonObject(artifactUpdate)) return normalizeArtifactUpdate(artifactUpdate, names, raw);
  return { kind: 'unknown', reason: 'none of task, message, statusUpdate and artifactUpdate', raw };
}

/** Creates the driver for 1.0. */
export function createDriver1_0(transport: CheckedTransport, url: string): ProtocolDriver {
  const headers = { 'a2a-version': '1.0' };
  return {
    version: '1.0',
    transport,
    url,
    headers,
    wireStates,
    ...createEncoding(transport, url, headers),
    decodeTask: (result) => normalizeTaskResult(result, names),
    decodeMessage(result) {
      const message = isJsonObject(result) ? result.message : undefined;
      return isJsonObject(message) ? { parts: listOf(message.parts), raw: message } : undefined;
    },
    decodeEvent,
  };
}

function createEncoding(
  transport: CheckedTransport,
  url: string,
  headers: Readonly<Record<string, string>>,
): TransportEncoding {
  switch (transport) {
    case 'JSONRPC':
      return {
        ...rpcDecoding,
        encode: (operation, input, overrides) =>
          encodeRpcRequest(url, headers, methods[operation], encodeParams(operation, input), overrides),
      };
    case 'HTTP+JSON':
      return {
        ...restDecoding,
        encode: (operation, input, overrides) =>
          encodeRestRequest(url, headers, encodeRest(operation, input), overrides),
      };
    case 'GRPC':
      return {
        ...grpcDecoding,
        encode: (operation, input, overrides) =>
          encodeGrpcRequest(url, headers, service1_0, operation, encodeParams(operation, input), overrides),
      };
  }
}
