import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  type ConnectOptions,
  connect,
  createEndpointCache,
  type ClientWarning,
} from '../../src/client/index.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import {
  respondJson,
  type RawServerRequest,
  type RawServer,
  startRawServer,
} from '../support/http/raw-server.ts';
import {
  wireCardFixture,
  rpcErrorBody,
  isWireCard,
  rpcResult,
  wireTaskFixture,
} from '../support/http/wire-fixtures-1_0.ts';

const request = { message: { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] } };

const open = closeAfterEach();

async function serve(answer: (received: RawServerRequest, response: ServerResponse, url: string) => unknown) {
  const server = await startRawServer(answer);
  open.push(server);
  return server;
}

function reach(where: Parameters<typeof connect>[0], options: ConnectOptions = {}) {
  const agent = connect(where, { random: () => 0, endpointCache: createEndpointCache(), ...options });
  open.push(agent);
  return agent;
}

const nothing = (response: ServerResponse) => {
  response.writeHead(404, { 'content-type': 'text/html' });
  response.end('<!doctype html><p>Not here</p>');
};

/** Responds only to `send` of 1.0. */
function modern({ json: received }: RawServerRequest, response: ServerResponse): void {
  if (received?.method === 'SendMessage')
    respondJson(response, rpcResult(received.id, { task: wireTaskFixture('completed') }));
  else if (received?.method === 'GetTask') respondJson(response, rpcErrorBody(received.id, -32001));
  else respondJson(response, rpcErrorBody(received?.id, -32601));
}

/** Responds only to `send` of 0.3. */
function tagged({ json: received }: RawServerRequest, response: ServerResponse): void {
  const answer = { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'completed' } };
  if (received?.method === 'message/send') respondJson(response, rpcResult(received.id, answer));
  else respondJson(response, rpcErrorBody(received?.id, -32601));
}

const paths = (server: RawServer) => server.requests.map(({ method, path }) => `${method} ${path}`);

describe('discovery', () => {
  it('fetches the card once, with the newest version, for concurrent calls', async () => {
    const server = await serve((received, response, url) =>
      isWireCard(received.path) ? respondJson(response, wireCardFixture(url)) : modern(received, response),
    );
    const agent = reach(server.url);
    expect(server.requests).toEqual([]);
    await Promise.all([agent.send(request), agent.send(request), agent.card()]);
    expect(paths(server).filter((path) => path.startsWith('GET'))).toEqual([
      'GET /.well-known/agent-card.json',
    ]);
    expect(server.requests[0]?.headers['a2a-version']).toBe('1.0');
    expect(server.requests.find(({ method }) => method === 'POST')?.headers['a2a-version']).toBe('1.0');
  });

  it('returns an agent without a then method, so that it can be returned from async functions', async () => {
    const agent = reach('http://127.0.0.1:9');
    expect('then' in agent).toBe(false);
    expect(await Promise.resolve(agent)).toBe(agent);
  });

  it('tries /.well-known/agent.json second', async () => {
    const server = await serve((received, response, url) =>
      received.path === '/.well-known/agent.json'
        ? respondJson(response, {
            ...wireCardFixture(url),
            supportedInterfaces: undefined,
            url: `${url}/rpc`,
            protocolVersion: '0.3.0',
          })
        : received.method === 'GET'
          ? nothing(response)
          : tagged(received, response),
    );
    const agent = reach(server.url);
    await agent.send(request);
    expect(await agent.describe()).toMatchObject({
      version: '0.3',
      cardUrl: `${server.url}/.well-known/agent.json`,
    });
  });

  it('accepts the URL of a card', async () => {
    const server = await serve((received, response, url) =>
      received.path === '/cards/mine.json' ? respondJson(response, wireCardFixture(url)) : nothing(response),
    );
    expect(await reach(`${server.url}/cards/mine.json`).card()).toMatchObject({ name: 'Raw' });
    expect(await reach(server.url, { cardPath: '/cards/mine.json' }).card()).toMatchObject({ name: 'Raw' });
  });

  it('accepts a card object, as model or wire format', async () => {
    const server = await serve(modern);
    const agent = reach(wireCardFixture(server.url));
    await agent.send(request);
    await reach(await agent.card()).send(request);
    expect(paths(server)).toEqual(['POST /rpc', 'POST /rpc']);
  });

  it('finds the card if the URL is the endpoint of the agent', async () => {
    const server = await serve((received, response, url) => {
      if (isWireCard(received.path)) return respondJson(response, wireCardFixture(url));
      return received.method === 'GET' ? nothing(response) : modern(received, response);
    });
    const agent = reach(`${server.url}/rpc`);
    await agent.send(request);
    expect(await agent.describe()).toMatchObject({ cardUrl: `${server.url}/.well-known/agent-card.json` });
  });

  it('does not use the card of another agent on the same host', async () => {
    const server = await serve((received, response, url) => {
      if (isWireCard(received.path)) return respondJson(response, wireCardFixture(url));
      return received.method === 'GET' ? nothing(response) : modern(received, response);
    });
    const agent = reach(`${server.url}/other`);
    await agent.send(request);
    expect(await agent.describe()).toMatchObject({ cardUrl: undefined, url: `${server.url}/other` });
  });

  it.each([
    ['1.0', modern],
    ['0.3', tagged],
  ])('detects that an agent without a card supports %s', async (version, answer) => {
    const server = await serve((received, response) =>
      received.method === 'GET' ? nothing(response) : answer(received, response),
    );
    const agent = reach(server.url);
    await agent.send(request);
    expect(await agent.describe()).toMatchObject({ version, confirmed: true, url: `${server.url}/` });
    expect((await agent.card()).interfaces).toMatchObject([{ protocolVersion: version }]);
  });

  it('lists the tried URLs if there is no card', async () => {
    const server = await serve((_asked, response) => nothing(response));
    const failed = reach(server.url).send(request);
    await expect(failed).rejects.toMatchObject({
      reason: 'NOT_FOUND',
      status: 404,
      hint: expect.stringContaining('There is no agent card'),
    });
    await expect(reach(server.url).card()).rejects.toMatchObject({ reason: 'NOT_FOUND' });
  });

  it('reports that a card needs credentials', async () => {
    const server = await serve((_asked, response) =>
      respondJson(response, { detail: 'who?' }, 401, { 'www-authenticate': 'Bearer realm="cards"' }),
    );
    await expect(reach(server.url).card()).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
      hint: expect.stringContaining('Bearer realm="cards"'),
    });
  });

  it('retries discovery after a failure', async () => {
    let ready = false;
    const server = await serve((received, response, url) => {
      if (!ready) return nothing(response);
      return isWireCard(received.path)
        ? respondJson(response, wireCardFixture(url))
        : modern(received, response);
    });
    const agent = reach(server.url);
    await expect(agent.card()).rejects.toThrow();
    ready = true;
    expect(await agent.card()).toMatchObject({ name: 'Raw' });
  });

  it('names the URL of an unreachable agent', async () => {
    const dead = await startRawServer(() => {});
    await dead.close();
    await expect(reach(dead.url).send(request)).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      hint: expect.stringContaining('Is the agent running'),
    });
  });

  it('rejects an invalid URL', async () => {
    await expect(reach('localhost').card()).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    await expect(reach('ftp://localhost').card()).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });
});

describe('endpoint selection', () => {
  const interfaces = (url: string) => ({
    supportedInterfaces: [
      { url: `${url}/grpc`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'acme' },
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'acme' },
      { url: `${url}/old`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
  });

  it.each<[string, ConnectOptions, object]>([
    ['takes the first one of the card', {}, { transport: 'GRPC', version: '1.0' }],
    [
      'takes the first one that the HTTP client supports',
      { fetch: (url, init) => fetch(url, init) },
      { transport: 'HTTP+JSON', version: '1.0' },
    ],
    [
      'prefers a transport',
      { transports: ['JSONRPC', 'HTTP+JSON'] },
      { transport: 'JSONRPC', version: '1.0' },
    ],
    ['prefers a version', { versions: ['0.3', '1.0'] }, { transport: 'JSONRPC', version: '0.3' }],
  ])('%s', async (_name, options, chosen) => {
    expect(
      await reach(
        wireCardFixture('http://127.0.0.1:9', interfaces('http://127.0.0.1:9')),
        options,
      ).describe(),
    ).toMatchObject(chosen);
  });

  it('lists the interfaces of the card if none is supported', async () => {
    const received = reach(wireCardFixture('http://127.0.0.1:9', interfaces('http://127.0.0.1:9')), {
      versions: ['0.1'],
    });
    await expect(received.card()).rejects.toMatchObject({
      reason: 'VERSION_NOT_SUPPORTED',
      hint: expect.stringContaining('GRPC 1.0'),
    });
  });

  it('sends the tenant in the body and in the path', async () => {
    const server = await serve((received, response) =>
      received.path === '/rpc'
        ? modern(received, response)
        : respondJson(response, { task: wireTaskFixture('completed') }),
    );
    const wire = wireCardFixture(server.url, interfaces(server.url));
    await reach(wire).send(request);
    await reach(wire, { transports: ['JSONRPC'] }).send(request);
    expect(paths(server)).toEqual(['POST /rest/acme/message:send', 'POST /rpc']);
    expect(server.requests[1]?.json.params.tenant).toBe('acme');
    expect(server.requests[0]?.headers['content-type']).toBe('application/a2a+json');
  });
});

it('remote agent remains usable when its methods are spread into another object', async () => {
  const server = await serve(modern);
  const wrapped = { ...reach(wireCardFixture(server.url)), describe: undefined };
  expect(await wrapped.send(request)).toMatchObject({ id: 't1' });
});

describe('card with wrong interfaces', () => {
  it('is corrected once if the version is wrong, and cached', async () => {
    const server = await serve((received, response, url) =>
      isWireCard(received.path) ? respondJson(response, wireCardFixture(url)) : tagged(received, response),
    );
    const memory = createEndpointCache();
    const problems: ClientWarning[] = [];
    const first = reach(server.url, {
      endpointCache: memory,
      onWarning: (problem) => problems.push(problem),
    });
    await first.send(request);
    await first.send(request);
    expect(await first.describe()).toMatchObject({ version: '0.3', confirmed: true });
    expect(problems.map(({ kind }) => kind)).toEqual(['fallback']);
    const methods = () => server.requests.flatMap(({ json }) => json?.method ?? []);
    expect(methods()).toEqual(['SendMessage', 'message/send', 'message/send']);
    await reach(server.url, { endpointCache: memory }).send(request);
    expect(methods().slice(3)).toEqual(['message/send']);
  });

  it('falls back to the older members if the newer ones are wrong', async () => {
    const server = await serve((received, response, url) => {
      const both = {
        ...wireCardFixture(url),
        url: `${url}/old`,
        protocolVersion: '0.3.0',
        preferredTransport: 'JSONRPC',
      };
      if (isWireCard(received.path)) return respondJson(response, both);
      return received.path === '/old' ? tagged(received, response) : nothing(response);
    });
    const agent = reach(server.url);
    await agent.send(request);
    expect(await agent.describe()).toMatchObject({ version: '0.3', url: `${server.url}/old` });
  });

  it('is corrected if the transport is wrong', async () => {
    const server = await serve((received, response, url) => {
      const supportedInterfaces = [
        { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ];
      if (isWireCard(received.path))
        return respondJson(response, wireCardFixture(url, { supportedInterfaces }));
      return received.path === '/rpc' ? modern(received, response) : nothing(response);
    });
    const agent = reach(server.url);
    await agent.send(request);
    expect(await agent.describe()).toMatchObject({ transport: 'JSONRPC', confirmed: true });
  });

  it('is called at the host of the card if it lists a loopback URL', async () => {
    const dead = await startRawServer(() => {});
    await dead.close();
    const server = await serve((received, response) =>
      isWireCard(received.path)
        ? respondJson(response, wireCardFixture(dead.url))
        : modern(received, response),
    );
    const agent = reach(server.url);
    await agent.send(request);
    expect(await agent.describe()).toMatchObject({ url: `${server.url}/rpc` });
  });

  it('is not retried if the agent understood and rejected the request', async () => {
    const server = await serve((received, response, url) =>
      isWireCard(received.path)
        ? respondJson(response, wireCardFixture(url))
        : respondJson(response, rpcErrorBody(received.json.id, -32602, 'No parts')),
    );
    await expect(reach(server.url).send(request)).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: 'No parts',
    });
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});
