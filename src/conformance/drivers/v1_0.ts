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
  RequestOverrides,
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
const shortState = (state: unknown): string => shortNames.get(state as string) ?? String(state);
const memberNames = { context: 'contextId', artifactId: 'artifactId' };
const toTask = (raw: JsonObject): NormalizedTask => normalizeTask(raw, memberNames, shortState);

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

function encodeMessage({
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
    parts: parts ?? [{ text }],
    ...withoutUndefined({ taskId, contextId, metadata }),
  };
}

function encodeWebhook({ id, url, token, scheme, credentials }: WebhookDraft): JsonObject {
  const authentication = scheme === undefined ? undefined : withoutUndefined({ scheme, credentials });
  return { url, ...withoutUndefined({ id, token, authentication }) };
}

function encodeSend({
  message = {},
  historyLength,
  returnImmediately,
  acceptedOutputModes,
  webhook,
}: OperationInput): JsonObject {
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
  const { id: _id, taskId: _taskId, ...others } = all;
  const id = encodeURIComponent(input.id ?? '');
  const configs = `/tasks/${encodeURIComponent(input.taskId ?? '')}/pushNotificationConfigs`;
  switch (operation) {
    case 'send':
      return { method: 'POST', path: '/message:send', body: all };
    case 'stream':
      return { method: 'POST', path: '/message:stream', body: all };
    case 'get':
      return { method: 'GET', path: `/tasks/${id}`, query: others };
    case 'list':
      return { method: 'GET', path: '/tasks', query: others };
    case 'cancel':
      return { method: 'POST', path: `/tasks/${id}:cancel`, body: {} };
    case 'subscribe':
      return { method: 'POST', path: `/tasks/${id}:subscribe`, body: {} };
    case 'createPush':
      return { method: 'POST', path: configs, body: { ...(input.webhook && encodeWebhook(input.webhook)) } };
    case 'getPush':
      return { method: 'GET', path: `${configs}/${id}` };
    case 'listPush':
      return { method: 'GET', path: configs, query: others };
    case 'deletePush':
      return { method: 'DELETE', path: `${configs}/${id}` };
    case 'extendedCard':
      return { method: 'GET', path: '/extendedAgentCard' };
  }
}

function decodeEvent(event: unknown): NormalizedEvent {
  const raw = event;
  if (!isJsonObject(event)) return { kind: 'unknown', reason: 'not an object', raw };
  const { task, message, statusUpdate, artifactUpdate } = event;
  if (isJsonObject(task)) return { kind: 'task', task: toTask(task), raw };
  if (isJsonObject(message)) return { kind: 'message', parts: asList(message.parts) ?? [], raw };
  if (isJsonObject(statusUpdate)) {
    const { taskId, contextId, status } = statusUpdate;
    const { state, timestamp } = isJsonObject(status) ? status : {};
    return {
      kind: 'status',
      taskId: asText(taskId),
      contextId: asText(contextId),
      state: shortState(state),
      timestamp: asText(timestamp),
      final: undefined,
      raw,
    };
  }
  if (isJsonObject(artifactUpdate)) {
    const { taskId, contextId, artifact, append, lastChunk } = artifactUpdate;
    return {
      kind: 'artifact',
      taskId: asText(taskId),
      contextId: asText(contextId),
      artifact: isJsonObject(artifact) ? normalizeArtifact(artifact, 'artifactId') : undefined,
      append: append === true,
      lastChunk: lastChunk === true,
      raw,
    };
  }
  return { kind: 'unknown', reason: 'none of task, message, statusUpdate and artifactUpdate', raw };
}

/** Creates the driver for 1.0. */
export function createDriver1_0(transport: CheckedTransport, url: string): ProtocolDriver {
  const headers = { 'a2a-version': '1.0' };
  const isRpc = transport === 'JSONRPC';
  return {
    version: '1.0',
    transport,
    url,
    headers,
    wireStates,
    encode: (operation, input, overrides?: RequestOverrides) =>
      isRpc
        ? encodeRpcRequest(url, headers, methods[operation], encodeParams(operation, input), overrides)
        : encodeRestRequest(url, headers, encodeRest(operation, input), overrides),
    decode: isRpc ? decodeRpcResponse : decodeRestResponse,
    decodeFrame: isRpc ? decodeRpcFrame : decodeRestFrame,
    decodeTask(result) {
      if (!isJsonObject(result)) return undefined;
      if (isJsonObject(result.task)) return toTask(result.task);
      return isJsonObject(result.status) ? toTask(result) : undefined;
    },
    decodeMessage(result) {
      const message = isJsonObject(result) ? result.message : undefined;
      return isJsonObject(message) ? { parts: asList(message.parts) ?? [], raw: message } : undefined;
    },
    decodeEvent: decodeEvent,
  };
}
