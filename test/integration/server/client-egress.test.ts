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
const refused = { reason: 'PERMISSION_DENIED', hint: expect.stringContaining('`egress` of connect()') };

const open: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  // The system's own resolver takes the name that the user types for this machine.
  const real = dns.lookup;
  vi.spyOn(dns, 'lookup').mockImplementation(((host: string, options: dns.LookupOptions, done: Done) =>
    host === 'agent.example.com'
      ? done(null, options.all ? [{ address: '127.0.0.1', family: 4 }] : '127.0.0.1', 4)
      : real(host, options, done as never)) as never);
});
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
  vi.restoreAllMocks();
});
type Done = (error: Error | null, address: string | dns.LookupAddress[], family: number) => void;

type Answer = (asked: RawServerRequest, response: ServerResponse) => unknown;
const done: Answer = ({ json: asked }, response) =>
  respondJson(response, rpcResult(asked.id, { task: wireTaskFixture('completed') }));

/** A server on this machine that does not even hear of connections that must not be made. */
async function listener(answer: Answer, host = '127.0.0.1') {
  const requests: RawServerRequest[] = [];
  let connections = 0;
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.on('data', (chunk) => (text += chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const asked = { method, path, headers, text, json: text === '' ? undefined : JSON.parse(text) };
      requests.push(asked);
      answer(asked, response);
    });
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  open.push(() => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())));
  return { port: (server.address() as AddressInfo).port, requests, connections: () => connections };
}

/** Connects to an agent by its public name; what its card says is up to the test. */
async function agentWith(
  cardOf: (port: number) => object,
  options: ConnectOptions = {},
  answer: Answer = (_asked, response) => respondJson(response, {}, 404),
) {
  const home = await startRawServer((asked, response) =>
    isWireCard(asked.path)
      ? respondJson(response, cardOf(Number(new URL(home.url).port)))
      : answer(asked, response),
  );
  const { port } = new URL(home.url);
  const problems: ClientWarning[] = [];
  const agent = connect(`http://agent.example.com:${port}`, {
    endpointCache: createEndpointCache(),
    random: () => 0,
    onWarning: (problem) => problems.push(problem),
    ...options,
  });
  open.push(
    () => home.close(),
    () => agent.close(),
  );
  return { agent, home, problems };
}

/** A policy that takes 127.0.0.2 for the public internet, and notes what is connected to. */
function pretending(addresses: readonly string[] = ['127.0.0.2'], more: EgressOptions = {}) {
  const connected: string[] = [];
  const asked: string[] = [];
  const egress: EgressOptions = {
    allow: ['127.0.0.2'],
    resolve: (host) => {
      asked.push(host);
      return Promise.resolve(addresses);
    },
    onConnect: (address) => connected.push(address),
    ...more,
  };
  return { egress, connected, asked };
}

describe('a card that stays at home', () => {
  it('needs no permission, even where the name leads to this machine', async () => {
    const { egress, asked } = pretending([], { deny: ['agent.example.com', '127.0.0.1'] });
    const { agent } = await agentWith(
      (port) => wireCardFixture(`http://agent.example.com:${port}`),
      { egress },
      done,
    );
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect(asked).toEqual([]);
  });

  it('has no policy made, which would be told that its options are wrong', async () => {
    const egress = { allow: ['no rule at all'] };
    const { agent } = await agentWith(
      (port) => wireCardFixture(`http://agent.example.com:${port}`),
      { egress },
      done,
    );
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    const { agent: other } = await agentWith(() => wireCardFixture('http://other.example.com'), { egress });
    await expect(other.send(request)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });
});

describe('a card that leads elsewhere', () => {
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
  ])('to %s is refused and nobody is asked', async (to) => {
    const target = await listener(done);
    const { egress, connected, asked } = pretending(undefined, { allow: [] });
    const url = to.replace('#', String(target.port));
    const { agent } = await agentWith(() => wireCardFixture(url), { egress });
    await expect(agent.send(request)).rejects.toMatchObject(refused);
    expect(connected).toEqual([]);
    expect(asked).toEqual([]);
    expect(target.connections()).toBe(0);
  });

  it('is refused by default', async () => {
    const { agent } = await agentWith(() => wireCardFixture('http://10.1.2.3:8080'));
    await expect(agent.card()).rejects.toMatchObject({
      ...refused,
      hint: expect.stringContaining('allowPrivate'),
    });
  });

  it('is followed where it is allowed, and there to the address that was checked', async () => {
    const target = await listener(done, '127.0.0.2');
    const { egress, connected, asked } = pretending();
    const { agent } = await agentWith(() => wireCardFixture(`http://other.example.com:${target.port}`), {
      egress,
    });
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect(new Set(connected)).toEqual(new Set(['127.0.0.2']));
    expect(new Set(asked)).toEqual(new Set(['other.example.com']));
    expect(target.requests[0]?.headers.host).toBe(`other.example.com:${target.port}`);
  });

  it('may be allowed by a policy that was made before, or by not asking', async () => {
    const target = await listener(done);
    for (const egress of [egressPolicy({ allow: [`127.0.0.1:${target.port}`] }), false as const]) {
      const { agent } = await agentWith(() => wireCardFixture(`http://127.0.0.1:${target.port}`), { egress });
      expect(await agent.send(request)).toMatchObject({ id: 't1' });
    }
  });

  it.each<[string, readonly string[]]>([
    ['a private address', ['10.0.0.1']],
    ['this machine', ['127.0.0.1']],
    ['this machine in other words', ['::ffff:127.0.0.1']],
    ['a public address and this machine', ['127.0.0.2', '127.0.0.1']],
  ])('to a name with %s is refused, once and for good', async (_what, addresses) => {
    const target = await listener(done);
    const { egress, connected, asked } = pretending(addresses);
    const { agent } = await agentWith(() => wireCardFixture(`http://other.example.com:${target.port}`), {
      egress,
    });
    await expect(agent.send(request)).rejects.toMatchObject(refused);
    expect(asked).toEqual(['other.example.com']);
    expect(connected).toEqual([]);
    expect(target.connections()).toBe(0);
  });

  it('to a name that changes its address is refused from then on', async () => {
    const good = await listener((asked, response) => {
      response.setHeader('connection', 'close');
      done(asked, response);
    }, '127.0.0.2');
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    const { egress, connected } = pretending(undefined, {
      resolve: () => Promise.resolve(answers.shift() ?? []),
    });
    const { agent } = await agentWith(() => wireCardFixture(`http://other.example.com:${good.port}`), {
      egress,
    });
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    await expect(agent.send(request)).rejects.toMatchObject(refused);
    expect(connected).toEqual(['127.0.0.2']);
  });

  it('is used as far as it is allowed, and the rest is told', async () => {
    const { agent, problems } = await agentWith(
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
      done,
    );
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect(problems).toMatchObject([{ kind: 'refused', error: refused }]);
  });

  it('that takes its own machine for the world is taken at its own address', async () => {
    const { agent } = await agentWith((port) => wireCardFixture(`http://localhost:${port}`), {}, done);
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect((await agent.describe()).url).toMatch(/^http:\/\/agent\.example\.com:/);
  });

  it('to another port of its host is a matter of the policy', async () => {
    const target = await listener(done);
    const there = () => wireCardFixture(`http://agent.example.com:${target.port}`);
    const { egress, connected } = pretending(['127.0.0.1']);
    await expect((await agentWith(there, { egress })).agent.send(request)).rejects.toMatchObject(refused);
    expect(connected).toEqual([]);
    expect(target.connections()).toBe(0);
  });

  it('is judged by its URL alone with another driver', async () => {
    const urls: string[] = [];
    const spying = (url: string, init: RequestInit) => {
      urls.push(url);
      return Promise.resolve(Response.json(init.method === 'GET' ? wireCardFixture('http://10.0.0.1') : {}));
    };
    const agent = connect('https://agent.example.com', {
      fetch: spying,
      endpointCache: createEndpointCache(),
    });
    await expect(agent.send(request)).rejects.toMatchObject(refused);
    expect(urls).toEqual(['https://agent.example.com/.well-known/agent-card.json']);
  });
});

describe('what the user typed', () => {
  it('may be this machine, which may lead to another port of itself', async () => {
    const target = await listener(done);
    for (const to of ['127.0.0.1', 'localhost', '0.0.0.0']) {
      const home = await startRawServer((_asked, response) =>
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

  it('does not make the rest of the network right', async () => {
    const home = await startRawServer((_asked, response) =>
      respondJson(response, wireCardFixture('http://10.0.0.1')),
    );
    const agent = connect(home.url, { endpointCache: createEndpointCache() });
    open.push(
      () => home.close(),
      () => agent.close(),
    );
    await expect(agent.send(request)).rejects.toMatchObject(refused);
  });

  it('may be a whole card, or a place of the card at another origin', async () => {
    const target = await listener(done);
    const whole = wireCardFixture(`http://agent.example.com:${target.port}`);
    const given = connect(whole, { endpointCache: createEndpointCache() });
    open.push(() => given.close());
    expect(await given.send(request)).toMatchObject({ id: 't1' });

    const cards = await startRawServer((_asked, response) =>
      respondJson(response, wireCardFixture(`http://agent.example.com:${target.port}`)),
    );
    open.push(() => cards.close());
    const cardPath = `http://agent.example.com:${new URL(cards.url).port}/card`;
    const placed = connect(`http://agent.example.com:${target.port}`, {
      cardPath,
      endpointCache: createEndpointCache(),
    });
    open.push(() => placed.close());
    expect(await placed.send(request)).toMatchObject({ id: 't1' });
  });
});

describe('a redirect of the card', () => {
  const redirecting = (to: string, options: ConnectOptions) =>
    agentOf((_asked, response) => response.writeHead(302, { location: to }).end(), options);
  async function agentOf(answer: Answer, options: ConnectOptions) {
    const home = await startRawServer(answer);
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
  ])('to %s is refused and nobody is asked', async (to) => {
    const target = await listener((_asked, response) =>
      respondJson(response, wireCardFixture('http://127.0.0.1')),
    );
    const { egress, connected } = pretending();
    const agent = await redirecting(to.replace('#', String(target.port)), { egress });
    await expect(agent.card()).rejects.toMatchObject(refused);
    expect(connected).toEqual([]);
    expect(target.connections()).toBe(0);
  });

  it('to a name that leads to this machine is refused as well', async () => {
    const target = await listener((_asked, response) =>
      respondJson(response, wireCardFixture('http://127.0.0.1')),
    );
    const { egress, connected } = pretending(['127.0.0.1']);
    const agent = await redirecting(`http://other.example.com:${target.port}/card`, { egress });
    await expect(agent.card()).rejects.toMatchObject(refused);
    expect(connected).toEqual([]);
    expect(target.connections()).toBe(0);
  });

  it('is followed where it is allowed, without anything that may be secret', async () => {
    const target = await listener(
      (_asked, response) => respondJson(response, wireCardFixture(`http://other.example.com:${target.port}`)),
      '127.0.0.2',
    );
    const { egress, connected } = pretending();
    const agent = await redirecting(`http://other.example.com:${target.port}/card`, {
      egress,
      cardAuth: bearer('secret'),
      cardHeaders: { 'x-key': 'secret' },
    });
    expect(await agent.card()).toMatchObject({ name: 'Raw' });
    expect(connected).toEqual(['127.0.0.2']);
    expect(JSON.stringify(target.requests)).not.toContain('secret');
  });

  it('to something that is not HTTP is refused', async () => {
    const agent = await redirecting('file:///etc/passwd', {});
    await expect(agent.card()).rejects.toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
  });
});

describe('a redirect of a call', () => {
  it.each(['http://127.0.0.1:#/rpc', 'http://other.example.com:#/rpc'])(
    'to %s is told and not followed',
    async (to) => {
      const target = await listener(done, '0.0.0.0');
      const { egress, connected } = pretending();
      const { agent } = await agentWith(
        (port) => wireCardFixture(`http://agent.example.com:${port}`),
        { egress, auth: bearer('secret') },
        (_asked, response) =>
          response.writeHead(307, { location: to.replace('#', String(target.port)) }).end(),
      );
      await expect(agent.send(request)).rejects.toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
      expect(connected).toEqual([]);
      expect(target.connections()).toBe(0);
    },
  );
});
