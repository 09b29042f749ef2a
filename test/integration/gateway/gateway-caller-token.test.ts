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
import { closeAfterEach } from '../../support/close-after-each.ts';
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
    await expect(at('forwards', 'bob-token').send('x')).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
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

  it('is needed for an exchange, and must be accepted there', async () => {
    const endpoint = await startTokenExchange({ 'alice-token': 'alice' }, open);
    const url = await startUpstream(endpoint.subjectOf);
    const { at } = await startGateway(`  weather:
    url: "${url}"
    authentication: { type: token_exchange, token_url: "${endpoint.url}", allow_loopback_token_url: true, client_id: gateway, client_secret: gateway-secret, audience: weather }
`);
    const carol = at('weather', '', { auth: { headers: () => ({ 'x-api-key': 'carol-key' }) } });
    await expect(carol.send('x')).rejects.toMatchObject({ reason: 'PERMISSION_DENIED' });
    expect(endpoint.forms).toHaveLength(0);
    await expect(at('weather', 'bob-token').send('x')).rejects.toMatchObject({
      reason: 'INTERNAL_ERROR',
      message: expect.not.stringContaining(endpoint.url),
    });
  });
});
