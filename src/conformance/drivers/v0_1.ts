import { encodeRpcRequest } from './rpc-encoding.ts';
import { rpcDecoding } from './transport-encoding.ts';
import type { OperationInput, MessageDraft, DriverOperation, ProtocolDriver } from './protocol-driver.ts';
import { isJsonObject, type JsonObject } from '../../primitives/json.ts';
import {
  type NormalizedEvent,
  normalizeArtifactUpdate,
  normalizeStatusUpdate,
  normalizeTask,
  type WireNames,
} from './normalized-views.ts';

const stateNames = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'unknown'];
const wireStates: Readonly<Record<string, string>> = Object.fromEntries(
  stateNames.map((name) => [name, name]),
);
const names: WireNames = {
  taskId: 'id',
  contextId: 'sessionId',
  artifactId: 'index',
  shortState: String,
};

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
  if (isJsonObject(event.artifact)) return normalizeArtifactUpdate(event, names, raw, event.artifact);
  if (isJsonObject(event.status)) return normalizeStatusUpdate(event, names, raw);
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
    ...rpcDecoding,
    decodeTask: (result) =>
      isJsonObject(result) && isJsonObject(result.status) ? normalizeTask(result, names) : undefined,
    decodeMessage: () => undefined,
    decodeEvent,
  };
}
