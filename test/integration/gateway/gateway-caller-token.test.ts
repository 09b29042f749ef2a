/** Tokens of callers towards upstreams: forwarded, or exchanged at a real token endpoint. */
import { describe, expect, it } from 'vitest';
import { bearer, connect, type ConnectOptions } from '../../../src/client/index.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway, type RunGatewayOptions } from '../../../src/gateway/run-gateway.ts';
import { TrafficLog } from '../../../src/tap/traffic-log.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { serve } from '../../../src/server/node/serve.ts';
import type { LogEntry } from '../../../src/primitives/log.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { collectStream } from '../../support/collect-stream.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { startTokenExchange } from '../../support/gateway/token-exchange-server.ts';

const open = closeAfterEach();

/** Starts an agent that tells which principal and token called it. */
async function startUpstream(principalOf: (token: string) => string | undefined): Promise<string> {
  const agent = defineAgent({
    name: 'Up',
    description: 'Names its caller',
    process: ({ call }) =>
      `${call.principal?.id} ${'callerToken' in call && call.callerToken ? 'token' : ''}`.trim(),
  });
  const server = await serve(agent, { auth: { authenticators: [bearerAuth({ tokens: principalOf })] } });
  open.push({ close: () => server.stop(0) });
  return server.url;
}

async function startGateway(agents: string, options: RunGatewayOptions = {}) {
  const text = `listen: 0
auth:
  bearer: [{ token: alice-token, principal: alice }, { token: bob-token, principal: bob }]
  api_keys: { keys: [{ key: carol-key, principal: carol }] }
agents:
${agents}`;
  const running = await runGateway(readGatewayConfig(text, 'gateway.yaml', {}), options);
  open.push({ close: () => running.stop(0) });
  const at = (agent: string, token: string, connectOptions: ConnectOptions = {}) => {
    const remote = connect(`${running.url}/agents/${agent}`, {
      endpointCache: createEndpointCache(),
      auth: bearer(token),
      ...connectOptions,
    });
    open.push({ close: () => remote.close() });
    return remote;
  };
  return { running, at };
}

const answer = (text: string) => ({ artifacts: [{ parts: [{ text }] }] });

describe('token of the caller', () => {
  it('is forwarded only to agents for which it is configured', async () => {
    const seen: string[] = [];
    const url = await startUpstream((token) => {
      seen.push(token);
      return token === 'alice-token' ? 'alice' : token === 'static' ? 'gateway' : undefined;
    });
    const { at } = await startGateway(`  forwards: { url: "${url}", authentication: { type: forward_token } }
  static: { url: "${url}", authentication: { type: static_bearer, token: static } }
  none: { url: "${url}" }
`);
    for (const transport of ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)
      expect(await at('forwards', 'alice-token', { transports: [transport] }).send('x')).toMatchObject(
        answer('alice'),
      );
    expect(await at('static', 'alice-token').send('x')).toMatchObject(answer('gateway'));
    // The agent rejects the token of the caller, who may have a better one.
    await expect(at('forwards', 'bob-token').send('x')).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
      message: 'The agent forwards rejected your credentials',
    });
    seen.length = 0;
    await expect(at('none', 'alice-token').send('x')).rejects.toMatchObject({ reason: 'INTERNAL_ERROR' });
    expect(seen).toEqual([]);
  });

  it('is exchanged once per caller until the new token expires or is rejected', async () => {
    const endpoint = await startTokenExchange({ 'alice-token': 'alice', 'bob-token': 'bob' }, open);
    const url = await startUpstream(endpoint.subjectOf);
    const clock = new ManualClock();
    const trafficLog = new TrafficLog();
    const { at } = await startGateway(
      `  weather:
    url: "${url}"
    authentication:
      type: token_exchange
      token_url: "${endpoint.url}"
      allow_loopback_token_url: true
      client_id: gateway
      client_secret: gateway-secret
      audience: weather
      scope: talk
      actor_token: gateway-actor
`,
      { clock, trafficLog },
    );
    const alice = at('weather', 'alice-token');
    await Promise.all([alice.send('1'), alice.send('2')]);
    expect(await alice.send('3')).toMatchObject(answer('alice'));
    expect(await at('weather', 'bob-token', { transports: ['GRPC'] }).send('x')).toMatchObject(answer('bob'));
    expect(endpoint.forms.map((form) => form.get('subject_token'))).toEqual(['alice-token', 'bob-token']);
    expect(Object.fromEntries(endpoint.forms[0] ?? [])).toMatchObject({
      scope: 'talk',
      actor_token: 'gateway-actor',
      actor_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    });
    endpoint.revokeAll();
    expect(await alice.send('after a 401 response')).toMatchObject(answer('alice'));
    expect(endpoint.forms).toHaveLength(3);
    clock.advance(119_000);
    await alice.send('after the expiry');
    expect(endpoint.forms).toHaveLength(4);
    const recorded = JSON.stringify(trafficLog.recordsAfter());
    for (const secret of ['alice-token', 'gateway-secret', 'gateway-actor', 'exchanged-'])
      expect(recorded).not.toContain(secret);
  });

  it('is needed for an exchange', async () => {
    const { endpoint, at } = await startExchange();
    const carol = at('weather', '', { auth: { headers: () => ({ 'x-api-key': 'carol-key' }) } });
    await expect(carol.send('x')).rejects.toMatchObject({ reason: 'PERMISSION_DENIED' });
    expect(endpoint.forms).toHaveLength(0);
  });

  const bindings = [
    ['1.0', 'JSONRPC'],
    ['1.0', 'HTTP+JSON'],
    ['1.0', 'GRPC'],
    ['0.3', 'JSONRPC'],
    ['0.3', 'HTTP+JSON'],
    ['0.1', 'JSONRPC'],
  ] as const;

  it('is rejected as an authentication error if the authorization server refuses it', async () => {
    const { endpoint, at, running } = await startExchange();
    for (const [version, transport] of bindings) {
      const bob = at('weather', 'bob-token', { versions: [version], transports: [transport] });
      const refused = {
        reason: 'UNAUTHENTICATED',
        message: expect.stringContaining('The agent weather rejected your credentials'),
      };
      await expect(bob.send('x'), `${version} ${transport}`).rejects.toMatchObject(refused);
      await expect(collectStream(bob.stream('x')), `${version} ${transport}`).rejects.toMatchObject(refused);
    }
    for (const [path, body] of httpRequests) {
      const response = await post(running.url + path, body);
      expect(response.status, path).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="weather", error="invalid_token"');
      const text = await response.text();
      for (const secret of ['invalid_grant', 'secret reason', endpoint.url])
        expect(text).not.toContain(secret);
    }
  });

  it('finds an unavailable authorization server, and is asked to retry', async () => {
    const { endpoint, at, running, logs } = await startExchange();
    endpoint.respondWith({ status: 503, body: { error: 'secret reason' }, headers: { 'retry-after': '7' } });
    for (const [version, transport] of bindings) {
      const alice = at('weather', 'alice-token', {
        versions: [version],
        transports: [transport],
        maxRetries: 0,
      });
      await expect(alice.send('x'), `${version} ${transport}`).rejects.toMatchObject({
        reason: 'UNAVAILABLE',
        message: expect.stringContaining('The authorization server of the agent weather is unavailable'),
      });
    }
    for (const [path, body] of httpRequests) {
      const response = await post(running.url + path, body, 'alice-token');
      expect([response.status, response.headers.get('retry-after')], path).toEqual([503, '7']);
      expect(await response.text()).not.toContain('secret reason');
    }
    expect(logs.map(({ message }) => message)).toContain('weather: the authorization server is unavailable');
    // The upstream is up: its circuit breaker stays closed.
    endpoint.respondWith(undefined);
    expect(await at('weather', 'alice-token').send('x')).toMatchObject(answer('alice'));
    await endpoint.close();
    endpoint.revokeAll();
    await expect(at('weather', 'bob-token', { maxRetries: 0 }).send('x')).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      details: { agent: 'weather', retryAfter: '5' },
    });
  });

  it('is not blamed for the credentials of the gateway, and may lack access', async () => {
    const { endpoint, at } = await startExchange();
    endpoint.respondWith({ status: 401, body: { error: 'invalid_client' } });
    await expect(at('weather', 'alice-token').send('x')).rejects.toMatchObject({ reason: 'INTERNAL_ERROR' });
    endpoint.respondWith({ status: 400, body: { error: 'access_denied' } });
    await expect(at('weather', 'alice-token').send('x')).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
    });
  });
});

const message = { messageId: 'm', parts: [{ text: 'x' }] };
const oldMessage = { messageId: 'm', parts: [{ kind: 'text', text: 'x' }] };

/** Requests of HTTP transports and versions: path, body and version. */
const httpRequests: [string, { body: object; version?: string }][] = [
  [
    '/agents/weather',
    {
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { ...message, role: 'ROLE_USER' } },
      },
      version: '1.0',
    },
  ],
  [
    '/agents/weather',
    {
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'message/stream',
        params: { message: { ...oldMessage, kind: 'message', role: 'user' } },
      },
    },
  ],
  ['/agents/weather/message:send', { body: { message: { ...message, role: 'ROLE_USER' } }, version: '1.0' }],
  [
    '/agents/weather/v1/message:send',
    { body: { message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'x' }] } } },
  ],
];

function post(url: string, { body, version }: (typeof httpRequests)[number][1], token = 'bob-token') {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      ...(version !== undefined && { 'a2a-version': version }),
    },
    body: JSON.stringify(body),
  });
}

/** Starts a gateway that exchanges tokens; the authorization server knows Alice only. */
async function startExchange() {
  const endpoint = await startTokenExchange({ 'alice-token': 'alice' }, open);
  const url = await startUpstream(endpoint.subjectOf);
  const logs: LogEntry[] = [];
  const gateway = await startGateway(
    `  weather:
    url: "${url}"
    authentication: { type: token_exchange, token_url: "${endpoint.url}", allow_loopback_token_url: true, client_id: gateway, client_secret: gateway-secret, audience: weather }
`,
    { log: (entry) => logs.push(entry) },
  );
  return { ...gateway, endpoint, logs };
}
