/** Access control, limits and sessions of MCP over HTTP. */
import { afterEach, describe, expect, it } from 'vitest';
import { bridge } from '../../../src/bridge/index.ts';
import {
  type RunningMcpServer,
  serveMcp,
  type ServeMcpOptions,
} from '../../../src/bridge/mcp/server/serve-mcp.ts';
import { connect } from '../../../src/client/index.ts';
import { serve } from '../../../src/server/index.ts';
import { type McpClientKind, mcpClientKinds } from '../../support/bridge/mcp-clients.ts';
import { createMcpDemoAgent } from '../../support/bridge/mcp-demo-agent.ts';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function startServer(
  http: NonNullable<ServeMcpOptions['http']>,
  { agent } = createMcpDemoAgent(),
): Promise<RunningMcpServer> {
  const actions = await bridge({ agentName: 'demo', agent });
  const running = await serveMcp(actions, { http });
  closers.push(
    () => agent.close(),
    () => actions.close(),
    () => running.close(),
  );
  return running;
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
};

async function post(url: string, headers: Record<string, string> = {}, body: unknown = initialize) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    session: response.headers.get('mcp-session-id'),
    text: await response.text(),
  };
}

describe('serveMcp over HTTP', () => {
  it('responds 403 to foreign Origin and Host headers', async () => {
    const { url = '' } = await startServer({});
    expect(await post(url)).toMatchObject({ status: 200, session: expect.any(String) });
    expect(await post(url, { origin: 'https://evil.example' })).toMatchObject({ status: 403, session: null });
    expect(await post(url, { origin: 'http://localhost:6274' })).toMatchObject({ status: 403 });
    expect(await post(url, { origin: new URL(url).origin })).toMatchObject({ status: 200 });
    const { hostname, port } = new URL(url);
    const { request } = await import('node:http');
    const status = await new Promise((resolve) => {
      request(
        { hostname, port, path: '/mcp', method: 'POST', headers: { host: 'evil.example' } },
        (response) => resolve(response.resume().statusCode),
      ).end('{}');
    });
    expect(status).toBe(403);
    expect(await post(url.replace('/mcp', '/other'))).toMatchObject({ status: 404 });
  });

  it('responds 401 without the configured token', async () => {
    const { url = '' } = await startServer({ token: 'sesame' });
    expect(await post(url)).toMatchObject({ status: 401 });
    expect(await post(url, { authorization: 'Bearer wrong' })).toMatchObject({ status: 401 });
    expect(await post(url, { authorization: 'Bearer sesame' })).toMatchObject({ status: 200 });
  });

  it('requires allowedHosts and a token to listen on 0.0.0.0', async () => {
    await expect(startServer({ host: '0.0.0.0' })).rejects.toThrow('http.allowedHosts');
    await expect(startServer({ host: '0.0.0.0', allowedHosts: ['tools.example.com'] })).rejects.toThrow(
      'http.token',
    );
  });

  it('rejects large bodies, malformed JSON and unknown sessions', async () => {
    const { url = '' } = await startServer({ maxBodyBytes: 1_000 });
    expect(await post(url, {}, 'x'.repeat(2_000))).toMatchObject({ status: 413 });
    expect(await post(url, {}, '{')).toMatchObject({ status: 400 });
    expect(await post(url, { 'mcp-session-id': 'made-up' })).toMatchObject({ status: 404 });
  });

  it('closes the least recently used session beyond maxSessions', async () => {
    const { url = '' } = await startServer({ maxSessions: 2 });
    const sessions: string[] = [];
    for (let i = 0; i < 3; i++) sessions.push((await post(url)).session ?? '');
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    const statuses = [];
    for (const session of sessions)
      statuses.push((await post(url, { 'mcp-session-id': session }, ping)).status);
    expect(statuses).toEqual([404, 200, 200]);
  });

  it('isolates the files of sessions', async () => {
    const { url = '' } = await startServer({});
    const [, kind] = mcpClientKinds as [McpClientKind, McpClientKind];
    const [one, other] = [await kind.connect({ url }), await kind.connect({ url })];
    closers.push(
      () => one.close(),
      () => other.close(),
    );
    const { content } = await one.call('demo_do', { prompt: 'files' });
    const { uri } = content.find(({ type }: any) => type === 'resource_link');
    expect((await one.read(uri)).contents).toHaveLength(1);
    expect(await other.resources()).toEqual([]);
    await expect(other.read(uri)).rejects.toThrow(/not found/i);
  });

  it('uses one context per session', async () => {
    const demo = createMcpDemoAgent();
    const { url = '' } = await startServer(true, demo);
    const [, kind] = mcpClientKinds as [McpClientKind, McpClientKind];
    for (let i = 0; i < 2; i++) {
      const client = await kind.connect({ url });
      await client.call('demo_do', { prompt: 'a' });
      await client.call('demo_do', { prompt: 'b' });
      await client.close();
    }
    const [a, b, c, d] = demo.contexts;
    expect(a).toBe(b);
    expect(c).toBe(d);
    expect(a).not.toBe(c);
  });

  it.each(mcpClientKinds.map((kind) => ({ kind, name: kind.name })))(
    'cancels the task when the $name disconnects during a call',
    async ({ kind }) => {
      const demo = createMcpDemoAgent();
      const { url = '' } = await startServer(true, demo);
      const client = await kind.connect({ url });
      await new Promise<void>((resolve) => {
        const onprogress = ({ message }: any) => message === 'begun' && resolve();
        client.call('demo_do', { prompt: 'slow' }, { onprogress }).catch(() => {});
      });
      await client.close();
      await demo.nextCanceledTask();
    },
  );

  it('cancels running tasks on close', async () => {
    const demo = createMcpDemoAgent();
    const server = await serve(demo.agent);
    const remote = connect(server.url);
    const actions = await bridge({ agentName: 'demo', agent: remote });
    const running = await serveMcp(actions, { http: true });
    closers.push(
      () => demo.agent.close(),
      () => server.stop(0),
      () => remote.close(),
      () => actions.close(),
    );
    const [, , kind] = mcpClientKinds as [McpClientKind, McpClientKind, McpClientKind];
    const client = await kind.connect({ url: running.url ?? '' });
    await new Promise<void>((resolve) => {
      const onprogress = ({ message }: any) => message === 'begun' && resolve();
      client.call('demo_do', { prompt: 'slow' }, { onprogress }).catch(() => {});
    });
    await running.close();
    await demo.nextCanceledTask();
    await client.close();
  });
});
