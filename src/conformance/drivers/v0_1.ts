import { decodeRpcResponse, decodeRpcFrame, encodeRpcRequest } from './rpc-encoding.ts';
import type { OperationInput, MessageDraft, DriverOperation, ProtocolDriver } from './protocol-driver.ts';
import {
  normalizeArtifact,
  type NormalizedEvent,
  isJsonObject,
  type JsonObject,
  normalizeTask,
  type NormalizedTask,
  asText,
} from './normalized-views.ts';

const words = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'unknown'];
const states: Readonly<Record<string, string>> = Object.fromEntries(words.map((word) => [word, word]));
const viewOf = (raw: JsonObject): NormalizedTask =>
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

function messageOf({ text = 'hello', parts, metadata }: MessageDraft): JsonObject {
  return { role: 'user', parts: parts ?? [{ type: 'text', text }], ...(metadata ? { metadata } : {}) };
}

function params(operation: DriverOperation, input: OperationInput): Record<string, unknown> {
  const { id, taskId, historyLength, webhook, message = {} } = input;
  const config = webhook && {
    url: webhook.url,
    ...(webhook.token === undefined ? {} : { token: webhook.token }),
  };
  switch (operation) {
    case 'send':
    case 'stream':
      return {
        // In 0.1 the caller makes the id.
        id: message.taskId ?? crypto.randomUUID(),
        sessionId: message.contextId ?? crypto.randomUUID(),
        message: messageOf(message),
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

function eventOf(event: unknown): NormalizedEvent {
  const raw = event;
  if (!isJsonObject(event)) return { kind: 'unknown', why: 'It is no object', raw };
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
  return { kind: 'unknown', why: 'It has neither a status nor an artifact', raw };
}

/** 0.1, which knows JSON-RPC only. Some servers of its time take streams at `/subscribe`. */
export function createDriver0_1(url: string): ProtocolDriver {
  return {
    version: '0.1',
    transport: 'JSONRPC',
    url,
    headers: {},
    wireStates: states,
    encode(operation, input, overrides) {
      const method = methods[operation];
      return method === undefined
        ? undefined
        : encodeRpcRequest(url, {}, method, params(operation, input), overrides);
    },
    decode: decodeRpcResponse,
    decodeFrame: decodeRpcFrame,
    decodeTask: (result) =>
      isJsonObject(result) && isJsonObject(result.status) ? viewOf(result) : undefined,
    decodeMessage: () => undefined,
    decodeEvent: eventOf,
  };
}
