import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEndpointCache } from '../../client/discovery/endpoint-cache.ts';
import { defineAgent } from '../../engine/index.ts';
import { serve } from '../../server/node/serve.ts';
import { createAuthority, hasOpenssl } from '../../../test/support/http/certificates.ts';
import { closeAfterEach } from '../../../test/support/close-after-each.ts';
import { collectStream } from '../../../test/support/collect-stream.ts';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import {
  respondJson,
  type RawServerRequest,
  type RawServer,
  startEventStream,
  startRawServer,
} from '../../../test/support/http/raw-server.ts';
import {
  wireCardFixture,
  isWireCard,
  rpcResult,
  wireTaskFixture,
} from '../../../test/support/http/wire-fixtures-1_0.ts';
import type { UpstreamAuthentication, ProxiedAgent } from '../config/proxied-agent-schema.ts';
import { type UpstreamContext, createUpstream } from './upstream.ts';

const request = { message: { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] } };

const open = closeAfterEach();

type Respond = (request: RawServerRequest, response: ServerResponse, url: string) => unknown;

const respondCompleted: Respond = ({ json: rpc }, response) => {
  if (rpc.method !== 'SendStreamingMessage')
    return respondJson(response, rpcResult(rpc.id, { task: wireTaskFixture('completed') }));
  const stream = startEventStream(response);
  stream.event(rpcResult(rpc.id, { task: wireTaskFixture('completed') }));
  stream.end();
};

async function startServer(respond: Respond): Promise<RawServer> {
  const server = await startRawServer(respond);
  open.push(server);
  return server;
}

/** Starts an agent that serves a card and passes other requests to `respond`. */
function startAgent(respond: Respond = respondCompleted, more: object = {}): Promise<RawServer> {
  return startServer((wireRequest, response, url) =>
    wireRequest.method === 'GET'
      ? respondJson(response, { ...wireCardFixture(url), ...more })
      : respond(wireRequest, response, url),
  );
}

function upstream(config: Omit<ProxiedAgent, 'name'>, context: UpstreamContext = {}) {
  const created = createUpstream(
    { name: 'it', ...config },
    { endpointCache: createEndpointCache(), random: () => 0, ...context },
  );
  open.push(created);
  return created;
}

const calls = ({ requests }: RawServer) => requests.filter(({ method }) => method === 'POST');
const cards = ({ requests }: RawServer) => requests.filter(({ method }) => method === 'GET');

describe('createUpstream url', () => {
  it('accepts a URL with a trailing slash', async () => {
    const server = await startAgent();
    await upstream({ url: `${server.url}/` }).agent.send(request);
    expect(server.requests.map(({ path }) => path).filter((path) => path.startsWith('//'))).toEqual([]);
  });

  it('resolves agent_card_path relative to the URL', async () => {
    const server = await startServer((wireRequest, response, url) =>
      wireRequest.path === '/agents/x/about.json'
        ? respondJson(response, wireCardFixture(url))
        : wireRequest.method === 'GET'
          ? respondJson(response, {}, 404)
          : respondCompleted(wireRequest, response, url),
    );
    const { agent } = upstream({ url: `${server.url}/agents/x/`, agent_card_path: '/about.json' });
    await agent.send(request);
    expect(cards(server).map(({ path }) => path)).toEqual(['/agents/x/about.json']);
  });

  it('sends requests to url when use_agent_card_url is false', async () => {
    const server = await startAgent(respondCompleted, {
      supportedInterfaces: [
        { url: 'http://10.1.2.3:9/internal', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
    });
    await upstream({ url: `${server.url}/out/`, use_agent_card_url: false }).agent.send(request);
    expect(calls(server).map(({ path }) => path)).toEqual(['/out']);
  });

  it('uses agent_card_data instead of fetching the card', async () => {
    const server = await startServer(respondCompleted);
    const plain = upstream({
      url: server.url,
      agent_card_data: { name: 'Plain', protocolVersion: '1.0' },
      a2a_version: '1.0',
    });
    expect(await plain.agent.card()).toMatchObject({ name: 'Plain', defaultInputModes: ['text/plain'] });
    await plain.agent.send(request);
    expect(cards(server)).toEqual([]);
    await server.close();
    await expect(plain.check()).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  });
});

describe('createUpstream credentials', () => {
  const token = 'sesame';
  const authentications: [string, UpstreamAuthentication, object][] = [
    ['a bearer token', { type: 'static_bearer', token }, { authorization: 'Bearer sesame' }],
    ['an API key', { type: 'static_apikey', token }, { 'x-api-key': 'sesame' }],
    ['a bearer token in the legacy format', { scheme: 'bearer', token }, { authorization: 'Bearer sesame' }],
    ['an API key in the legacy format', { scheme: 'apikey', token }, { 'x-api-key': 'sesame' }],
  ];
  it.each(authentications)(
    'sends %s with calls but not with card requests',
    async (_what, authentication, headers) => {
      const server = await startAgent();
      const { agent } = upstream({ url: server.url, authentication });
      await agent.send(request);
      await collectStream(agent.stream(request));
      for (const call of calls(server)) expect(call.headers).toMatchObject(headers);
      expect(calls(server)).toHaveLength(2);
      for (const name of Object.keys(headers)) expect(cards(server)[0]?.headers[name]).toBeUndefined();
    },
  );

  const scheme = (location: string, name: string) => ({
    securitySchemes: {
      other: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
      key: { apiKeySecurityScheme: { location, name } },
    },
  });
  it.each([
    ['header', ({ headers }: RawServerRequest) => headers['x-own']],
    ['query', ({ path }: RawServerRequest) => new URL(path, 'http://x').searchParams.get('X-Own')],
    ['cookie', ({ headers }: RawServerRequest) => headers.cookie?.replace('X-Own=', '')],
  ])('sends the API key in the %s that the card declares, even if not required', async (location, read) => {
    const server = await startAgent(respondCompleted, scheme(location, 'X-Own'));
    await upstream({
      url: server.url,
      authentication: { type: 'static_apikey', token },
    }).agent.send(request);
    expect(calls(server).map(read)).toEqual(['sesame']);
    expect(calls(server)[0]?.headers['x-api-key']).toBeUndefined();
  });

  it('uses different credentials and headers for card and tasks', async () => {
    const server = await startAgent();
    await upstream({
      url: server.url,
      agent_card_authentication: { type: 'static_apikey', token: 'for-card' },
      task_authentication: { type: 'static_bearer', token: 'for-tasks' },
      agent_card_headers: [{ name: 'X-Card', value: '1' }],
      task_headers: [{ name: 'X-Task', value: '2' }],
    }).agent.send(request);
    expect(cards(server)[0]?.headers).toMatchObject({ 'x-api-key': 'for-card', 'x-card': '1' });
    expect(cards(server)[0]?.headers).not.toHaveProperty('authorization');
    expect(calls(server)[0]?.headers).toMatchObject({ authorization: 'Bearer for-tasks', 'x-task': '2' });
    expect(calls(server)[0]?.headers).not.toHaveProperty('x-card');
  });

  it.each([
    [true, 1, true],
    [undefined, 2, true],
    [false, 1, false],
  ])('authenticates card requests when use_auth_for_agent_card is %s', async (use, cardRequests, works) => {
    const server = await startServer((wireRequest, response, url) => {
      if (!isWireCard(wireRequest.path)) return respondCompleted(wireRequest, response, url);
      if (wireRequest.headers.authorization === undefined) return respondJson(response, {}, 401);
      return respondJson(response, wireCardFixture(url));
    });
    const { agent } = upstream({
      url: server.url,
      agent_card_path: '/.well-known/agent-card.json',
      authentication: { type: 'static_bearer', token },
      use_auth_for_agent_card: use,
    });
    if (works) await agent.send(request);
    else await expect(agent.send(request)).rejects.toMatchObject({ reason: 'UNAUTHENTICATED', status: 401 });
    expect(cards(server)).toHaveLength(cardRequests);
  });

  it('forwards only the client headers listed in forward_headers', async () => {
    const server = await startAgent();
    const call = { headers: { authorization: 'Bearer of-caller', 'x-trace': 't', 'x-other': 'o' } };
    await upstream({ url: server.url }).agent.send(request, call);
    await upstream({ url: server.url, forward_headers: ['X-Trace'] }).agent.send(request, call);
    const [withoutForwarding, withForwarding] = calls(server);
    expect(withoutForwarding?.headers).not.toHaveProperty('authorization');
    expect(withoutForwarding?.headers).not.toHaveProperty('x-trace');
    expect(withForwarding?.headers).toMatchObject({ 'x-trace': 't' });
    expect(withForwarding?.headers).not.toHaveProperty('authorization');
    expect(withForwarding?.headers).not.toHaveProperty('x-other');
  });
});

describe('OAuth 2 client credentials', () => {
  async function tokenServer(respond?: Respond, expires: object = {}) {
    let issued = 0;
    return startServer((wireRequest, response, url) =>
      respond
        ? respond(wireRequest, response, url)
        : respondJson(response, { access_token: `t${++issued}`, token_type: 'Bearer', ...expires }),
    );
  }
  const oauth = (server: RawServer, more: object = {}): UpstreamAuthentication => ({
    type: 'oauth2_client_credentials',
    token_url: `${server.url}/token`,
    client_id: 'me',
    client_secret: 'secret',
    scope: 'talk',
    allow_loopback_token_url: true,
    ...more,
  });
  const bearers = (server: RawServer) => calls(server).map(({ headers }) => headers.authorization);

  it('requests one token and caches it', async () => {
    const [tokens, server] = [await tokenServer(), await startAgent()];
    const { agent } = upstream({ url: server.url, authentication: oauth(tokens) });
    await Promise.all([agent.send(request), agent.send(request)]);
    await agent.send(request);
    expect(bearers(server)).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t1']);
    expect(tokens.requests).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(tokens.requests[0]?.text))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'me',
      client_secret: 'secret',
      scope: 'talk',
    });
  });

  it.each([
    ['expires_in', { expires_in: 100 }, {}, 71],
    ['token_cache_duration_seconds', { expires_in: 9000 }, { token_cache_duration_seconds: 50 }, 51],
    ['the default lifetime', {}, {}, 3301],
  ])('requests a new token after %s', async (_what, expires, more, after) => {
    const clock = new ManualClock();
    const [tokens, server] = [await tokenServer(undefined, expires), await startAgent()];
    const { agent } = upstream({ url: server.url, authentication: oauth(tokens, more) }, { clock });
    await agent.send(request);
    clock.advance((after - 2) * 1000);
    await agent.send(request);
    clock.advance(2000);
    await agent.send(request);
    expect(bearers(server)).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2']);
  });

  const rejectFirstToken: Respond = (wireRequest, response, url) =>
    wireRequest.headers.authorization === 'Bearer t1'
      ? respondJson(response, {}, 401)
      : respondCompleted(wireRequest, response, url);

  it('requests a new token after 401, for sends and streams', async () => {
    const [tokens, server] = [await tokenServer(), await startAgent(rejectFirstToken)];
    const { agent } = upstream({ url: server.url, authentication: oauth(tokens) });
    expect(await collectStream(agent.stream(request))).toMatchObject([{ kind: 'task' }]);
    expect(bearers(server)).toEqual(['Bearer t1', 'Bearer t2']);
    const second = upstream({ url: server.url, authentication: oauth(await tokenServer()) });
    await second.agent.send(request);
    expect(bearers(server).slice(2)).toEqual(['Bearer t1', 'Bearer t2']);
  });

  it('retries only once after 401', async () => {
    const [tokens, server] = [
      await tokenServer(),
      await startAgent((_asked, response) => respondJson(response, {}, 401)),
    ];
    const { agent } = upstream({ url: server.url, authentication: oauth(tokens) });
    await expect(agent.send(request)).rejects.toMatchObject({ reason: 'UNAUTHENTICATED', status: 401 });
    await expect(collectStream(agent.stream(request))).rejects.toMatchObject({ status: 401 });
    expect(calls(server)).toHaveLength(4);
  });

  it('rejects with UNAUTHENTICATED and the error of the token endpoint without retry', async () => {
    const tokens = await tokenServer((_asked, response) =>
      respondJson(response, { error: 'invalid_client' }, 401),
    );
    const server = await startAgent();
    const { agent } = upstream({ url: server.url, authentication: oauth(tokens) });
    const expected = {
      reason: 'UNAUTHENTICATED',
      message: expect.stringContaining('HTTP 401: invalid_client'),
    };
    await expect(agent.send(request)).rejects.toMatchObject(expected);
    expect(tokens.requests).toHaveLength(1);
    await expect(collectStream(agent.stream(request))).rejects.toMatchObject(expected);
    expect(tokens.requests).toHaveLength(2);
    expect(calls(server)).toEqual([]);
  });

  it.each([
    ['http://tokens.example/t', true],
    ['http://127.0.0.1:1/t', false],
  ])('rejects the plaintext token URL %s', (token_url, allow_loopback_token_url) => {
    const authentication = oauth({ url: '' } as RawServer, { token_url, allow_loopback_token_url });
    expect(() => createUpstream({ name: 'it', url: 'https://agent.example', authentication })).toThrow(
      /authentication\.token_url must be https/,
    );
  });
});

describe('createUpstream redirects', () => {
  it.each([307, 308])('follows %i to other origins without credentials', async (status) => {
    const target = await startServer(respondCompleted);
    const server = await startAgent((wireRequest, response) => {
      response.writeHead(status, { location: `${target.url}${wireRequest.path}` }).end();
    });
    const { agent } = upstream({
      url: server.url,
      authentication: { type: 'static_bearer', token: 'sesame' },
      task_headers: { 'X-Secret': 's' },
    });
    await agent.send(request);
    await collectStream(agent.stream(request));
    expect(calls(target)).toHaveLength(2);
    for (const { headers, json: body } of calls(target)) {
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'a2a-version': '1.0' });
      expect(headers).not.toHaveProperty('authorization');
      expect(headers).not.toHaveProperty('x-secret');
      expect(body.params.message.parts).toEqual([{ text: 'hi' }]);
    }
  });

  it('keeps credentials within the origin and respects the redirects setting', async () => {
    const server = await startAgent((wireRequest, response, url) =>
      wireRequest.path === '/new'
        ? respondCompleted(wireRequest, response, url)
        : response.writeHead(308, { location: '/new' }).end(),
    );
    const authentication: UpstreamAuthentication = { type: 'static_bearer', token: 'sesame' };
    await upstream({ url: server.url, authentication, redirects: 'origin' }).agent.send(request);
    expect(calls(server).at(-1)?.headers.authorization).toBe('Bearer sesame');
    await expect(
      upstream({ url: server.url, redirects: 'nowhere' }).agent.send(request),
    ).rejects.toMatchObject({ status: 308 });
  });
});

describe.skipIf(!hasOpenssl())('createUpstream TLS', () => {
  const trusted = hasOpenssl() ? createAuthority('Test Authority') : undefined;
  async function secure(): Promise<string> {
    const agent = defineAgent({ name: 'Secure', description: 'Encrypted', process: () => 'hi' });
    const server = await serve(agent, { tls: { ...trusted?.server } as never });
    open.push({ close: () => server.stop(0) });
    return server.url;
  }

  it('rejects an untrusted certificate', async () => {
    const { agent } = upstream({ url: await secure() });
    await expect(agent.send(request)).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: /not trusted/,
    });
  });

  it('accepts any certificate when ssl_verify is false', async () => {
    expect(await upstream({ url: await secure(), ssl_verify: false }).agent.send(request)).toBeDefined();
  });

  it('accepts a certificate signed by ssl_ca', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'dragoman-upstream-')), 'ca.pem');
    open.push({ close: () => rm(dirname(file), { recursive: true }) });
    writeFileSync(file, trusted?.ca ?? '');
    expect(await upstream({ url: await secure(), ssl_ca: file }).agent.send(request)).toBeDefined();
  });
});

describe('createUpstream timeouts', () => {
  it('rejects with TIMEOUT after request_timeout_seconds without a response', async () => {
    const clock = new ManualClock();
    const server = await startAgent(() => {});
    const { agent } = upstream({ url: server.url, request_timeout_seconds: 7 }, { clock });
    const waiting = clock.waitForDelay((delay) => delay === 7000);
    const sent = agent.send(request);
    const failed = expect(sent).rejects.toMatchObject({ reason: 'TIMEOUT' });
    await waiting;
    clock.advance(7000);
    await failed;
  });

  it('ends a stream with TIMEOUT after total_timeout_seconds', async () => {
    const clock = new ManualClock();
    const server = await startAgent(({ json: rpc }, response) => {
      startEventStream(response).event(rpcResult(rpc.id, { task: wireTaskFixture('working') }));
    });
    const { agent } = upstream({ url: server.url, total_timeout_seconds: 9 }, { clock });
    const stream = agent.stream(request)[Symbol.asyncIterator]();
    expect(await stream.next()).toMatchObject({ value: { kind: 'task' } });
    const ended = expect(stream.next()).rejects.toMatchObject({ reason: 'TIMEOUT', message: /9 s/ });
    clock.advance(9000);
    await ended;
  });
});

describe('Upstream.health', () => {
  it('reports state, time of change and error of the last check', async () => {
    const clock = new ManualClock();
    let isUp = true;
    const server = await startServer((_asked, response, url) =>
      isUp
        ? respondJson(response, wireCardFixture(url))
        : respondJson(response, {}, 503, { 'retry-after': '3600' }),
    );
    const checked = upstream({ url: server.url }, { clock });
    expect(checked.health.state).toBe('unknown');
    await checked.check();
    expect(checked.health).toEqual({ state: 'up', since: clock.now() });
    isUp = false;
    clock.advance(1000);
    await expect(checked.check()).rejects.toMatchObject({ status: 503 });
    expect(checked.health).toMatchObject({ state: 'down', since: clock.now(), error: { status: 503 } });
    // The cached card stays available.
    expect(await checked.agent.card()).toMatchObject({ name: wireCardFixture(server.url).name });
  });
});
