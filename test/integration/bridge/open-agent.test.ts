import { describe, expect, it } from 'vitest';
import { bridge } from '../../../src/bridge/bridge.ts';
import { readBridgeConfig } from '../../../src/bridge/bridge-config.ts';
import { openAgent, type OpenedAgent } from '../../../src/bridge/open-agent.ts';
import { closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { type RawServer, respondJson, startRawServer } from '../../support/http/raw-server.ts';

const skill = { id: 's', name: 'S', description: 'Does it.', tags: [] };

/** Starts an agent without a task that answers every message, with a card of these fields. */
async function startAgent(card: object): Promise<RawServer> {
  const server = await startRawServer((request, response, url) => {
    if (request.method === 'GET') {
      const wire = { name: 'A', description: '', version: '1', url, capabilities: {}, skills: [skill] };
      return respondJson(response, { ...wire, defaultInputModes: [], defaultOutputModes: [], ...card });
    }
    const parts = [{ kind: 'text', text: 'done' }];
    const result = { kind: 'message', role: 'agent', messageId: 'm', parts };
    respondJson(response, { jsonrpc: '2.0', id: request.json.id, result });
  });
  closeAfterTest(() => server.close());
  return server;
}

function open(url: string, lines = '', logged: string[] = []): OpenedAgent {
  const [config] = readBridgeConfig(`agent_name: a\na2a_server_url: ${url}\n${lines}`, 'bridge.yaml', {});
  if (!config) throw new Error('no agent');
  const opened = openAgent(config, { supervise: { log: ({ message }) => logged.push(message) } });
  closeAfterTest(() => opened.close());
  return opened;
}

describe('openAgent without a command', () => {
  it('requests the card once and rejects immediately', async () => {
    const server = await startRawServer((_request, response) => respondJson(response, {}, 503));
    closeAfterTest(() => server.close());
    const opened = open(server.url);
    await expect(bridge({ ...opened.bridge })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringMatching(`^The agent at ${server.url} is not available: `),
    });
    expect(server.requests.map(({ path }) => path)).toEqual(['/.well-known/agent-card.json']);
    await expect(opened.supervised.whenReady()).rejects.toThrow('is not available');
    expect(server.requests).toHaveLength(2);
  });

  it('calls the agent as soon as it responds', async () => {
    let isUp = false;
    const agent = await startAgent({ protocolVersion: '0.3.0' });
    const proxy = await startRawServer(async (request, response) => {
      if (!isUp) return respondJson(response, {}, 503);
      const body = request.method === 'GET' ? {} : { body: request.text };
      const forwarded = await fetch(agent.url + request.path, { method: request.method, ...body });
      const card = (await forwarded.json()) as object;
      respondJson(response, 'url' in card ? { ...card, url: proxy.url } : card);
    });
    closeAfterTest(() => proxy.close());
    const opened = open(proxy.url);
    await expect(opened.bridge.agent.card()).rejects.toThrow('is not available');
    isUp = true;
    const actions = await bridge({ ...opened.bridge });
    closeAfterTest(() => actions.close());
    expect(await actions.invoke('a/s', { prompt: 'x' })).toMatchObject({ success: true, message: 'done' });
  });
});

describe('bearer token of a bridge', () => {
  const invoke = async (card: object, lines: string, logged: string[] = []) => {
    const server = await startAgent(card);
    const opened = open(server.url, `a2a_bearer_token: secret\n${lines}`, logged);
    const actions = await bridge({ ...opened.bridge });
    closeAfterTest(() => actions.close());
    await actions.invoke('a/s', { prompt: 'x' });
    await actions.invoke('a/s', { prompt: 'y' });
    return new Set(
      server.requests.filter(({ method }) => method === 'POST').map(({ headers }) => headers.authorization),
    );
  };
  const v0_3 = { protocolVersion: '0.3.0' };

  it.each([
    ['an HTTP bearer scheme', { ...v0_3, securitySchemes: { b: { type: 'http', scheme: 'Bearer' } } }],
    ['an OAuth 2 scheme', { ...v0_3, securitySchemes: { o: { type: 'oauth2', flows: {} } } }],
    [
      'an OpenID Connect scheme',
      { ...v0_3, securitySchemes: { o: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example' } } },
    ],
    ['bearer authentication in 0.1', { authentication: { schemes: ['Bearer'] } }],
  ])('is sent to a card that lists %s', async (_what, card) => {
    expect(await invoke(card, '')).toEqual(new Set(['Bearer secret']));
  });

  it.each([
    ['no scheme', v0_3],
    ['HTTP basic only', { ...v0_3, securitySchemes: { b: { type: 'http', scheme: 'basic' } } }],
    ['an API key only', { ...v0_3, securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'x' } } }],
  ])(
    'is withheld, with one warning, from a card that lists %s, unless a2a_bearer_always is set',
    async (_what, card) => {
      const logged: string[] = [];
      expect(await invoke(card, '', logged)).toEqual(new Set([undefined]));
      expect(logged.filter((message) => message.startsWith('The token of a is not sent'))).toHaveLength(1);
      expect(await invoke(card, 'a2a_bearer_always: true')).toEqual(new Set(['Bearer secret']));
    },
  );
});
