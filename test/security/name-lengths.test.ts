/** Ids, names, tenants, media types and tokens of any length are rejected, in all versions and on all transports. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lenientMode, strictMode } from '../../src/dialects/translation-loss.ts';
import { v1_0 } from '../../src/dialects/v1_0/index.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { readRequest } from '../../src/mesh/rpc-envelope.ts';
import { serve, type RunningServer } from '../../src/server/node/serve.ts';

const long = 'x'.repeat(1_025);
const parts1 = [{ text: 'hi' }];
const parts3 = [{ kind: 'text', text: 'hi' }];

let server: RunningServer;
beforeAll(async () => {
  const agent = defineAgent({
    name: 'Echo',
    description: 'Repeats',
    pushNotifications: true,
    process: ({ text }) => text,
  });
  server = await serve(agent, { port: 0 });
});
afterAll(() => server.stop(0));

async function post(path: string, body: unknown, version?: string): Promise<string> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(version && { 'a2a-version': version }) },
    body: JSON.stringify(body),
  });
  return response.text();
}

const rpc = (method: string, params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const send1 = (message: object, more: object = {}) =>
  rpc('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: parts1, ...message }, ...more });
const send3 = (message: object) =>
  rpc('message/send', {
    message: { kind: 'message', messageId: 'm', role: 'user', parts: parts3, ...message },
  });
const push = (config: object) => ({
  configuration: { taskPushNotificationConfig: { url: 'https://x', ...config } },
});

describe('over JSON-RPC', () => {
  it.each<[string, string, unknown]>([
    ['message.messageId', '1.0', send1({ messageId: long })],
    ['message.taskId', '1.0', send1({ taskId: long })],
    ['message.contextId', '1.0', send1({ contextId: long })],
    ['message.referenceTaskIds[0]', '1.0', send1({ referenceTaskIds: [long] })],
    ['message.extensions[0]', '1.0', send1({ extensions: [long] })],
    ['message.parts[0].mediaType', '1.0', send1({ parts: [{ text: '', mediaType: long }] })],
    ['message.parts[0].filename', '1.0', send1({ parts: [{ text: '', filename: long }] })],
    ['tenant', '1.0', send1({}, { tenant: long })],
    [
      'configuration.acceptedOutputModes[0]',
      '1.0',
      send1({}, { configuration: { acceptedOutputModes: [long] } }),
    ],
    ['configuration.taskPushNotificationConfig.id', '1.0', send1({}, push({ id: long }))],
    ['configuration.taskPushNotificationConfig.token', '1.0', send1({}, push({ token: long.repeat(16) }))],
    ['id', '1.0', rpc('GetTask', { id: long })],
    ['pageToken', '1.0', rpc('ListTasks', { pageToken: long.repeat(16) })],
    ['message.messageId', '0.3', send3({ messageId: long })],
    ['message.contextId', '0.3', send3({ contextId: long })],
    ['id', '0.3', rpc('tasks/get', { id: long })],
    [
      'taskId',
      '0.3',
      rpc('tasks/pushNotificationConfig/set', { taskId: long, pushNotificationConfig: { url: 'https://x' } }),
    ],
    [
      'id',
      '0.1',
      rpc('tasks/send', { id: long, message: { role: 'user', parts: [{ type: 'text', text: 'hi' }] } }),
    ],
    [
      'sessionId',
      '0.1',
      rpc('tasks/send', {
        id: 't',
        sessionId: long,
        message: { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
      }),
    ],
  ])('rejects a long %s in %s', async (field, version, body) => {
    expect(await post('/', body, version)).toContain(`${field} must have at most `);
  });

  it('rejects a long request id and does not repeat it', async () => {
    const text = await post('/', rpc('ListTasks', {}, long), '1.0');
    expect(text).toContain('id must have at most 1024 characters');
    expect(text).not.toContain(long);
  });

  it('accepts ids of 1,024 characters', async () => {
    expect(await post('/', send1({ messageId: 'm'.repeat(1_024) }), '1.0')).toContain('"result"');
  });
});

describe('over REST', () => {
  it('rejects long ids and tenants in bodies and paths', async () => {
    const message = { messageId: long, role: 'ROLE_USER', parts: parts1 };
    expect(await post('/message:send', { message }, '1.0')).toContain('message.messageId must have at most');
    expect(await post(`/tasks/${long}:cancel`, {}, '1.0')).toContain('id must have at most');
    expect(await post(`/${long}/message:send`, { message: { ...message, messageId: 'm' } }, '1.0')).toContain(
      'tenant must have at most',
    );
  });
});

it('rejects a long request id on the mesh', () => {
  expect(() => readRequest(JSON.stringify(rpc('SendMessage', {}, long)))).toThrow('id must have at most');
});

it('accepts longer ids from agents than from clients, but not of any length', () => {
  const read = (id: string, mode = lenientMode()) =>
    v1_0.results.getTask.read({ id, contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }, mode);
  expect(read(long)).toMatchObject({ id: long });
  expect(() => read(long, strictMode)).toThrow('must have at most 1024 characters');
  expect(() => read(long.repeat(8))).toThrow('must have at most 8192 characters');
});
