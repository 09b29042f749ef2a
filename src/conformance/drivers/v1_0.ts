import type { Transport } from '../rule-model.ts';
import { hearRest, hearRestFrame, type RestSaying, sayRest } from './rest-encoding.ts';
import { hearRpc, hearRpcFrame, sayRpc } from './rpc-encoding.ts';
import type { Asking, Draft, Manner, Operation, Speech, Webhook } from './protocol-driver.ts';
import {
  artifactView,
  type EventView,
  given,
  isObject,
  type Json,
  listIn,
  taskView,
  type TaskView,
  textIn,
} from './normalized-views.ts';

const states: Readonly<Record<string, string>> = {
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
const short = new Map(Object.entries(states).map(([name, wire]) => [wire, name]));
const shortState = (state: unknown): string => short.get(state as string) ?? String(state);
const names = { context: 'contextId', artifactId: 'artifactId' };
const viewOf = (raw: Json): TaskView => taskView(raw, names, shortState);

const methods: Readonly<Record<Operation, string>> = {
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

/** A message as 1.0 has it. */
function messageOf({ text = 'hello', messageId, taskId, contextId, parts, metadata }: Draft): Json {
  return {
    messageId: messageId ?? crypto.randomUUID(),
    role: 'ROLE_USER',
    parts: parts ?? [{ text }],
    ...given({ taskId, contextId, metadata }),
  };
}

function webhookOf({ id, url, token, scheme, credentials }: Webhook): Json {
  const authentication = scheme === undefined ? undefined : given({ scheme, credentials });
  return { url, ...given({ id, token, authentication }) };
}

function sending({
  message = {},
  historyLength,
  returnImmediately,
  acceptedOutputModes,
  webhook,
}: Asking): Json {
  const configuration = given({
    historyLength,
    returnImmediately,
    acceptedOutputModes,
    taskPushNotificationConfig: webhook && webhookOf(webhook),
  });
  return {
    message: messageOf(message),
    ...(Object.keys(configuration).length > 0 ? { configuration } : {}),
  };
}

function params(operation: Operation, asking: Asking): Record<string, unknown> | undefined {
  const { id, taskId, historyLength, contextId, status, pageSize, pageToken } = asking;
  switch (operation) {
    case 'send':
    case 'stream':
      return { ...sending(asking) };
    case 'get':
      return given({ id, historyLength });
    case 'cancel':
    case 'subscribe':
      return given({ id });
    case 'list': {
      const { statusTimestampAfter, includeArtifacts } = asking;
      const filters = { contextId, status, pageSize, pageToken, historyLength };
      return given({ ...filters, statusTimestampAfter, includeArtifacts });
    }
    case 'createPush':
      return { ...given({ taskId }), ...(asking.webhook && webhookOf(asking.webhook)) };
    case 'getPush':
    case 'deletePush':
      return given({ taskId, id });
    case 'listPush':
      return given({ taskId, pageSize, pageToken });
    case 'extendedCard':
      return undefined;
  }
}

function rest(operation: Operation, asking: Asking): RestSaying {
  const all = (params(operation, asking) ?? {}) as Record<string, string | number | boolean | undefined>;
  const { id: _id, taskId: _taskId, ...others } = all;
  const id = encodeURIComponent(asking.id ?? '');
  const configs = `/tasks/${encodeURIComponent(asking.taskId ?? '')}/pushNotificationConfigs`;
  switch (operation) {
    case 'send':
      return { verb: 'POST', path: '/message:send', body: all };
    case 'stream':
      return { verb: 'POST', path: '/message:stream', body: all };
    case 'get':
      return { verb: 'GET', path: `/tasks/${id}`, query: others };
    case 'list':
      return { verb: 'GET', path: '/tasks', query: others };
    case 'cancel':
      return { verb: 'POST', path: `/tasks/${id}:cancel`, body: {} };
    case 'subscribe':
      return { verb: 'POST', path: `/tasks/${id}:subscribe`, body: {} };
    case 'createPush':
      return { verb: 'POST', path: configs, body: { ...(asking.webhook && webhookOf(asking.webhook)) } };
    case 'getPush':
      return { verb: 'GET', path: `${configs}/${id}` };
    case 'listPush':
      return { verb: 'GET', path: configs, query: others };
    case 'deletePush':
      return { verb: 'DELETE', path: `${configs}/${id}` };
    case 'extendedCard':
      return { verb: 'GET', path: '/extendedAgentCard' };
  }
}

function eventOf(event: unknown): EventView {
  const raw = event;
  if (!isObject(event)) return { kind: 'unknown', why: 'It is no object', raw };
  const { task, message, statusUpdate, artifactUpdate } = event;
  if (isObject(task)) return { kind: 'task', task: viewOf(task), raw };
  if (isObject(message)) return { kind: 'message', parts: listIn(message.parts) ?? [], raw };
  if (isObject(statusUpdate)) {
    const { taskId, contextId, status } = statusUpdate;
    const { state, timestamp } = isObject(status) ? status : {};
    return {
      kind: 'status',
      taskId: textIn(taskId),
      contextId: textIn(contextId),
      state: shortState(state),
      timestamp: textIn(timestamp),
      final: undefined,
      raw,
    };
  }
  if (isObject(artifactUpdate)) {
    const { taskId, contextId, artifact, append, lastChunk } = artifactUpdate;
    return {
      kind: 'artifact',
      taskId: textIn(taskId),
      contextId: textIn(contextId),
      artifact: isObject(artifact) ? artifactView(artifact, 'artifactId') : undefined,
      append: append === true,
      lastChunk: lastChunk === true,
      raw,
    };
  }
  return { kind: 'unknown', why: 'It has none of task, message, statusUpdate and artifactUpdate', raw };
}

/** 1.0 over one of its transports. */
export function speak1_0(transport: Transport, url: string): Speech {
  const headers = { 'a2a-version': '1.0' };
  const isRpc = transport === 'JSONRPC';
  return {
    version: '1.0',
    transport,
    url,
    headers,
    states,
    say: (operation, asking, manner?: Manner) =>
      isRpc
        ? sayRpc(url, headers, methods[operation], params(operation, asking), manner)
        : sayRest(url, headers, rest(operation, asking), manner),
    hear: isRpc ? hearRpc : hearRest,
    hearFrame: isRpc ? hearRpcFrame : hearRestFrame,
    taskOf(result) {
      if (!isObject(result)) return undefined;
      if (isObject(result.task)) return viewOf(result.task);
      return isObject(result.status) ? viewOf(result) : undefined;
    },
    messageOf(result) {
      const message = isObject(result) ? result.message : undefined;
      return isObject(message) ? { parts: listIn(message.parts) ?? [], raw: message } : undefined;
    },
    eventOf,
  };
}
