import { hearRpc, hearRpcFrame, sayRpc } from './rpc-encoding.ts';
import type { Asking, Draft, Operation, Speech } from './protocol-driver.ts';
import {
  artifactView,
  type EventView,
  isObject,
  type Json,
  taskView,
  type TaskView,
  textIn,
} from './normalized-views.ts';

const words = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'unknown'];
const states: Readonly<Record<string, string>> = Object.fromEntries(words.map((word) => [word, word]));
const viewOf = (raw: Json): TaskView => taskView(raw, { context: 'sessionId', artifactId: 'index' }, String);

const methods: Readonly<Record<Operation, string | undefined>> = {
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

function messageOf({ text = 'hello', parts, metadata }: Draft): Json {
  return { role: 'user', parts: parts ?? [{ type: 'text', text }], ...(metadata ? { metadata } : {}) };
}

function params(operation: Operation, asking: Asking): Record<string, unknown> {
  const { id, taskId, historyLength, webhook, message = {} } = asking;
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

function eventOf(event: unknown): EventView {
  const raw = event;
  if (!isObject(event)) return { kind: 'unknown', why: 'It is no object', raw };
  const ids = { taskId: textIn(event.id), contextId: textIn(event.sessionId) };
  if (isObject(event.artifact)) {
    const { artifact } = event;
    return {
      kind: 'artifact',
      ...ids,
      artifact: artifactView(artifact, 'index'),
      append: artifact.append === true,
      lastChunk: artifact.lastChunk === true,
      raw,
    };
  }
  if (isObject(event.status)) {
    const { state, timestamp } = event.status;
    return {
      kind: 'status',
      ...ids,
      state: String(state),
      timestamp: textIn(timestamp),
      final: event.final === true,
      raw,
    };
  }
  return { kind: 'unknown', why: 'It has neither a status nor an artifact', raw };
}

/** 0.1, which knows JSON-RPC only. Some servers of its time take streams at `/subscribe`. */
export function speak0_1(url: string): Speech {
  return {
    version: '0.1',
    transport: 'JSONRPC',
    url,
    headers: {},
    states,
    say(operation, asking, manner) {
      const method = methods[operation];
      return method === undefined ? undefined : sayRpc(url, {}, method, params(operation, asking), manner);
    },
    hear: hearRpc,
    hearFrame: hearRpcFrame,
    taskOf: (result) => (isObject(result) && isObject(result.status) ? viewOf(result) : undefined),
    messageOf: () => undefined,
    eventOf,
  };
}
