import { decodeRpcResponse, decodeRpcFrame, encodeRpcRequest } from './rpc-encoding.ts';
import type { OperationInput, MessageDraft, DriverOperation, ProtocolDriver } from './protocol-driver.ts';
import { isJsonObject, type JsonObject } from '../../primitives/json.ts';
import {
  normalizeArtifact,
  type NormalizedEvent,
  normalizeTask,
  type NormalizedTask,
  asText,
} from './normalized-views.ts';

const stateNames = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'unknown'];
const wireStates: Readonly<Record<string, string>> = Object.fromEntries(
  stateNames.map((name) => [name, name]),
);
const toTask = (raw: JsonObject): NormalizedTask =>
  normalizeTask(raw, { context: 'sessionId', artifactId: 'index' }, String);

const methods: Readonly<Record<DriverOperation, string | undefined>> = {
  send: 'tasks/send',
  stream: 'tasks/sendSubscribe',
  get: 'tasks/get',
  list: undefined,
  cancel: 'tasks/cancel',
  subscribe: 'tasks/resubscribe',
  createPush: 'tasks/pushNotification/set',
  getPush: 'tasks/pushNotification/get',
  listPush: undefined,
  deletePush: undefined,
  extendedCard: undefined,
};

function encodeMessage({ text = 'hello', parts, metadata }: MessageDraft): JsonObject {
  return { role: 'user', parts: parts ?? [{ type: 'text', text }], ...(metadata ? { metadata } : {}) };
}

function encodeParams(operation: DriverOperation, input: OperationInput): Record<string, unknown> {
  const { id, taskId, historyLength, webhook, message = {} } = input;
  const config = webhook && {
    url: webhook.url,
    ...(webhook.token === undefined ? {} : { token: webhook.token }),
  };
  switch (operation) {
    case 'send':
    case 'stream':
      return {
        // In 0.1 the client creates the task id.
        id: message.taskId ?? crypto.randomUUID(),
        sessionId: message.contextId ?? crypto.randomUUID(),
        message: encodeMessage(message),
        ...(historyLength === undefined ? {} : { historyLength }),
        ...(config ? { pushNotification: config } : {}),
      };
    case 'createPush':
      return { id: taskId, pushNotificationConfig: config };
    case 'getPush':
      return { id: taskId };
    default:
      return { id, ...(historyLength === undefined ? {} : { historyLength }) };
  }
}

function decodeEvent(event: unknown): NormalizedEvent {
  const raw = event;
  if (!isJsonObject(event)) return { kind: 'unknown', reason: 'not an object', raw };
  const ids = { taskId: asText(event.id), contextId: asText(event.sessionId) };
  if (isJsonObject(event.artifact)) {
    const { artifact } = event;
    return {
      kind: 'artifact',
      ...ids,
      artifact: normalizeArtifact(artifact, 'index'),
      append: artifact.append === true,
      lastChunk: artifact.lastChunk === true,
      raw,
    };
  }
  if (isJsonObject(event.status)) {
    const { state, timestamp } = event.status;
    return {
      kind: 'status',
      ...ids,
      state: String(state),
      timestamp: asText(timestamp),
      final: event.final === true,
      raw,
    };
  }
  return { kind: 'unknown', reason: 'neither a status nor an artifact', raw };
}

/** Creates the driver for 0.1, which has JSON-RPC only. */
export function createDriver0_1(url: string): ProtocolDriver {
  return {
    version: '0.1',
    transport: 'JSONRPC',
    url,
    headers: {},
    wireStates,
    encode(operation, input, overrides) {
      const method = methods[operation];
      return method === undefined
        ? undefined
        : encodeRpcRequest(url, {}, method, encodeParams(operation, input), overrides);
    },
    decode: decodeRpcResponse,
    decodeFrame: decodeRpcFrame,
    decodeTask: (result) =>
      isJsonObject(result) && isJsonObject(result.status) ? toTask(result) : undefined,
    decodeMessage: () => undefined,
    decodeEvent: decodeEvent,
  };
}
