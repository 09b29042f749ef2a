import { rawRequest } from '../http/raw-http.ts';

/** A valid request, in parts that can be fuzzed. */
export interface SeedRequest {
  name: string;
  verb: string;
  path: string;
  headers: Record<string, string>;
  body: unknown;
}

const headers1_0 = { 'A2A-Version': '1.0' };
const headers0_3 = { 'A2A-Version': '0.3' };

const message1_0 = {
  messageId: 'm-1',
  role: 'ROLE_USER',
  parts: [
    { text: 'hello' },
    { data: { a: [1, 2, { b: null }] }, mediaType: 'application/json' },
    { raw: 'aGk=', filename: 'hi.txt' },
    { url: 'https://files.example/x' },
  ],
  metadata: { k: 'v' },
  extensions: ['urn:x'],
};

const message0_3 = {
  kind: 'message',
  messageId: 'm-3',
  role: 'user',
  parts: [
    { kind: 'text', text: 'hello' },
    { kind: 'data', data: { a: 1 } },
    { kind: 'file', file: { bytes: 'aGk=', name: 'hi.txt', mimeType: 'text/plain' } },
  ],
};

const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });

function post(name: string, path: string, body: unknown, headers: Record<string, string> = {}): SeedRequest {
  return { name, verb: 'POST', path, headers, body };
}

function get(name: string, path: string, headers: Record<string, string> = {}, verb = 'GET'): SeedRequest {
  return { name, verb, path, headers, body: undefined };
}

/** Returns one valid request of every kind. @param taskId - id of a completed task */
export function seedRequests(taskId: string): SeedRequest[] {
  const configuration = { acceptedOutputModes: ['text/plain'], historyLength: 3, returnImmediately: true };
  const push = { id: 'p', url: 'https://hook.example/x', token: 't' };
  return [
    post(
      '1.0 send',
      '/',
      rpc('SendMessage', { message: message1_0, configuration, metadata: { a: 1 } }),
      headers1_0,
    ),
    post('1.0 stream', '/', rpc('SendStreamingMessage', { message: message1_0 }), headers1_0),
    post('1.0 get', '/', rpc('GetTask', { id: taskId, historyLength: 1 }), headers1_0),
    post(
      '1.0 list',
      '/',
      rpc('ListTasks', {
        pageSize: 5,
        status: 'TASK_STATE_COMPLETED',
        statusTimestampAfter: '2026-01-01T00:00:00Z',
        includeArtifacts: true,
      }),
      headers1_0,
    ),
    post('1.0 cancel', '/', rpc('CancelTask', { id: taskId }), headers1_0),
    post('1.0 subscribe', '/', rpc('SubscribeToTask', { id: taskId }), {
      ...headers1_0,
      'Last-Event-ID': '2',
    }),
    post('1.0 push', '/', rpc('CreateTaskPushNotificationConfig', { taskId, ...push }), headers1_0),
    post('1.0 push list', '/', rpc('ListTaskPushNotificationConfigs', { taskId, pageSize: 1 }), headers1_0),
    post('0.3 send', '/', rpc('message/send', { message: message0_3, configuration: { blocking: true } })),
    post('0.3 stream', '/', rpc('message/stream', { message: message0_3 }), headers0_3),
    post('0.3 get', '/', rpc('tasks/get', { id: taskId })),
    post(
      '0.3 push',
      '/',
      rpc('tasks/pushNotificationConfig/set', { taskId, pushNotificationConfig: push }),
      headers0_3,
    ),
    post(
      '0.1 send',
      '/',
      rpc('tasks/send', {
        id: 'mine',
        sessionId: 's',
        message: {
          role: 'user',
          parts: [
            { type: 'text', text: 'hi' },
            { type: 'file', file: { bytes: 'aGk=' } },
          ],
        },
        historyLength: 2,
      }),
    ),
    post(
      '0.1 stream',
      '/',
      rpc('tasks/sendSubscribe', {
        id: 'mine-2',
        message: { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
      }),
    ),
    post('0.1 cancel', '/', rpc('tasks/cancel', { id: 'mine' }), { 'A2A-Version': '0.1' }),
    post('1.0 REST send', '/message:send', { message: message1_0, configuration }, headers1_0),
    post('1.0 REST stream', '/message:stream', { message: message1_0 }, headers1_0),
    post('1.0 REST cancel', `/tasks/${taskId}:cancel`, { metadata: {} }, headers1_0),
    post('1.0 REST push', `/tasks/${taskId}/pushNotificationConfigs`, push, headers1_0),
    post('0.3 REST send', '/v1/message:send', {
      message: { messageId: 'm-4', role: 'ROLE_USER', content: [{ text: 'hi' }] },
    }),
    get('1.0 REST get', `/tasks/${taskId}?historyLength=2`, headers1_0),
    get('1.0 REST list', '/tasks?pageSize=3&status=TASK_STATE_COMPLETED&includeArtifacts=true', headers1_0),
    get('0.3 REST get', `/v1/tasks/${taskId}`),
    get('card', '/.well-known/agent-card.json', { Origin: 'https://page.example' }),
    get('old card', '/.well-known/agent.json', { 'If-None-Match': '"x"' }),
    get(
      'preflight',
      '/',
      { Origin: 'https://page.example', 'Access-Control-Request-Headers': 'x-y' },
      'OPTIONS',
    ),
    get('1.0 REST push delete', `/tasks/${taskId}/pushNotificationConfigs/p`, headers1_0, 'DELETE'),
  ];
}

/** Serializes a request. @param changedBody - replaces the body */
export function requestBytes({ verb, path, headers, body }: SeedRequest, changedBody?: Buffer): Buffer {
  return rawRequest(verb, path, changedBody ?? (body === undefined ? '' : JSON.stringify(body)), headers);
}
