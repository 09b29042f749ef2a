import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway, type RunGatewayOptions } from '../../../src/gateway/run-gateway.ts';
import { connectBroker } from '../../../src/mesh/brokers/connect-broker.ts';
import { isTask, type Task } from '../../../src/protocol/task.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { mosquitto, natsServer, startMosquitto, startNats } from '../../support/mesh/broker.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { collectStream, artifactTexts, createDeferred, statesOf } from '../../support/engine/conversation.ts';
import { request0_3, MeshTestClient } from '../../support/mesh/mesh-test-client.ts';
import { httpGet } from '../../support/http/http-calls.ts';

const open = closeAfterEach();

const settingsOf = (text: string) => readGatewayConfig(text, join(tmpdir(), 'dragoman.yaml'), {});

async function gateway(text: string, options: RunGatewayOptions = {}) {
  const running = await runGateway(settingsOf(text), options);
  open.push({ close: () => running.stop(0) });
  return running;
}

async function served(agent = sampleAgent()): Promise<string> {
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

describe('a gateway to a mesh', () => {
  it.each([
    ['memory', true, () => Promise.resolve({ url: 'memory:gateway-test', remove: () => Promise.resolve() })],
    ['Mosquitto', mosquitto !== undefined, startMosquitto],
    ['NATS', natsServer !== undefined, startNats],
  ] as const)(
    'shows an agent at a URL on it, and that one over HTTP again: %s',
    async (name, isThere, start) => {
      if (!isThere) return console.log(`skipped: there is no ${name} here`);
      const broker = await start();
      open.push({ close: () => broker.remove() });
      const running = await gateway(`
listen: 0
mesh: { url: "${broker.url}", namespace: test/gateway, card_interval_seconds: 1 }
agents:
  Sample: { url: "${await served()}", show: [mesh] }
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

  it('keeps files in the conversation of the mesh, also where the agent has another', async () => {
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
  Files: { url: "${await served(agent)}", show: [mesh] }
`);
    const link = await connectBroker('memory:gateway-session');
    open.push(link);
    const caller = await MeshTestClient.join(link, 'test');
    // An agent that delegates names its conversation and wants a run without a past.
    const message = { metadata: { sessionBehavior: 'RUN_BASED' } };
    for (const method of ['message/stream', 'message/send']) {
      const id = `t-${method.slice('message/'.length)}`;
      await caller.send(
        'Files',
        id,
        request0_3(id, 'go', { method, contextId: `session-of-${id}`, message }),
      );
      const { body } = await caller.waitForResponse(id);
      expect(body.result.artifacts[0].parts[0].file.uri).toMatch(
        new RegExp(`^artifact://[^/]+/alice/session-of-${id}/a\\.png`),
      );
    }
  });

  it('keeps files out of it', async () => {
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
  Files: { url: "${await served(agent)}" }
  back: { mesh: Files }
`);
    const viaMesh = (await at(`${running.url}/agents/back`).send(request('go'))) as Task;
    expect(viaMesh.artifacts?.[0]?.parts[0]).toMatchObject({
      url: expect.stringMatching(/^artifact:\/\/.*\/a\.png\?version=0$/),
    });
    // Who calls over HTTP could not read such a URI.
    const direct = (await at(`${running.url}/agents/Files`).send(request('go'))) as Task;
    expect(direct.artifacts?.[0]?.parts[0]).toMatchObject({ raw: btoa('picture') });
  });
});

describe('a gateway that goes over to another file', () => {
  it('adds, removes and changes agents, while running requests finish', async () => {
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
    const [one, two] = [await served(slow), await served()];
    const running = await gateway(`listen: 0\nagents:\n  a: { url: "${one}" }\n  b: { url: "${two}" }\n`);
    const events = collectStream(at(`${running.url}/agents/a`).stream(request('go')));
    await entered.promise;
    const stays = at(`${running.url}/agents/b`);
    await stays.send(request('hello'));
    const changes = await running.reload(
      settingsOf(
        `listen: 0\nagents:\n  a: { url: "${two}" }\n  b: { url: "${two}" }\n  c: { url: "${two}" }\n`,
      ),
    );
    expect(changes).toEqual({ added: ['c'], removed: [], changed: ['a'], later: [] });
    const after = (await at(`${running.url}/agents/a`).send(request('hello'))) as Task;
    expect(artifactTexts(after).join('')).toContain('hello');
    held.resolve();
    const last = (await events).at(-1);
    expect(last).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    expect(
      await running.reload(
        settingsOf(`listen: 1\npublic_url: https://p.example\nagents:\n  b: { url: "${two}" }\n`),
      ),
    ).toEqual({ added: [], removed: ['a', 'c'], changed: [], later: ['listen'] });
    expect((await httpGet(`${running.url}/agents/a`)).status).toBe(404);
    const { json: card } = await httpGet(`${running.url}/agents/b/.well-known/agent-card.json`);
    expect(card.url).toBe('https://p.example/agents/b');
    await stays.send(request('hello'));
  });

  it('stays as it was where the other cannot be run', async () => {
    const url = await served();
    const running = await gateway(
      `listen: 0\nmesh: { url: "memory:gateway-reload", namespace: test }\nagents:\n  a: { url: "${url}" }\n`,
    );
    const broken = `listen: 0\nmesh: { url: "memory:gateway-reload", namespace: test }\nagents:\n  a: { url: "${url}/x" }\n  b: { module: ./none.js }\n`;
    await expect(running.reload(settingsOf(broken))).rejects.toMatchObject({ message: /none\.js/ });
    expect((await httpGet(`${running.url}/agents`)).json.agents).toHaveLength(1);
    expect(await at(`${running.url}/agents/a`).send(request('hello'))).toBeDefined();
  });

  it('takes agents of modules', async () => {
    const running = await gateway('listen: 0\nagents:\n  a: { module: ./a.js, display_name: Mine }\n', {
      loadModule: () => Promise.resolve(sampleAgent()),
    });
    const { json: card } = await httpGet(`${running.url}/agents/a/.well-known/agent-card.json`);
    expect(card.name).toBe('Mine');
    expect(await at(`${running.url}/agents/a`).send(request('hello'))).toBeDefined();
  });
});
