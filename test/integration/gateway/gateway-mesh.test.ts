import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway, type RunGatewayOptions } from '../../../src/gateway/run-gateway.ts';
import { connectBroker } from '../../../src/mesh/brokers/connect-broker.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import { OutageTracker } from '../../../src/protocol/outage.ts';
import { isTask, type Task } from '../../../src/protocol/task.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { mosquitto, natsServer, startMosquitto, startNats } from '../../support/mesh/broker.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { collectStream, artifactTexts, createDeferred, statesOf } from '../../support/engine/conversation.ts';
import { request0_3, MeshTestClient } from '../../support/mesh/mesh-test-client.ts';
import { httpGet } from '../../support/http/http-calls.ts';

const open = closeAfterEach();

const parse = (text: string) => readGatewayConfig(text, join(tmpdir(), 'dragoman.yaml'), {});

async function gateway(text: string, options: RunGatewayOptions = {}) {
  const running = await runGateway(parse(text), options);
  open.push({ close: () => running.stop(0) });
  return running;
}

async function startAgent(agent = sampleAgent()): Promise<string> {
  const server = await serve(agent);
  open.push({ close: () => server.stop(0) });
  return server.url;
}

function at(url: string) {
  const agent = connect(url, { endpointCache: createEndpointCache() });
  open.push(agent);
  return agent;
}

const request = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }] },
});

describe('runGateway with a mesh', () => {
  it('counts requests and responses above the size limit of the mesh', async () => {
    const large = 'x'.repeat(10_000_000);
    const url = await startAgent(
      defineAgent({
        name: 'Large',
        description: 'Answers with a large text',
        process: () => large,
      }),
    );
    const running = await gateway(`
listen: 0
mesh: { url: "memory:gateway-limits", namespace: test }
agents:
  Large: { url: "${url}", expose: [http, mesh] }
`);
    const broker = await connectBroker('memory:gateway-limits');
    open.push(broker);
    const client = await MeshTestClient.join(broker, 'test');
    await client.send('Large', 'a', request0_3('a', large, { method: 'message/send' }));
    expect((await client.waitForResponse('a')).body.error.message).toContain('too large');
    await client.send('Large', 'b', request0_3('b', 'hi', { method: 'message/send' }));
    expect((await client.waitForResponse('b')).body.error.message).toContain('exceeds the size limit');
    const { text } = await httpGet(`${running.url}/metrics`);
    for (const limit of ['meshRequest', 'meshResponse'])
      expect(text).toContain(`dragoman_limits_hit_total{limit="${limit}"} 1\n`);
  });

  it.each([
    ['memory', true, () => Promise.resolve({ url: 'memory:gateway-test', remove: () => Promise.resolve() })],
    ['Mosquitto', mosquitto !== undefined, startMosquitto],
    ['NATS', natsServer !== undefined, startNats],
  ] as const)(
    'exposes a remote agent on the mesh and a mesh agent over HTTP (%s)',
    async (name, isAvailable, start) => {
      if (!isAvailable) return console.log(`skipped: ${name} is not installed`);
      const broker = await start();
      open.push({ close: () => broker.remove() });
      const running = await gateway(`
listen: 0
mesh: { url: "${broker.url}", namespace: test/gateway, card_interval_seconds: 1 }
agents:
  Sample: { url: "${await startAgent()}", expose: [mesh] }
  back: { mesh: Sample }
`);
      expect(await httpGet(`${running.url}/agents/Sample`)).toMatchObject({ status: 404 });
      const agent = at(`${running.url}/agents/back`);
      const task = await agent.send(request('hello'));
      if (!isTask(task)) throw new Error('no task');
      expect(task.status.state).toBe('completed');
      expect(JSON.stringify(task)).toContain('hello');
      expect(statesOf(await collectStream(agent.stream(request('stream')))).at(-1)).toBe('completed');
    },
  );

  it('stores files in the mesh session even if the upstream uses another context', async () => {
    const agent = defineAgent({
      name: 'Files',
      description: 'Makes a file',
      async *process() {
        const parts = [{ raw: btoa('picture'), filename: 'a.png', mediaType: 'image/png' }];
        yield { artifact: { artifactId: 'a', name: 'a', parts } };
      },
    });
    await gateway(`
mesh: { url: "memory:gateway-session", namespace: test, card_interval_seconds: 0 }
artifacts: { type: memory }
agents:
  Files: { url: "${await startAgent(agent)}", expose: [mesh] }
`);
    const broker = await connectBroker('memory:gateway-session');
    open.push(broker);
    const client = await MeshTestClient.join(broker, 'test');
    // A delegating agent passes its session id and requests a run without history.
    const message = { metadata: { sessionBehavior: 'RUN_BASED' } };
    for (const method of ['message/stream', 'message/send']) {
      const id = `t-${method.slice('message/'.length)}`;
      await client.send(
        'Files',
        id,
        request0_3(id, 'go', { method, contextId: `session-of-${id}`, message }),
      );
      const { body } = await client.waitForResponse(id);
      expect(body.result.artifacts[0].parts[0].file.uri).toMatch(
        new RegExp(`^artifact://[^/]+/alice/session-of-${id}/a\\.png`),
      );
    }
  });

  it('replaces file bytes by artifact URIs on the mesh but not over HTTP', async () => {
    const agent = defineAgent({
      name: 'Files',
      description: 'Makes a file',
      async *process() {
        const parts = [{ raw: btoa('picture'), filename: 'a.png', mediaType: 'image/png' }];
        yield { artifact: { artifactId: 'a', name: 'a', parts } };
      },
    });
    const running = await gateway(`
listen: 0
mesh: { url: "memory:gateway-files", namespace: test, card_interval_seconds: 1 }
artifacts: { type: memory }
agents:
  Files: { url: "${await startAgent(agent)}" }
  back: { mesh: Files }
`);
    const viaMesh = (await at(`${running.url}/agents/back`).send(request('go'))) as Task;
    expect(viaMesh.artifacts?.[0]?.parts[0]).toMatchObject({
      url: expect.stringMatching(/^artifact:\/\/.*\/a\.png\?version=0$/),
    });
    // HTTP clients could not resolve an artifact URI.
    const direct = (await at(`${running.url}/agents/Files`).send(request('go'))) as Task;
    expect(direct.artifacts?.[0]?.parts[0]).toMatchObject({ raw: btoa('picture') });
  });
});

describe('RunningGateway.reload', () => {
  it('adds, removes and replaces agents while running requests finish', async () => {
    const held = createDeferred();
    const entered = createDeferred();
    const slow = defineAgent({
      name: 'Slow',
      description: 'Waits',
      async *process() {
        yield 'one ';
        entered.resolve();
        await held.promise;
        yield 'two';
      },
    });
    const [one, two] = [await startAgent(slow), await startAgent()];
    const running = await gateway(`listen: 0\nagents:\n  a: { url: "${one}" }\n  b: { url: "${two}" }\n`);
    const events = collectStream(at(`${running.url}/agents/a`).stream(request('go')));
    await entered.promise;
    const stays = at(`${running.url}/agents/b`);
    await stays.send(request('hello'));
    const changes = await running.reload(
      parse(`listen: 0\nagents:\n  a: { url: "${two}" }\n  b: { url: "${two}" }\n  c: { url: "${two}" }\n`),
    );
    expect(changes).toEqual({ added: ['c'], removed: [], changed: ['a'], needsRestart: [] });
    const after = (await at(`${running.url}/agents/a`).send(request('hello'))) as Task;
    expect(artifactTexts(after).join('')).toContain('hello');
    held.resolve();
    const last = (await events).at(-1);
    expect(last).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    expect(
      await running.reload(
        parse(`listen: 1\npublic_url: https://p.example\nagents:\n  b: { url: "${two}" }\n`),
      ),
    ).toEqual({ added: [], removed: ['a', 'c'], changed: [], needsRestart: ['listen'] });
    expect((await httpGet(`${running.url}/agents/a`)).status).toBe(404);
    const { json: card } = await httpGet(`${running.url}/agents/b/.well-known/agent-card.json`);
    expect(card.url).toBe('https://p.example/agents/b');
    await stays.send(request('hello'));
  });

  it('keeps the previous agents when an agent cannot be started', async () => {
    const url = await startAgent();
    const running = await gateway(
      `listen: 0\nmesh: { url: "memory:gateway-reload", namespace: test }\nagents:\n  a: { url: "${url}" }\n`,
    );
    const broken = `listen: 0\nmesh: { url: "memory:gateway-reload", namespace: test }\nagents:\n  a: { url: "${url}/x" }\n  b: { module: ./none.js }\n`;
    await expect(running.reload(parse(broken))).rejects.toMatchObject({ message: /none\.js/ });
    expect((await httpGet(`${running.url}/agents`)).json.agents).toHaveLength(1);
    expect(await at(`${running.url}/agents/a`).send(request('hello'))).toBeDefined();
  });

  it('exposes agents loaded from modules', async () => {
    const running = await gateway('listen: 0\nagents:\n  a: { module: ./a.js, display_name: Mine }\n', {
      loadModule: () => Promise.resolve(sampleAgent()),
    });
    const { json: card } = await httpGet(`${running.url}/agents/a/.well-known/agent-card.json`);
    expect(card.name).toBe('Mine');
    expect(await at(`${running.url}/agents/a`).send(request('hello'))).toBeDefined();
  });

  it('reports agents whose task store cannot be written at /readyz and /agents', async () => {
    const tracker = new OutageTracker();
    const running = await gateway('listen: 0\nagents:\n  a: { module: ./a.js }\n  b: { module: ./b.js }\n', {
      loadModule: (file) => {
        const agent = sampleAgent();
        return Promise.resolve(file.includes('a.js') ? { ...agent, outage: () => tracker.current } : agent);
      },
    });
    const readiness = async () => {
      const { status, json } = await httpGet(`${running.url}/readyz`);
      return [status, json];
    };
    tracker.begin(new A2AError('UNAVAILABLE', 'The task store is not available'));
    expect(await readiness()).toEqual([200, { status: 'degraded', agents: { a: 'down', b: 'up' } }]);
    expect((await httpGet(`${running.url}/agents`)).json.agents).toMatchObject([
      { name: 'a', health: 'down' },
      { name: 'b', health: 'up' },
    ]);
    await running.reload(parse('listen: 0\nagents:\n  a: { module: ./a.js }\n'));
    expect(await readiness()).toEqual([503, { status: 'unavailable', agents: { a: 'down' } }]);
    tracker.end();
    expect(await readiness()).toEqual([200, { status: 'ready', agents: { a: 'up' } }]);
  });
});
