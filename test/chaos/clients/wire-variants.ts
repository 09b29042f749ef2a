import { digestOf } from '../history/log-view.ts';
import type { ChaosMessage, SeenEvent, SeenTask } from './chaos-client.ts';

/** One request: method and path of REST, or method of JSON-RPC. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** Requests and responses of one version over one transport, written without the code of the product. */
export interface WireVariant {
  readonly name: string;
  readonly version: string;
  readonly isRpc: boolean;
  send(message: ChaosMessage, isStream: boolean): WireRequest;
  get(id: string): WireRequest;
  cancel(id: string): WireRequest;
  subscribe(id: string): WireRequest;
}

/** Response in the format of any version. */
// oxlint-disable-next-line no-explicit-any
type Wire = any;

const textsOf = (parts: Wire): string => (parts ?? []).map(({ text }: Wire) => text ?? '').join('');
const partsOf = (value: Wire): Wire => value?.parts ?? value?.content;

function stateOf(status: Wire): string {
  const name = String(status?.state).replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
  return name === 'cancelled' ? 'canceled' : name;
}

/** Reads a task of any version, or the result of a send that contains one. */
export function readWireTask(wire: Wire): SeenTask {
  const task = wire?.task ?? wire;
  const text = (task?.artifacts ?? []).map((artifact: Wire) => textsOf(partsOf(artifact))).join('');
  return { id: String(task?.id), state: stateOf(task?.status), text };
}

/** Reads an event of any version. */
export function readWireEvent(wire: Wire, sequence: number): SeenEvent {
  const task = wire.task ?? (wire.kind === 'task' ? wire : undefined);
  if (task) {
    const { id, state, text } = readWireTask(task);
    return { taskId: id, sequence, state, digest: digestOf({ kind: 'task', state, text }) };
  }
  const update = wire.statusUpdate ?? wire.artifactUpdate ?? wire;
  const taskId = String(update.taskId ?? update.id);
  if (update.artifact) {
    const text = textsOf(partsOf(update.artifact));
    return { taskId, sequence, state: undefined, digest: digestOf({ kind: 'artifact', text }) };
  }
  const state = stateOf(update.status);
  const text = textsOf(partsOf(update.status?.message ?? update.status?.update));
  return { taskId, sequence, state, digest: digestOf({ kind: 'status', state, text }) };
}

const get = (path: string): WireRequest => ({ method: 'GET', path, body: undefined });
const post = (path: string, body: unknown): WireRequest => ({ method: 'POST', path, body });
const rpc = (method: string, params: unknown): WireRequest =>
  post('', { jsonrpc: '2.0', id: 1, method, params });

const send1 = ({ text, messageId, taskId, returnImmediately, webhook }: ChaosMessage) => ({
  message: { messageId, taskId, role: 'ROLE_USER', parts: [{ text }] },
  configuration: {
    returnImmediately,
    ...(webhook !== undefined && { taskPushNotificationConfig: { id: 'hook', url: webhook } }),
  },
});

const send03 = ({ text, messageId, taskId, returnImmediately, webhook }: ChaosMessage) => ({
  message: { kind: 'message', messageId, taskId, role: 'user', parts: [{ kind: 'text', text }] },
  configuration: {
    blocking: !returnImmediately,
    ...(webhook !== undefined && { pushNotificationConfig: { id: 'hook', url: webhook } }),
  },
});

const sendRest03 = ({ text, messageId, taskId, returnImmediately, webhook }: ChaosMessage) => ({
  message: { messageId, taskId, role: 'ROLE_USER', content: [{ text }] },
  configuration: {
    blocking: !returnImmediately,
    ...(webhook !== undefined && { pushNotification: { id: 'hook', url: webhook } }),
  },
});

const send01 = ({ text, taskId, returnImmediately, webhook }: ChaosMessage) => ({
  id: taskId,
  message: { role: 'user', parts: [{ type: 'text', text }] },
  ...(returnImmediately && { configuration: { blocking: false } }),
  ...(webhook !== undefined && { pushNotification: { url: webhook } }),
});

const rpc1: WireVariant = {
  name: '1.0/JSONRPC',
  version: '1.0',
  isRpc: true,
  send: (message, isStream) => rpc(isStream ? 'SendStreamingMessage' : 'SendMessage', send1(message)),
  get: (id) => rpc('GetTask', { id }),
  cancel: (id) => rpc('CancelTask', { id }),
  subscribe: (id) => rpc('SubscribeToTask', { id }),
};

const rpc03 = (version: string): WireVariant => ({
  name: `${version}/JSONRPC`,
  version,
  isRpc: true,
  send: (message, isStream) => rpc(isStream ? 'message/stream' : 'message/send', send03(message)),
  get: (id) => rpc('tasks/get', { id }),
  cancel: (id) => rpc('tasks/cancel', { id }),
  subscribe: (id) => rpc('tasks/resubscribe', { id }),
});

/** All versions and transports that the server supports. */
export const wireVariants: readonly WireVariant[] = [
  rpc1,
  {
    name: '1.0/REST',
    version: '1.0',
    isRpc: false,
    send: (message, isStream) => post(`/message:${isStream ? 'stream' : 'send'}`, send1(message)),
    get: (id) => get(`/tasks/${id}`),
    cancel: (id) => post(`/tasks/${id}:cancel`, {}),
    subscribe: (id) => get(`/tasks/${id}:subscribe`),
  },
  rpc03('0.3'),
  {
    name: '0.3/REST',
    version: '0.3',
    isRpc: false,
    send: (message, isStream) => post(`/v1/message:${isStream ? 'stream' : 'send'}`, sendRest03(message)),
    get: (id) => get(`/v1/tasks/${id}`),
    cancel: (id) => post(`/v1/tasks/${id}:cancel`, {}),
    subscribe: (id) => get(`/v1/tasks/${id}:subscribe`),
  },
  rpc03('0.2'),
  {
    ...rpc03('0.1'),
    send: (message, isStream) => rpc(isStream ? 'tasks/sendSubscribe' : 'tasks/send', send01(message)),
  },
];
