import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { httpPost } from '../support/http/http-calls.ts';

const agent = defineAgent({ name: 'Echo', description: 'Repeats the text', process: ({ text }) => text });
let server: RunningServer;
beforeAll(async () => {
  server = await serve(agent, { metrics: { path: '/stats' } });
  await agent.send({ message: { messageId: 'm', role: 'user', parts: [{ text: 'secret' }] } });
});
afterAll(async () => {
  await server.stop(0);
  await agent.close();
});

const listTasks = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} };
const v1 = { 'a2a-version': '1.0' };

describe('reserved paths', () => {
  it.each([
    '/healthz',
    '/readyz',
    '/stats',
    '/.well-known/agent-card.json',
    '/.well-known/agent.json',
    '//healthz',
  ])('respond 405 to other methods: %s', async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const { status, headers, text } = await httpPost(server.url + path, listTasks, v1, method);
      expect(status, method).toBe(405);
      expect(headers.get('allow')).toBe('GET, HEAD');
      expect(text).not.toContain('secret');
    }
  });

  it.each([
    '/.well-known/tasks',
    '/.well-known/message:send',
    '/%2ewell-known/tasks',
    '/healthz/tasks',
    '/%68ealthz/tasks',
    '/readyz/tasks',
    '/metrics/tasks',
    '/metrics',
    '/tasks/tasks/x/y',
    '/./tasks',
    '/../tasks',
    '/v1/x/tasks',
    '/anything',
    '/a/b/c',
  ])('are neither a tenant nor a JSON-RPC endpoint: %s', async (path) => {
    // fetch() would resolve dots.
    const { sendRawRequest, rawRequest } = await import('../support/http/raw-http.ts');
    for (const method of ['GET', 'POST', 'DELETE']) {
      const body = method === 'POST' ? JSON.stringify(listTasks) : '';
      const response = await sendRawRequest(
        server.port,
        rawRequest(method, path, body, { 'A2A-Version': '1.0' }),
      );
      expect([404, 405], `${method} ${response?.body}`).toContain(response?.status);
      expect(response?.body).not.toContain('secret');
    }
  });

  it('leave other tenants alone', async () => {
    const response = await fetch(`${server.url}/acme/tasks`, { headers: v1 });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ tasks: [] });
  });

  it('accept JSON-RPC envelopes on REST paths', async () => {
    const { json } = await httpPost(`${server.url}/message:send`, listTasks, v1);
    expect(json).toMatchObject({ jsonrpc: '2.0', result: { totalSize: 1 } });
    expect((await httpPost(`${server.url}/tasks/x`, listTasks, v1)).json).toMatchObject({ jsonrpc: '2.0' });
  });

  it('are not names of agents in a gateway', () => {
    for (const name of ['healthz', 'readyz', 'metrics', '__admin'])
      expect(() => createGateway().addAgent(name, { agent })).toThrow('reserved');
    expect(() => createGateway().addAgent('agent', { agent })).not.toThrow();
  });
});
