import { writeFileSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { type RunningGateway, runGateway, type RunGatewayOptions } from '../../../src/gateway/run-gateway.ts';
import { isTask } from '../../../src/protocol/task.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { verifyCard } from '../../../src/signing/verify-card.ts';
import { type Started, start03, start13 } from '../../interop/official-servers.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { collectStream, artifactTexts, statesOf } from '../../support/engine/conversation.ts';
import { parseExposition } from '../../support/metrics/exposition.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';
import { createKeyPair } from '../../support/signing/signed-card.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';

const open = closeAfterEach();

function parse(text: string) {
  return readGatewayConfig(text, join(tmpdir(), 'dragoman.yaml'), {});
}

async function gateway(
  text: string,
  options: RunGatewayOptions = {},
): Promise<RunningGateway & { url: string }> {
  const running = await runGateway(parse(`listen: 0\n${text}`), options);
  open.push({ close: () => running.stop(0) });
  return running as RunningGateway & { url: string };
}

const request = (text: string, taskId?: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }], taskId },
});

/** Starts an agent that supports only A2A 0.1. */
function start01(): Promise<Started> {
  return startRawServer(({ method, path, json: rpc }, response, url) => {
    if (method === 'GET') {
      if (path !== '/.well-known/agent.json') return respondJson(response, {}, 404);
      const skills = [{ id: 'echo', name: 'Echo', description: 'Says it back', tags: [] }];
      const authentication = { schemes: [] };
      return respondJson(response, {
        name: 'Oldest',
        url,
        version: '1',
        capabilities: {},
        authentication,
        skills,
      });
    }
    if (rpc.method !== 'tasks/send')
      return respondJson(response, { jsonrpc: '2.0', id: rpc.id, error: { code: -32601, message: 'no' } });
    const { id, sessionId, message } = rpc.params;
    const artifacts = [{ index: 0, parts: [{ type: 'text', text: `You said: ${message.parts[0].text}` }] }];
    const result = { id, sessionId, status: { state: 'completed' }, artifacts };
    respondJson(response, { jsonrpc: '2.0', id: rpc.id, result });
  });
}

describe('runGateway', () => {
  const upstreams: { [name: string]: Started } = {};
  let running: RunningGateway & { url: string };

  beforeAll(async () => {
    const local = sampleAgent();
    const own = await serve(local);
    upstreams.own = { url: own.url, close: () => own.stop(0) };
    upstreams['sdk-0.3'] = await start03();
    upstreams['sdk-1.3'] = await start13();
    upstreams.v0_1 = await start01();
    const agents = Object.entries(upstreams).map(([name, { url }]) => `  ${name}: { url: "${url}/" }\n`);
    running = (await runGateway(parse(`listen: 0\nagents:\n${agents.join('')}`))) as typeof running;
  });
  afterAll(async () => {
    await running.stop(0);
    for (const each of Object.values(upstreams)) await each.close();
  });

  const names = ['own', 'sdk-0.3', 'sdk-1.3', 'v0_1'];
  const versions = (['1.0', '0.3', '0.1'] as const).flatMap((version) =>
    names.map((name) => [version, name] as const),
  );
  it.each(versions)('translates sends and streams of a %s client to agent %s', async (version, name) => {
    const url = `${running.url}/agents/${name}`;
    const agent = connect(url, { versions: [version], endpointCache: createEndpointCache() });
    open.push(agent);
    const task = await agent.send(request('hello'));
    if (!isTask(task)) throw new Error('no task');
    expect(task.status.state).toBe('completed');
    expect(JSON.stringify(task)).toContain('hello');
    const events = await collectStream(agent.stream(request('hello again')));
    expect(statesOf(events).at(-1)).toBe('completed');
    expect(JSON.stringify(events)).toContain('hello again');
    expect(await agent.describe()).toMatchObject({ url, version });
  });

  const multiTurn = ['own', 'sdk-0.3', 'sdk-1.3'];
  it.each(multiTurn)('continues an input-required task over REST with agent %s', async (name) => {
    const url = `${running.url}/agents/${name}`;
    const agent = connect(url, { transports: ['HTTP+JSON'], endpointCache: createEndpointCache() });
    open.push(agent);
    const task = await agent.send(request('ask'));
    if (!isTask(task)) throw new Error('no task');
    expect(task.status.state).toBe('input-required');
    const done = await agent.send(request('that', task.id));
    expect(done).toMatchObject({ id: task.id, status: { state: 'completed' } });
  });

  it.each(multiTurn)('cancels a working task of agent %s', async (name) => {
    const agent = connect(`${running.url}/agents/${name}`, { endpointCache: createEndpointCache() });
    open.push(agent);
    const states: string[] = [];
    let isCanceled = false;
    for await (const event of agent.stream(request('slow'))) {
      if (event.kind === 'task') states.push(event.task.status.state);
      if (event.kind === 'status') states.push(event.status.state);
      const id = event.kind === 'task' ? event.task.id : event.kind === 'status' ? event.taskId : undefined;
      if (id === undefined || isCanceled || states.at(-1) !== 'working') continue;
      isCanceled = true;
      await agent.cancelTask({ id });
    }
    expect(states.at(-1)).toBe('canceled');
  });

  it('lists agents with URL, card and health at /agents', async () => {
    const { json: listing } = await httpGet(`${running.url}/agents`);
    expect(listing.agents.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(listing.agents[1]).toMatchObject({
      url: `${running.url}/agents/sdk-0.3`,
      card: `${running.url}/agents/sdk-0.3/.well-known/agent-card.json`,
      health: 'up',
      since: expect.any(String),
    });
    expect(await httpGet(`${running.url}/readyz`)).toMatchObject({
      status: 200,
      json: { status: 'ready', agents: { own: 'up' } },
    });
    expect(await httpGet(`${running.url}/healthz`)).toMatchObject({ status: 200 });
  });

  it('serves the same agents as a catalog, which may be cached like a card', async () => {
    const url = `${running.url}/.well-known/ai-catalog.json`;
    const { status, headers, json } = await httpGet(url);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/ai-catalog+json');
    const card = await httpGet(`${running.url}/agents/own/.well-known/agent-card.json`);
    expect(headers.get('cache-control')).toBe(card.headers.get('cache-control'));
    expect(headers.get('vary')).toBe('Host');
    expect(json.entries.map((each: { displayName: string }) => each.displayName)).toEqual(names);
    expect(json.entries[1]).toEqual({
      identifier: `urn:air:${new URL(running.url).hostname}:agent:sdk-0.3`,
      type: 'application/a2a-agent-card+json',
      displayName: 'sdk-0.3',
      url: `${running.url}/agents/sdk-0.3/.well-known/agent-card.json`,
    });
    const etag = headers.get('etag') ?? '';
    expect(await httpGet(url, { 'if-none-match': etag })).toMatchObject({ status: 304, text: '' });
    expect((await httpGet(url, { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await httpPost(url, {})).status).toBe(405);
  });

  it('is connected to by the name of an agent in its catalog', async () => {
    const agent = connect(`${running.url}#sdk-1.3`, { endpointCache: createEndpointCache() });
    open.push(agent);
    expect(await agent.describe()).toMatchObject({ url: `${running.url}/agents/sdk-1.3` });
    const several = connect(running.url, { endpointCache: createEndpointCache() });
    open.push(several);
    await expect(several.card()).rejects.toThrow(/lists 4 agents: own \(http/);
  });

  it('responds 404 to unknown agents and 405 to POST /agents', async () => {
    for (const path of ['/agents/none', '/agents/ow', '/agents/own2/x', '/', '/.well-known/agent-card.json'])
      expect(await httpGet(running.url + path)).toMatchObject({
        status: 404,
        json: { error: { code: 404 } },
      });
    expect((await httpPost(`${running.url}/agents`, {})).status).toBe(405);
    expect((await httpGet(`${running.url}/agents/own/nothing`)).status).toBe(404);
  });

  it('counts upstream requests by outcome at /metrics', async () => {
    const agent = connect(`${running.url}/agents/own`, { endpointCache: createEndpointCache() });
    open.push(agent);
    await expect(agent.getTask({ id: 'none' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    const { samples } = parseExposition((await httpGet(`${running.url}/metrics`)).text);
    const outcomes = samples
      .filter(({ name, labels }) => name === 'dragoman_upstream_requests_total' && labels.upstream === 'own')
      .map(({ labels }) => `${labels.operation} ${labels.outcome}`);
    expect(outcomes).toContain('send ok');
    expect(outcomes).toContain('getTask rpc');
    expect(samples).toContainEqual({ name: 'dragoman_upstream_up', labels: { upstream: 'own' }, value: 1 });
    expect((await httpGet(`${running.url}/agents/own/metrics`)).status).toBe(404);
  });
});

describe('gateway agent card', () => {
  const upstreamCard = (url: string) => ({
    name: 'Inner',
    description: 'Within',
    version: '7',
    protocolVersion: '0.3.0',
    url: `${url}/internal/rpc/`,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url: `${url}/internal/rest`, transport: 'HTTP+JSON' }],
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Inner' } },
    security: [{ key: [] }],
    signatures: [{ protected: 'eyJhbGciOiJFUzI1NiJ9', signature: 'AAAA' }],
    skills: [{ id: 's', name: 'S', description: 'S', tags: [] }],
  });
  async function behind(more: string, own = '') {
    const inner = await startRawServer(({ method }, response, url) =>
      method === 'GET' ? respondJson(response, upstreamCard(url)) : respondJson(response, {}, 500),
    );
    open.push(inner);
    const outer = await gateway(`${more}\nagents:\n  in.ner-1:\n    url: ${inner.url}/\n${own}`);
    return { inner, outer, card: `${outer.url}/agents/in.ner-1/.well-known/agent-card.json` };
  }

  it.each([
    ['', undefined],
    ['public_url: https://agents.example', 'https://agents.example'],
    ['public_url: https://agents.example/', 'https://agents.example'],
    ['public_url: https://agents.example/gw', 'https://agents.example/gw'],
    ['public_url: https://agents.example/gw//', 'https://agents.example/gw'],
  ])('contains only the public URL in every version (%s)', async (more, base) => {
    const { inner, outer, card } = await behind(more);
    const url = `${base ?? outer.url}/agents/in.ner-1`;
    for (const version of ['1.0', '0.3', '0.1']) {
      const { text, json: served } = await httpGet(card, { 'a2a-version': version });
      expect(text).not.toContain(inner.url);
      expect(text).not.toContain('internal');
      const interfaces = [...(served.additionalInterfaces ?? []), ...(served.supportedInterfaces ?? [])] as {
        url: string;
        protocolBinding?: string;
        tenant?: string;
      }[];
      const [grpc, others] = [true, false].map((isGrpc) =>
        interfaces.filter(({ protocolBinding }) => (protocolBinding === 'GRPC') === isGrpc),
      );
      const addresses = [served.url, ...(others ?? []).map((each) => each.url)].filter(Boolean);
      expect(addresses.length).toBeGreaterThan(0);
      expect(new Set(addresses)).toEqual(new Set([url]));
      const { host, port, pathname } = new URL(base ?? outer.url ?? '');
      // Calls of gRPC have paths of their own, so that they cannot be below another path.
      const isListed = 'supportedInterfaces' in served && pathname === '/';
      expect(grpc).toMatchObject(
        isListed ? [{ url: port === '' ? `${host}:443` : host, tenant: 'in.ner-1' }] : [],
      );
      expect(served).toMatchObject({ name: 'Inner' });
      expect(served).not.toHaveProperty('signatures');
      expect(served).not.toHaveProperty('securitySchemes');
      expect(served).not.toHaveProperty('security');
    }
    const { json: listing } = await httpGet(`${outer.url}/agents`);
    expect(listing.agents[0].url).toBe(url);
  });

  it('uses X-Forwarded headers only with trust_forwarded', async () => {
    const forwarded = {
      'x-forwarded-host': 'p.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-prefix': '/x',
    };
    const trusting = await behind('trust_forwarded: true');
    expect((await httpGet(trusting.card, forwarded)).json.url).toBe('https://p.example/x/agents/in.ner-1');
    const distrusting = await behind('');
    expect((await httpGet(distrusting.card, forwarded)).json.url).toBe(
      `${distrusting.outer.url}/agents/in.ner-1`,
    );
  });

  it('uses display_name and keeps security schemes when Authorization is forwarded', async () => {
    const { card } = await behind('', '    display_name: Outer\n    forward_headers: [Authorization]\n');
    const { json: served } = await httpGet(card, { 'a2a-version': '0.3' });
    expect(served).toMatchObject({ name: 'Outer', securitySchemes: { key: { name: 'X-Inner' } } });
  });

  it('is signed with the key of the gateway', async () => {
    const { privateKey, publicKey } = await createKeyPair('ES256', 'gate');
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-gateway-'));
    open.push({ close: () => rm(folder, { recursive: true }) });
    writeFileSync(join(folder, 'key.json'), JSON.stringify(privateKey));
    const { card } = await behind(
      `public_url: https://agents.example\nsign: { key_file: "${join(folder, 'key.json')}", kid: gate }`,
    );
    const { json: served } = await httpGet(card, { 'a2a-version': '1.0' });
    expect(await verifyCard(served, { keys: { gate: publicKey } })).toMatchObject({
      result: 'verified',
    });
  });
});

/** A clock that runs short delays, such as those between retries, immediately. */
class FastRetryClock extends ManualClock {
  override after(milliseconds: number, run: () => void): () => void {
    if (milliseconds > 5000) return super.after(milliseconds, run);
    const soon = setImmediate(run);
    return () => clearImmediate(soon);
  }
}

describe('failing upstream', () => {
  it('is reported by name and cause, without its URL', async () => {
    const statuses = [401, 403, 404, 503];
    let at = 0;
    const inner = await startRawServer(({ method }, response, url) =>
      method === 'GET'
        ? respondJson(response, {
            name: 'I',
            description: '',
            version: '1',
            protocolVersion: '0.3.0',
            url,
            capabilities: {},
            skills: [],
            defaultInputModes: [],
            defaultOutputModes: [],
          })
        : respondJson(response, {}, statuses[at] ?? 500),
    );
    open.push(inner);
    const outer = await gateway(`agents:\n  inner: { url: "${inner.url}" }`);
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: {
        message: { kind: 'message', role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'x' }] },
      },
    };
    const messages: string[] = [];
    for (at = 0; at < statuses.length; at++) {
      const { status, text, json: result } = await httpPost(`${outer.url}/agents/inner`, body);
      expect(text).not.toContain(inner.url);
      // The upstream rejected the credentials of the gateway, not of the client.
      expect(status).not.toBe(401);
      messages.push(result.error.message);
    }
    expect(messages[0]).toContain('The agent inner failed: credentials rejected (HTTP 401)');
    expect(messages[3]).toContain('The agent inner failed: HTTP 503');
    await inner.close();
    const gone = await httpPost(`${outer.url}/agents/inner`, body);
    expect(gone.json.error.message).toContain('The agent inner failed: connection failed (ECONNREFUSED)');
    const { samples } = parseExposition((await httpGet(`${outer.url}/metrics`)).text);
    const outcomes = samples
      .filter(
        ({ name, labels }) => name === 'dragoman_upstream_requests_total' && labels.operation === 'send',
      )
      .map(({ labels }) => labels.outcome);
    expect(new Set(outcomes)).toEqual(new Set(['auth', '4xx', '5xx', 'connection']));
  });

  it('opens the circuit breaker, which closes when the upstream recovers', async () => {
    const clock = new FastRetryClock();
    const local = sampleAgent();
    let server = await serve(local);
    const { port } = server;
    const outer = await gateway(
      `agents:\n  a: { url: "${server.url}" }\nbreaker: { failures: 2, open_seconds: 30 }\nhealth_interval_seconds: 0`,
      { clock },
    );
    const agent = connect(`${outer.url}/agents/a`, {
      endpointCache: createEndpointCache(),
      maxRetries: 0,
      versions: ['1.0'],
    });
    open.push(agent);
    await agent.send(request('hello'));
    await server.stop(0);
    for (let i = 0; i < 2; i++)
      await expect(agent.send(request('hello'))).rejects.toMatchObject({ message: /The agent a failed/ });
    await expect(agent.send(request('hello'))).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: /has been unavailable since .*Z: connection failed \(ECONNREFUSED\)/,
    });
    server = await serve(local, { port });
    open.push({ close: () => server.stop(0) });
    await expect(agent.send(request('hello'))).rejects.toMatchObject({ message: /unavailable since/ });
    clock.advance(30_000);
    expect(await agent.send(request('hello'))).toBeDefined();
  });

  it('is listed as down and makes /readyz respond 503 when all agents are down', async () => {
    const inner = await startRawServer((_asked, response) => respondJson(response, {}, 404));
    await inner.close();
    const clock = new FastRetryClock();
    let onChecked = () => {};
    const checked = new Promise<void>((resolve) => (onChecked = resolve));
    const outer = await gateway(`agents:\n  gone: { url: "${inner.url}" }`, {
      clock,
      log: ({ message }) => {
        if (message.includes('health check failed')) onChecked();
      },
    });
    await checked;
    expect(await httpGet(`${outer.url}/readyz`)).toMatchObject({
      status: 503,
      json: { status: 'unavailable', agents: { gone: 'down' } },
    });
    expect((await httpGet(`${outer.url}/agents`)).json.agents[0]).toMatchObject({ health: 'down' });
  });
});

describe('gateway clients', () => {
  it('are authenticated, see only their own tasks and keep their tokens from the upstream', async () => {
    const seen: unknown[] = [];
    const local = sampleAgent();
    const server = await serve({
      ...delegating(local),
      send: (sent, call) => {
        seen.push(call?.headers?.authorization);
        return local.send(sent, call);
      },
    });
    open.push({ close: () => server.stop(0) });
    const outer = await gateway(`agents:
  a: { url: "${server.url}" }
auth:
  bearer: [{ token: of-alice, principal: alice }, { token: of-bob, principal: bob }]`);
    const url = `${outer.url}/agents/a`;
    const as = (principal: string) => {
      const agent = connect(url, { auth: { headers: () => ({ authorization: `Bearer of-${principal}` }) } });
      open.push(agent);
      return agent;
    };
    const anonymous = connect(url);
    open.push(anonymous);
    await expect(anonymous.send(request('hello'))).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    const task = await as('alice').send(request('hello'));
    if (!isTask(task)) throw new Error('no task');
    expect(artifactTexts(task).join('')).toContain('hello');
    await expect(as('bob').getTask({ id: task.id })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect(await as('alice').getTask({ id: task.id })).toMatchObject({ id: task.id });
    expect(seen).toEqual([undefined]);
    expect((await httpGet(`${url}/.well-known/agent-card.json`)).json.securitySchemes).toHaveProperty(
      'bearer',
    );
  });
});

/** A copy of an agent whose functions can be replaced. */
function delegating(local: ReturnType<typeof sampleAgent>) {
  return {
    card: local.card.bind(local),
    extendedCard: local.extendedCard.bind(local),
    stream: local.stream.bind(local),
    getTask: local.getTask.bind(local),
    listTasks: local.listTasks.bind(local),
    cancelTask: local.cancelTask.bind(local),
    subscribe: local.subscribe.bind(local),
    createPushConfig: local.createPushConfig.bind(local),
    getPushConfig: local.getPushConfig.bind(local),
    listPushConfigs: local.listPushConfigs.bind(local),
    deletePushConfig: local.deletePushConfig.bind(local),
  };
}
