import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { A2AError } from '../../../src/protocol/errors.ts';
import { apiKeyAuth } from '../../../src/server/auth/schemes/api-key.ts';
import { basicAuth } from '../../../src/server/auth/schemes/basic.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { customAuth } from '../../../src/server/auth/schemes/custom.ts';
import type { ServerOptions } from '../../../src/server/server-options.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { serverAdapters } from '../../support/server/server-adapters.ts';
import { RawConnection, rawRequest } from '../../support/http/raw-http.ts';
import { withToken, headers1_0, testTokens, serveObserved } from '../../support/server/telemetry-fixtures.ts';

describe.each(serverAdapters)('authentication at $name', ({ open }) => {
  const { calls, start, send } = serveObserved(open);

  it('declares all security schemes in the card of each version', async () => {
    const door = await start({
      authenticators: [
        apiKeyAuth({ in: 'header', name: 'X-Key', keys: { k: 'a' }, description: 'Ask us' }),
        bearerAuth({ tokens: testTokens }),
        basicAuth({ users: { u: 'p' }, scheme: 'old' }),
      ],
    });
    const card = async (path: string, headers = {}): Promise<any> => {
      const response = await door.request(path, { headers });
      expect(response.status).toBe(200);
      return response.json();
    };
    expect(await card('/.well-known/agent-card.json', { 'a2a-version': '1.0' })).toMatchObject({
      securitySchemes: {
        apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-Key', description: 'Ask us' } },
        bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
        old: { httpAuthSecurityScheme: { scheme: 'basic' } },
      },
      securityRequirements: [
        { schemes: { apiKey: {} } },
        { schemes: { bearer: {} } },
        { schemes: { old: {} } },
      ],
    });
    expect(await card('/.well-known/agent-card.json', { 'a2a-version': '0.3' })).toMatchObject({
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-Key' }, bearer: { type: 'http' } },
      security: [{ apiKey: [] }, { bearer: [] }, { old: [] }],
    });
    expect(await card('/.well-known/agent.json', { 'a2a-version': '0.1' })).toMatchObject({
      authentication: { schemes: ['ApiKey', 'Bearer', 'Basic'] },
    });
    expect(await card('/.well-known/agent.json')).toMatchObject({
      authentication: { schemes: ['ApiKey', 'Bearer', 'Basic'] },
      security: [{ apiKey: [] }, { bearer: [] }, { old: [] }],
    });
  });

  it('keeps card, health and readiness public', async () => {
    const door = await start({ authenticators: [bearerAuth({ tokens: testTokens })] });
    for (const path of ['/.well-known/agent-card.json', '/.well-known/agent.json', '/healthz', '/readyz']) {
      expect((await door.request(path)).status).toBe(200);
      expect((await door.request(path, { headers: { authorization: 'Bearer wrong' } })).status).toBe(200);
      expect((await door.request(path, { method: 'POST' })).status).toBe(401);
    }
    expect(
      (await door.request('/', { method: 'OPTIONS', headers: { origin: 'https://a.test' } })).status,
    ).toBe(204);
  });

  const places: {
    name: string;
    in: 'header' | 'query' | 'cookie';
    show: (key: string) => [Record<string, string>, string?];
  }[] = [
    { name: 'a header', in: 'header', show: (key) => [{ 'x-key': key }] },
    { name: 'the query', in: 'query', show: (key) => [{}, `?X-Key=${encodeURIComponent(key)}`] },
    { name: 'a cookie', in: 'cookie', show: (key) => [{ cookie: `other=1; X-Key=${key}; X-Key2=no` }] },
  ];
  it.each(places)('accepts an API key in $name', async (place) => {
    const door = await start({
      authenticators: [apiKeyAuth({ in: place.in, name: 'X-Key', keys: { 's3cret-key': 'alice' } })],
    });
    const [headers, query] = place.show('s3cret-key');
    expect((await send(door, headers, undefined, query)).status).toBe(200);
    expect(calls[0]?.principal).toEqual({ id: 'alice' });
    // The agent does not receive the key.
    expect(JSON.stringify(calls[0]?.headers)).not.toContain('s3cret');
    for (const wrong of ['s3cret-kez', 's3cret-key2', 'constructor', '__proto__', 'x'.repeat(5_000)]) {
      const [bad, inQuery] = place.show(wrong);
      const response = await send(door, bad, undefined, inQuery);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe(
        `ApiKey realm="a2a", in="${place.in}", name="X-Key"`,
      );
      expect(await response.text()).not.toContain('s3cret');
    }
    expect((await send(door, {})).status).toBe(401);
    expect(calls).toHaveLength(1);
  });

  it('rejects a duplicate key and a cross-site cookie', async () => {
    const keys = { k: 'alice' };
    const inQuery = await start({ authenticators: [apiKeyAuth({ in: 'query', name: 'key', keys })] });
    expect((await send(inQuery, {}, undefined, '?key=k')).status).toBe(200);
    expect((await send(inQuery, {}, undefined, '?key=k&key=x')).status).toBe(401);
    const inCookie = await start({ authenticators: [apiKeyAuth({ in: 'cookie', name: 'key', keys })] });
    expect((await send(inCookie, { cookie: 'key=k' })).status).toBe(200);
    expect((await send(inCookie, { cookie: 'key=k', origin: 'https://evil.test' })).status).toBe(401);
    expect((await send(inCookie, { cookie: 'key=k', origin: 'null' })).status).toBe(401);
  });

  it('accepts user name and password', async () => {
    const door = await start({ authenticators: [basicAuth({ users: { ann: 'pä:ss', nobody: '' } })] });
    const show = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
    expect((await send(door, show('ann:pä:ss'))).status).toBe(200);
    expect(calls[0]?.principal).toEqual({ id: 'ann' });
    for (const pair of ['ann:', 'ann:pä', 'ann', ':pä:ss', 'nobody:', 'constructor:', 'toString:x']) {
      const response = await send(door, show(pair));
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Basic realm="a2a", charset="UTF-8"');
    }
    expect((await send(door, { authorization: 'Basic ???' })).status).toBe(401);
  });

  it('accepts any of several schemes and sends a challenge for each', async () => {
    const door = await start({
      authenticators: [
        bearerAuth({ tokens: testTokens }),
        apiKeyAuth({ in: 'header', name: 'X-Key', keys: { k: 'kay' } }),
        bearerAuth({ tokens: { late: 'leo' }, scheme: 'second' }),
      ],
      realm: 'the "lab"',
    });
    const wrong = await send(door, { authorization: 'Bearer nope' });
    expect(wrong.headers.get('www-authenticate')).toBe(
      'Bearer realm="the \\"lab\\"", error="invalid_token", ApiKey realm="the \\"lab\\"", in="header", name="X-Key"',
    );
    const none = await send(door, {});
    expect(none.headers.get('www-authenticate')).toBe(
      'Bearer realm="the \\"lab\\"", ApiKey realm="the \\"lab\\"", in="header", name="X-Key"',
    );
    for (const headers of [{ authorization: 'bearer late' }, { 'x-key': 'k' }, withToken('alice')] as Record<
      string,
      string
    >[])
      expect((await send(door, headers)).status).toBe(200);
    // Credentials that one authenticator rejects may be valid for another.
    expect((await send(door, { authorization: 'Bearer nope', 'x-key': 'k' })).status).toBe(200);
    expect(calls.map(({ principal }) => principal?.id)).toEqual(['leo', 'kay', 'alice', 'kay']);
  });

  const refusals: {
    name: string;
    path: string;
    method?: string;
    headers?: Record<string, string>;
    body?: string;
    error: unknown;
  }[] = [
    {
      name: '1.0 over JSON-RPC',
      path: '/',
      headers: headers1_0,
      error: { jsonrpc: '2.0', id: null, error: { code: -32600, data: [{ reason: 'UNAUTHENTICATED' }] } },
    },
    {
      name: '0.3 over JSON-RPC',
      path: '/',
      headers: { 'a2a-version': '0.3' },
      error: { jsonrpc: '2.0', id: null, error: { code: -32600 } },
    },
    {
      name: '0.1 over JSON-RPC',
      path: '/',
      headers: { 'a2a-version': '0.1' },
      error: { jsonrpc: '2.0', id: null, error: { code: -32600, data: { reason: 'UNAUTHENTICATED' } } },
    },
    {
      name: 'the streams of the oldest',
      path: '/subscribe',
      error: { jsonrpc: '2.0', error: { code: -32600, data: { reason: 'UNAUTHENTICATED' } } },
    },
    {
      name: '1.0 over REST',
      path: '/message:send',
      headers: headers1_0,
      error: { error: { code: 401, status: 'UNAUTHENTICATED' } },
    },
    {
      name: '1.0 over REST without its version',
      path: '/tenant/message:send',
      error: { error: { code: 401, status: 'UNAUTHENTICATED' } },
    },
    {
      name: '1.0 over REST, reading',
      path: '/tasks/x',
      method: 'GET',
      error: { error: { code: 401, status: 'UNAUTHENTICATED' } },
    },
    {
      name: '0.3 over REST',
      path: '/v1/message:send',
      error: { code: -32600, message: 'Authentication required' },
    },
    { name: '0.3 over REST, reading', path: '/v1/card', method: 'GET', error: { code: -32600 } },
    { name: 'JSON-RPC somewhere else', path: '/rpc', headers: headers1_0, error: { error: { code: 401 } } },
    {
      name: 'the extended card of 0.2',
      path: '/agent/authenticatedExtendedCard',
      method: 'GET',
      error: { error: { code: 401 } },
    },
    {
      name: 'what does not exist',
      path: '/no/such/thing',
      method: 'DELETE',
      error: { error: { code: 401 } },
    },
  ];
  it.each(refusals)(
    'responds 401 in the format of $name',
    async ({ path, method = 'POST', headers = {}, error }) => {
      const door = await start({ authenticators: [bearerAuth({ tokens: testTokens })] });
      // The body is not parsed.
      const body = method === 'GET' ? {} : { body: '{{{{' };
      const response = await door.request(path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...body,
      });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="a2a"');
      expect(await response.json()).toMatchObject(error as object);
    },
  );

  it('responds 401 before a large body is read', async () => {
    const door = await start(
      { authenticators: [bearerAuth({ tokens: testTokens })] },
      {},
      { maxBodyBytes: 1_000 },
    );
    const body = 'x'.repeat(2_000);
    expect((await door.request('/', { method: 'POST', body })).status).toBe(401);
    expect((await door.request('/', { method: 'POST', body, headers: withToken('alice') })).status).toBe(413);
  });

  it('requires authentication for methods other than GET on the metrics path', async () => {
    const door = await start(
      { authenticators: [bearerAuth({ tokens: testTokens })] },
      {},
      { metrics: { allow: () => true } },
    );
    expect((await door.request('/metrics')).status).toBe(200);
    const body = '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}';
    expect((await door.request('/metrics', { method: 'POST', headers: headers1_0, body })).status).toBe(401);
  });

  it('sends CORS headers with a 401', async () => {
    const cors = { origins: '*' } as const;
    const door = await start({ authenticators: [bearerAuth({ tokens: testTokens })] }, {}, { cors });
    const response = await send(door, { origin: 'https://page.test' });
    expect(response.status).toBe(401);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
  });

  it('passes the principal to the agent without credentials', async () => {
    const headers = {
      ...withToken('bob'),
      cookie: 'a=b',
      'proxy-authorization': 'Basic eA==',
      'x-trace': 'kept',
    };
    const door = await start({ authenticators: [bearerAuth({ tokens: testTokens })] });
    await send(door, headers);
    expect(calls[0]?.principal).toEqual({ id: 'bob', scopes: ['read', 'write'] });
    expect(calls[0]?.headers).toMatchObject({ 'x-trace': 'kept' });
    for (const name of ['authorization', 'cookie', 'proxy-authorization'])
      expect(calls[0]?.headers).not.toHaveProperty(name);
    const open = await start({
      authenticators: [bearerAuth({ tokens: testTokens })],
      exposeCredentials: true,
    });
    await send(open, headers);
    expect(calls[0]?.headers).toMatchObject({ authorization: 'Bearer bob-token', cookie: 'a=b' });
  });

  it('passes no credentials to onError', async () => {
    const reportedErrors: string[] = [];
    const onError: ServerOptions['onError'] = (error, exchange) =>
      reportedErrors.push(JSON.stringify([error, exchange.headers, exchange.query, exchange.path]));
    const broken = customAuth({
      schemes: { odd: { type: 'http', scheme: 'Odd' } },
      authenticate() {
        throw new Error('the database is gone');
      },
    });
    const withKey = apiKeyAuth({ in: 'query', name: 'key', keys: {} });
    const door = await start({ authenticators: [broken, withKey] }, {}, { onError });
    const response = await send(door, { authorization: 'Odd s3cret' }, undefined, '?key=s3cret');
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('database');
    const failing = await start(
      { authenticators: [bearerAuth({ tokens: testTokens })] },
      { extendedCard: () => Promise.reject(new Error('no')) },
      { onError },
    );
    expect(
      (await failing.request('/extendedAgentCard', { headers: { ...headers1_0, ...withToken('alice') } }))
        .status,
    ).toBe(500);
    expect(reportedErrors).toHaveLength(2);
    expect(reportedErrors.join()).not.toMatch(/s3cret|alice-token/);
  });

  it('responds 503 when an authenticator is unavailable', async () => {
    const authenticate = (): Promise<never> => Promise.reject(new A2AError('UNAVAILABLE'));
    const asleep = customAuth({ schemes: { slow: { type: 'http', scheme: 'bearer' } }, authenticate });
    const door = await start({ authenticators: [asleep, bearerAuth({ tokens: testTokens })] });
    expect((await send(door, withToken('alice'))).status).toBe(200);
    expect((await send(door, withToken('nobody'))).status).toBe(503);
  });

  it('rejects a principal without id', async () => {
    const nameless = customAuth({
      schemes: { x: { type: 'http', scheme: 'x' } },
      authenticate: async () => ({ id: '' }),
    });
    const door = await start({ authenticators: [nameless] });
    expect((await send(door, {})).status).toBe(500);
    expect(calls).toEqual([]);
  });

  it('rejects the request even if onDenied throws', async () => {
    const door = await start({
      authenticators: [bearerAuth({ tokens: testTokens })],
      onDenied: () => {
        throw new Error('no');
      },
    });
    expect((await send(door, {})).status).toBe(401);
  });

  it('rejects options without authenticators or with conflicting schemes', async () => {
    await expect(start({ authenticators: [] })).rejects.toThrow(/auth\.authenticators/);
    const twice = [
      apiKeyAuth({ in: 'header', name: 'a', keys: {} }),
      apiKeyAuth({ in: 'header', name: 'b', keys: {} }),
    ];
    await expect(start({ authenticators: twice })).rejects.toThrow(/apiKey/);
    expect(() => bearerAuth({ tokens: { '': 'everybody' } })).toThrow(/tokens/);
  });
});

describe('client disconnect during authentication', () => {
  it('is ignored', async () => {
    const agent = sampleAgent();
    let knock: () => void = () => {};
    const requested = new Promise<void>((resolve) => (knock = resolve));
    let open: () => void = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const slow = customAuth({
      schemes: { slow: { type: 'http', scheme: 'bearer' } },
      async authenticate() {
        knock();
        await opened;
        return { id: 'alice' };
      },
    });
    const server = await serve(agent, { auth: { authenticators: [slow] } });
    try {
      const closed = new Promise((resolve) => {
        server.server.once('connection', (socket: Socket) => socket.once('close', resolve));
      });
      const gone = new RawConnection(server.port);
      gone.write(rawRequest('POST', '/', '{', { 'Content-Length': '100' }));
      await requested;
      gone.destroy();
      await closed;
      open();
      const { status } = await fetch(`${server.url}/tasks`, { headers: headers1_0 });
      expect(status).toBe(200);
    } finally {
      await server.stop(100);
      await agent.close();
    }
  });
});
