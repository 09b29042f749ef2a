import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalAgent } from '../../../src/engine/index.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { httpGet, httpOpen, callRpc } from '../../support/http/http-calls.ts';

let agent: LocalAgent;
let server: RunningServer;
const path = '/.well-known/agent-card.json';

beforeAll(async () => {
  agent = sampleAgent();
  server = await serve(agent);
});
afterAll(async () => {
  await server.stop();
  await agent.close();
});

describe('agent card', () => {
  it('serves the card in the format of each version', async () => {
    const modern = await httpGet(server.url + path, { 'a2a-version': '1.0' });
    expect(modern.headers.get('content-type')).toBe('application/json');
    expect(modern.json).not.toHaveProperty('url');
    expect(modern.json.supportedInterfaces).toEqual([
      { url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: server.url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: server.url, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      { url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '0.1' },
      { url: `127.0.0.1:${server.port}`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: `127.0.0.1:${server.port}`, protocolBinding: 'GRPC', protocolVersion: '0.3' },
    ]);
    const tagged = await httpGet(server.url + path, { 'a2a-version': '0.3' });
    expect(tagged.json).toMatchObject({ url: server.url, protocolVersion: '0.3.0' });
    expect(tagged.json.additionalInterfaces).toContainEqual({
      url: `127.0.0.1:${server.port}`,
      transport: 'GRPC',
    });
    const hybrid = await httpGet(server.url + path);
    expect(hybrid.json).toEqual({
      ...modern.json,
      ...tagged.json,
      capabilities: { ...modern.json.capabilities, ...tagged.json.capabilities },
    });
    expect(hybrid.json.capabilities).toHaveProperty('extendedAgentCard', true);
    const oldest = await httpGet(server.url + path, { 'a2a-version': '0.1' });
    expect(oldest.json).toMatchObject({ url: server.url, capabilities: { streaming: true } });
    expect(oldest.json).not.toHaveProperty('protocolVersion');
  });

  it('serves a card with the supported versions to unknown versions', async () => {
    const { status, json } = await httpGet(server.url + path, { 'a2a-version': '9.9' });
    expect(status).toBe(200);
    expect(json.supportedInterfaces[0].protocolVersion).toBe('1.0');
  });

  it('serves the card at agent.json with the members of 0.1', async () => {
    const { status, json } = await httpGet(`${server.url}/.well-known/agent.json`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      url: server.url,
      protocolVersion: '0.3.0',
      skills: [{ id: 'echo', inputModes: ['text/plain', '*/*'], outputModes: ['text/plain'] }],
    });
  });

  it('supports Cache-Control and ETag', async () => {
    const first = await httpGet(server.url + path);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"\w+"$/);
    expect(first.headers.get('cache-control')).toBe('public, max-age=300');
    expect(first.headers.get('vary')).toBe('A2A-Version, Host');
    for (const kept of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await httpGet(server.url + path, { 'if-none-match': kept });
      expect(again.status).toBe(304);
      expect(again.text).toBe('');
      expect(again.headers.get('etag')).toBe(etag);
    }
    expect((await httpGet(server.url + path, { 'if-none-match': '"other"' })).status).toBe(200);
    const modern = await httpGet(server.url + path, { 'a2a-version': '1.0', 'if-none-match': etag });
    expect(modern.status).toBe(200);
    expect(modern.headers.get('etag')).not.toBe(etag);
  });

  it('supports HEAD', async () => {
    const whole = await httpGet(server.url + path);
    const head = await httpOpen(server.url + path, undefined, {}, 'HEAD');
    expect(head.status).toBe(200);
    expect(head.headers.get('etag')).toBe(whole.headers.get('etag'));
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(whole.text)));
    expect(await head.text()).toBe('');
  });
});

describe('extended card', () => {
  const secured = sampleAgent({ securitySchemes: { key: { type: 'http', scheme: 'bearer' } } });

  it('serves the extended card at the path and method of each version', async () => {
    const other = await serve(secured);
    const inTags = { name: 'Sample extended', url: other.url, securitySchemes: { key: { type: 'http' } } };
    const inWrappers = {
      name: 'Sample extended',
      securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    };
    expect((await httpGet(`${other.url}/agent/authenticatedExtendedCard`)).json).toMatchObject(inTags);
    const tagged = await callRpc(other.url, 'agent/getAuthenticatedExtendedCard', undefined);
    expect(tagged.result).toMatchObject(inTags);
    expect((await httpGet(`${other.url}/v1/card`)).json).toMatchObject(inWrappers);
    expect((await httpGet(`${other.url}/extendedAgentCard`, { 'a2a-version': '1.0' })).json).toMatchObject(
      inWrappers,
    );
    expect((await callRpc(other.url, 'GetExtendedAgentCard', {}, '1.0')).result).toMatchObject(inWrappers);
    await other.stop();
  });

  it('returns the error of each version if there is none', async () => {
    const bare = sampleAgent({ extendedCard: undefined });
    const other = await serve(bare);
    expect((await httpGet(`${other.url}/agent/authenticatedExtendedCard`)).status).toBe(404);
    const modern = await httpGet(`${other.url}/extendedAgentCard`, { 'a2a-version': '1.0' });
    expect(modern).toMatchObject({ status: 400, json: { error: { status: 'FAILED_PRECONDITION' } } });
    expect((await callRpc(other.url, 'GetExtendedAgentCard', {}, '1.0')).error.code).toBe(-32004);
    await other.stop();
    await bare.close();
  });
});

describe('CORS', () => {
  it('allows all origins with cors.origins "*"', async () => {
    const other = await serve(agent, { cors: { origins: '*' } });
    const { headers } = await httpGet(other.url + path, { origin: 'https://app.test' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toContain('ETag');
    const preflight = await httpOpen(
      other.url,
      undefined,
      { origin: 'https://app.test', 'access-control-request-headers': 'a2a-version, x-own' },
      'OPTIONS',
    );
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('a2a-version, x-own');
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
    await other.stop();
  });

  it('allows only listed origins', async () => {
    const other = await serve(agent, { cors: { origins: ['https://app.test'] } });
    const mine = await httpGet(other.url + path, { origin: 'https://app.test' });
    expect(mine.headers.get('access-control-allow-origin')).toBe('https://app.test');
    expect(mine.headers.get('vary')).toContain('Origin');
    const stranger = await httpGet(other.url + path, { origin: 'https://evil.test' });
    expect(stranger.headers.get('access-control-allow-origin')).toBeNull();
    await other.stop();
  });

  it('rejects foreign origins without CORS headers by default', async () => {
    const { status, headers } = await httpGet(server.url + path, { origin: 'https://app.test' });
    expect(status).toBe(403);
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('server URL', () => {
  it('derives the URL from a valid Host header', async () => {
    const { json } = await httpGet(server.url + path);
    expect(json.url).toBe(server.url);
  });

  it('uses publicUrl as URL', async () => {
    const other = await serve(agent, { publicUrl: 'https://agents.test/sample' });
    expect((await httpGet(other.url + path)).json.url).toBe('https://agents.test/sample');
    await other.stop();
  });

  it('includes basePath, and other paths return 404', async () => {
    const other = await serve(agent, { basePath: '/sample/' });
    const { json } = await httpGet(`${other.url}/sample${path}`);
    expect(json.url).toBe(`${other.url}/sample`);
    expect((await httpGet(other.url + path)).status).toBe(404);
    expect((await httpGet(`${other.url}/samples/healthz`)).status).toBe(404);
    expect((await httpGet(`${other.url}/sample/healthz`)).json).toEqual({ status: 'ok' });
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'no-such-task' } };
    for (const at of [json.url, `${json.url}/`]) {
      expect(await (await httpOpen(at, body)).json()).toMatchObject({ error: { code: -32001 } });
    }
    await other.stop();
  });

  it('serves /healthz, and /readyz once the agent is ready', async () => {
    expect((await httpGet(`${server.url}/healthz`)).json).toEqual({ status: 'ok' });
    expect((await httpGet(`${server.url}/readyz`)).json).toEqual({ status: 'ready' });
    let ready: () => void = () => {};
    const preparing = new Promise<void>((resolve) => (ready = resolve));
    const waiting = Object.assign(Object.create(agent) as LocalAgent, { ready: () => preparing });
    const port = await findFreePort();
    const starting = serve(waiting, { port });
    let early = await httpGet(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    while (!early) early = await httpGet(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    expect(early).toMatchObject({ status: 503, json: { status: 'starting' } });
    ready();
    const other = await starting;
    expect((await httpGet(`${other.url}/readyz`)).status).toBe(200);
    await other.stop();
  });
});
