import dns from 'node:dns';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  bearer,
  type ConnectOptions,
  connect,
  createEndpointCache,
  type ClientWarning,
} from '../../../src/client/index.ts';
import { type EgressOptions, egressPolicy } from '../../../src/egress/index.ts';
import { type RawServerRequest, respondJson, startRawServer } from '../../support/http/raw-server.ts';
import {
  wireCardFixture,
  isWireCard,
  rpcResult,
  wireTaskFixture,
} from '../../support/http/wire-fixtures-1_0.ts';

const request = { message: { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] } };
const denied = { reason: 'PERMISSION_DENIED', hint: expect.stringContaining('`egress` option of connect()') };

const open: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  // Resolves the name in the URL of the caller to the local host.
  const real = dns.lookup;
  vi.spyOn(dns, 'lookup').mockImplementation(((
    host: string,
    options: dns.LookupOptions,
    callback: LookupCallback,
  ) =>
    host === 'agent.example.com'
      ? callback(null, options.all ? [{ address: '127.0.0.1', family: 4 }] : '127.0.0.1', 4)
      : real(host, options, callback as never)) as never);
});
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
  vi.restoreAllMocks();
});
type LookupCallback = (error: Error | null, address: string | dns.LookupAddress[], family: number) => void;

type Respond = (request: RawServerRequest, response: ServerResponse) => unknown;
const respondCompleted: Respond = ({ json }, response) =>
  respondJson(response, rpcResult(json.id, { task: wireTaskFixture('completed') }));

/** Starts a local server that counts connections. */
async function startTarget(respond: Respond, host = '127.0.0.1') {
  const requests: RawServerRequest[] = [];
  let connections = 0;
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.on('data', (chunk) => (text += chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const received = { method, path, headers, text, json: text === '' ? undefined : JSON.parse(text) };
      requests.push(received);
      respond(received, response);
    });
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  open.push(() => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())));
  return { port: (server.address() as AddressInfo).port, requests, connections: () => connections };
}

/** Connects to an agent by a public name, with a card of the test. */
async function connectWithCard(
  cardOf: (port: number) => object,
  options: ConnectOptions = {},
  respond: Respond = (_request, response) => respondJson(response, {}, 404),
) {
  const home = await startRawServer((received, response) =>
    isWireCard(received.path)
      ? respondJson(response, cardOf(Number(new URL(home.url).port)))
      : respond(received, response),
  );
  const { port } = new URL(home.url);
  const warnings: ClientWarning[] = [];
  const agent = connect(`http://agent.example.com:${port}`, {
    endpointCache: createEndpointCache(),
    random: () => 0,
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  open.push(
    () => home.close(),
    () => agent.close(),
  );
  return { agent, home, warnings };
}

/** Returns egress options that treat 127.0.0.2 as a public address, and the resolved names and connected addresses. */
function recordingEgress(addresses: readonly string[] = ['127.0.0.2'], more: EgressOptions = {}) {
  const connected: string[] = [];
  const resolved: string[] = [];
  const egress: EgressOptions = {
    allow: ['127.0.0.2'],
    resolve: (host) => {
      resolved.push(host);
      return Promise.resolve(addresses);
    },
    onConnect: (address) => connected.push(address),
    ...more,
  };
  return { egress, connected, resolved };
}

describe('card with its own origin', () => {
  it('calls the origin of the card, even if its name resolves to the local host', async () => {
    const { egress, resolved } = recordingEgress([], { deny: ['agent.example.com', '127.0.0.1'] });
    const { agent } = await connectWithCard(
      (port) => wireCardFixture(`http://agent.example.com:${port}`),
      { egress },
      respondCompleted,
    );
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect(resolved).toEqual([]);
  });

  it('does not create the egress policy, which would reject invalid options', async () => {
    const egress = { allow: ['no rule at all'] };
    const { agent } = await connectWithCard(
      (port) => wireCardFixture(`http://agent.example.com:${port}`),
      { egress },
      respondCompleted,
    );
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    const { agent: other } = await connectWithCard(() => wireCardFixture('http://other.example.com'), {
      egress,
    });
    await expect(other.send(request)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });
});

describe('card with another origin', () => {
  it.each([
    'http://127.0.0.1:#',
    'http://127.1:#',
    'http://0x7f000001:#',
    'http://2130706433:#',
    'http://0177.0.0.1:#',
    'http://localhost:#',
    'http://localhost.:#',
    'http://api.localhost:#',
    'http://0.0.0.0:#',
    'http://[::1]:#',
    'http://[::ffff:127.0.0.1]:#',
    'http://[::ffff:7f00:1]:#',
    'http://[64:ff9b::7f00:1]:#',
    'http://①②⑦.0.0.1:#',
    'http://user:pass@other.example.com:#',
    'http://10.0.0.1:#',
    'http://169.254.169.254',
    'http://metadata.google.internal',
    'http://intranet:#',
  ])('denies another origin without a connection: %s', async (to) => {
    const target = await startTarget(respondCompleted);
    const { egress, connected, resolved } = recordingEgress(undefined, { allow: [] });
    const url = to.replace('#', String(target.port));
    const { agent } = await connectWithCard(() => wireCardFixture(url), { egress });
    await expect(agent.send(request)).rejects.toMatchObject(denied);
    expect(connected).toEqual([]);
    expect(resolved).toEqual([]);
    expect(target.connections()).toBe(0);
  });

  it('denies a private address by default', async () => {
    const { agent } = await connectWithCard(() => wireCardFixture('http://10.1.2.3:8080'));
    await expect(agent.card()).rejects.toMatchObject({
      ...denied,
      hint: expect.stringContaining('allowPrivate'),
    });
  });

  it('calls an allowed origin at the checked address', async () => {
    const target = await startTarget(respondCompleted, '127.0.0.2');
    const { egress, connected, resolved } = recordingEgress();
    const { agent } = await connectWithCard(
      () => wireCardFixture(`http://other.example.com:${target.port}`),
      {
        egress,
      },
    );
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect(new Set(connected)).toEqual(new Set(['127.0.0.2']));
    expect(new Set(resolved)).toEqual(new Set(['other.example.com']));
    expect(target.requests[0]?.headers.host).toBe(`other.example.com:${target.port}`);
  });

  it('calls another origin with an existing policy or with egress: false', async () => {
    const target = await startTarget(respondCompleted);
    for (const egress of [egressPolicy({ allow: [`127.0.0.1:${target.port}`] }), false as const]) {
      const { agent } = await connectWithCard(() => wireCardFixture(`http://127.0.0.1:${target.port}`), {
        egress,
      });
      expect(await agent.send(request)).toMatchObject({ id: 't1' });
    }
  });

  it.each<[string, readonly string[]]>([
    ['a private address', ['10.0.0.1']],
    ['the local host', ['127.0.0.1']],
    ['an IPv4-mapped address of the local host', ['::ffff:127.0.0.1']],
    ['a public address and the local host', ['127.0.0.2', '127.0.0.1']],
  ])('denies a name that resolves to %s without retries', async (_what, addresses) => {
    const target = await startTarget(respondCompleted);
    const { egress, connected, resolved } = recordingEgress(addresses);
    const { agent } = await connectWithCard(
      () => wireCardFixture(`http://other.example.com:${target.port}`),
      {
        egress,
      },
    );
    await expect(agent.send(request)).rejects.toMatchObject(denied);
    expect(resolved).toEqual(['other.example.com']);
    expect(connected).toEqual([]);
    expect(target.connections()).toBe(0);
  });

  it('denies a name once it resolves to a denied address', async () => {
    const good = await startTarget((received, response) => {
      response.setHeader('connection', 'close');
      respondCompleted(received, response);
    }, '127.0.0.2');
    const resolutions = [['127.0.0.2'], ['127.0.0.1']];
    const { egress, connected } = recordingEgress(undefined, {
      resolve: () => Promise.resolve(resolutions.shift() ?? []),
    });
    const { agent } = await connectWithCard(() => wireCardFixture(`http://other.example.com:${good.port}`), {
      egress,
    });
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    await expect(agent.send(request)).rejects.toMatchObject(denied);
    expect(connected).toEqual(['127.0.0.2']);
  });

  it('uses the allowed interfaces and warns about the denied ones', async () => {
    const { agent, warnings } = await connectWithCard(
      (port) =>
        wireCardFixture('', {
          supportedInterfaces: [
            { url: 'http://10.0.0.1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
            {
              url: `http://agent.example.com:${port}/rpc`,
              protocolBinding: 'JSONRPC',
              protocolVersion: '1.0',
            },
          ],
        }),
      {},
      respondCompleted,
    );
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect(warnings).toMatchObject([{ kind: 'denied', error: denied }]);
  });

  it('calls the host of the card if the card lists the local host', async () => {
    const { agent } = await connectWithCard(
      (port) => wireCardFixture(`http://localhost:${port}`),
      {},
      respondCompleted,
    );
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect((await agent.describe()).url).toMatch(/^http:\/\/agent\.example\.com:/);
  });

  it('denies another port of the host', async () => {
    const target = await startTarget(respondCompleted);
    const otherPort = () => wireCardFixture(`http://agent.example.com:${target.port}`);
    const { egress, connected } = recordingEgress(['127.0.0.1']);
    await expect((await connectWithCard(otherPort, { egress })).agent.send(request)).rejects.toMatchObject(
      denied,
    );
    expect(connected).toEqual([]);
    expect(target.connections()).toBe(0);
  });

  it('checks only the URL with another driver', async () => {
    const urls: string[] = [];
    const recordingFetch = (url: string, init: RequestInit) => {
      urls.push(url);
      return Promise.resolve(Response.json(init.method === 'GET' ? wireCardFixture('http://10.0.0.1') : {}));
    };
    const agent = connect('https://agent.example.com', {
      fetch: recordingFetch,
      endpointCache: createEndpointCache(),
    });
    await expect(agent.send(request)).rejects.toMatchObject(denied);
    expect(urls).toEqual(['https://agent.example.com/.well-known/agent-card.json']);
  });
});

describe('URL of the caller', () => {
  it('allows other ports of the local host if it is local', async () => {
    const target = await startTarget(respondCompleted);
    for (const to of ['127.0.0.1', 'localhost', '0.0.0.0']) {
      const home = await startRawServer((_request, response) =>
        respondJson(response, wireCardFixture(`http://${to}:${target.port}`)),
      );
      const agent = connect(home.url, { endpointCache: createEndpointCache() });
      open.push(
        () => home.close(),
        () => agent.close(),
      );
      expect(await agent.send(request)).toMatchObject({ id: 't1' });
    }
  });

  it('does not allow other private addresses if it is local', async () => {
    const home = await startRawServer((_request, response) =>
      respondJson(response, wireCardFixture('http://10.0.0.1')),
    );
    const agent = connect(home.url, { endpointCache: createEndpointCache() });
    open.push(
      () => home.close(),
      () => agent.close(),
    );
    await expect(agent.send(request)).rejects.toMatchObject(denied);
  });

  it('accepts a card, or a cardPath at another origin', async () => {
    const target = await startTarget(respondCompleted);
    const card = wireCardFixture(`http://agent.example.com:${target.port}`);
    const withCard = connect(card, { endpointCache: createEndpointCache() });
    open.push(() => withCard.close());
    expect(await withCard.send(request)).toMatchObject({ id: 't1' });

    const cards = await startRawServer((_request, response) =>
      respondJson(response, wireCardFixture(`http://agent.example.com:${target.port}`)),
    );
    open.push(() => cards.close());
    const cardPath = `http://agent.example.com:${new URL(cards.url).port}/card`;
    const withPath = connect(`http://agent.example.com:${target.port}`, {
      cardPath,
      endpointCache: createEndpointCache(),
    });
    open.push(() => withPath.close());
    expect(await withPath.send(request)).toMatchObject({ id: 't1' });
  });
});

describe('card redirect', () => {
  const redirecting = (to: string, options: ConnectOptions) =>
    agentOf((_request, response) => response.writeHead(302, { location: to }).end(), options);
  async function agentOf(respond: Respond, options: ConnectOptions) {
    const home = await startRawServer(respond);
    const agent = connect(`http://agent.example.com:${new URL(home.url).port}`, {
      endpointCache: createEndpointCache(),
      ...options,
    });
    open.push(
      () => home.close(),
      () => agent.close(),
    );
    return agent;
  }

  it.each([
    'http://127.0.0.1:#/card',
    'http://localhost:#/card',
    'http://[::1]:#/card',
    '//127.0.0.1:#/card',
  ])('denies a card redirect to %s without a connection', async (to) => {
    const target = await startTarget((_request, response) =>
      respondJson(response, wireCardFixture('http://127.0.0.1')),
    );
    const { egress, connected } = recordingEgress();
    const agent = await redirecting(to.replace('#', String(target.port)), { egress });
    await expect(agent.card()).rejects.toMatchObject(denied);
    expect(connected).toEqual([]);
    expect(target.connections()).toBe(0);
  });

  it('denies a card redirect to a name that resolves to the local host', async () => {
    const target = await startTarget((_request, response) =>
      respondJson(response, wireCardFixture('http://127.0.0.1')),
    );
    const { egress, connected } = recordingEgress(['127.0.0.1']);
    const agent = await redirecting(`http://other.example.com:${target.port}/card`, { egress });
    await expect(agent.card()).rejects.toMatchObject(denied);
    expect(connected).toEqual([]);
    expect(target.connections()).toBe(0);
  });

  it('follows a card redirect to an allowed origin without credentials', async () => {
    const target = await startTarget(
      (_request, response) =>
        respondJson(response, wireCardFixture(`http://other.example.com:${target.port}`)),
      '127.0.0.2',
    );
    const { egress, connected } = recordingEgress();
    const agent = await redirecting(`http://other.example.com:${target.port}/card`, {
      egress,
      cardAuth: bearer('secret'),
      cardHeaders: { 'x-key': 'secret' },
    });
    expect(await agent.card()).toMatchObject({ name: 'Raw' });
    expect(connected).toEqual(['127.0.0.2']);
    expect(JSON.stringify(target.requests)).not.toContain('secret');
  });

  it('rejects a card redirect to another scheme than HTTP', async () => {
    const agent = await redirecting('file:///etc/passwd', {});
    await expect(agent.card()).rejects.toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
  });
});

describe('redirect of a call', () => {
  it.each(['http://127.0.0.1:#/rpc', 'http://other.example.com:#/rpc'])(
    'reports a redirect of a call to %s and does not follow it',
    async (to) => {
      const target = await startTarget(respondCompleted, '0.0.0.0');
      const { egress, connected } = recordingEgress();
      const { agent } = await connectWithCard(
        (port) => wireCardFixture(`http://agent.example.com:${port}`),
        { egress, auth: bearer('secret') },
        (_request, response) =>
          response.writeHead(307, { location: to.replace('#', String(target.port)) }).end(),
      );
      await expect(agent.send(request)).rejects.toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
      expect(connected).toEqual([]);
      expect(target.connections()).toBe(0);
    },
  );
});
