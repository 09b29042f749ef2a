import { rawRequest } from '../http/raw-http.ts';

/** A valid request, in pieces that can be changed. */
export interface SeedRequest {
  name: string;
  verb: string;
  path: string;
  headers: Record<string, string>;
  body: unknown;
}

const modern = { 'A2A-Version': '1.0' };
const older = { 'A2A-Version': '0.3' };

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

/** One valid request of every kind. @param taskId - a task that is finished. */
export function seedRequests(taskId: string): SeedRequest[] {
  const configuration = { acceptedOutputModes: ['text/plain'], historyLength: 3, returnImmediately: true };
  const push = { id: 'p', url: 'https://hook.example/x', token: 't' };
  return [
    post(
      '1.0 send',
      '/',
      rpc('SendMessage', { message: message1_0, configuration, metadata: { a: 1 } }),
      modern,
    ),
    post('1.0 stream', '/', rpc('SendStreamingMessage', { message: message1_0 }), modern),
    post('1.0 get', '/', rpc('GetTask', { id: taskId, historyLength: 1 }), modern),
    post(
      '1.0 list',
      '/',
      rpc('ListTasks', {
        pageSize: 5,
        status: 'TASK_STATE_COMPLETED',
        statusTimestampAfter: '2026-01-01T00:00:00Z',
        includeArtifacts: true,
      }),
      modern,
    ),
    post('1.0 cancel', '/', rpc('CancelTask', { id: taskId }), modern),
    post('1.0 subscribe', '/', rpc('SubscribeToTask', { id: taskId }), { ...modern, 'Last-Event-ID': '2' }),
    post('1.0 push', '/', rpc('CreateTaskPushNotificationConfig', { taskId, ...push }), modern),
    post('1.0 push list', '/', rpc('ListTaskPushNotificationConfigs', { taskId, pageSize: 1 }), modern),
    post('0.3 send', '/', rpc('message/send', { message: message0_3, configuration: { blocking: true } })),
    post('0.3 stream', '/', rpc('message/stream', { message: message0_3 }), older),
    post('0.3 get', '/', rpc('tasks/get', { id: taskId })),
    post(
      '0.3 push',
      '/',
      rpc('tasks/pushNotificationConfig/set', { taskId, pushNotificationConfig: push }),
      older,
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
    post('1.0 REST send', '/message:send', { message: message1_0, configuration }, modern),
    post('1.0 REST stream', '/message:stream', { message: message1_0 }, modern),
    post('1.0 REST cancel', `/tasks/${taskId}:cancel`, { metadata: {} }, modern),
    post('1.0 REST push', `/tasks/${taskId}/pushNotificationConfigs`, push, modern),
    post('0.3 REST send', '/v1/message:send', {
      message: { messageId: 'm-4', role: 'ROLE_USER', content: [{ text: 'hi' }] },
    }),
    get('1.0 REST get', `/tasks/${taskId}?historyLength=2`, modern),
    get('1.0 REST list', '/tasks?pageSize=3&status=TASK_STATE_COMPLETED&includeArtifacts=true', modern),
    get('0.3 REST get', `/v1/tasks/${taskId}`),
    get('card', '/.well-known/agent-card.json', { Origin: 'https://page.example' }),
    get('old card', '/.well-known/agent.json', { 'If-None-Match': '"x"' }),
    get(
      'preflight',
      '/',
      { Origin: 'https://page.example', 'Access-Control-Request-Headers': 'x-y' },
      'OPTIONS',
    ),
    get('1.0 REST push delete', `/tasks/${taskId}/pushNotificationConfigs/p`, modern, 'DELETE'),
  ];
}

/** The bytes of a request, with another body if one is given. */
export function requestBytes({ verb, path, headers, body }: SeedRequest, changed?: Buffer): Buffer {
  return rawRequest(verb, path, changed ?? (body === undefined ? '' : JSON.stringify(body)), headers);
}
