import { describe, expect, it } from 'vitest';
import {
  bearer,
  type ConnectOptions,
  connect,
  createEndpointCache,
  fetchCatalog,
  SeveralAgentsError,
} from '../../../src/client/index.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { type RawServer, respondJson, startRawServer } from '../../support/http/raw-server.ts';
import { rpcResult, wireCardFixture, wireTaskFixture } from '../../support/http/wire-fixtures-1_0.ts';

const open = closeAfterEach();
const type = 'application/a2a-agent-card+json';
const catalogPath = '/.well-known/ai-catalog.json';

/** Starts a host without a card of its own. Its agents have cards at `/{name}/card.json`. */
async function startHost(
  entriesOf: (url: string) => unknown,
  { path: servedAt = catalogPath, status = 200 } = {},
): Promise<RawServer> {
  const host = await startRawServer(({ method, path, json }, response, url) => {
    const [, name] = /^\/(\w+)\/card\.json$/.exec(path) ?? [];
    if (method === 'POST') respondJson(response, rpcResult(json.id, { task: wireTaskFixture('completed') }));
    else if (path === servedAt)
      respondJson(response, { specVersion: '1.0', entries: entriesOf(url) }, status);
    else if (name) respondJson(response, wireCardFixture(`${url}/${name}`, { name }));
    else respondJson(response, {}, 404);
  });
  open.push(host);
  return host;
}

const entry = (url: string, name: string) => ({
  identifier: `urn:air:h:agent:${name}`,
  type,
  url: `${url}/${name}/card.json`,
});

function connectTo(url: string, options: ConnectOptions = {}) {
  const agent = connect(url, { endpointCache: createEndpointCache(), ...options });
  open.push(agent);
  return agent;
}

describe('connect to a host without a card', () => {
  it.each(['', '/', catalogPath])('takes the only agent of its catalog, at the URL with %o', async (path) => {
    const host = await startHost((url) => [entry(url, 'echo'), { identifier: 'm', type: 'x', url }]);
    const agent = connectTo(host.url + path);
    expect(await agent.card()).toMatchObject({ name: 'echo' });
    expect(await agent.send('hi')).toMatchObject({ id: 't1' });
    expect(await agent.describe()).toMatchObject({
      url: `${host.url}/echo/rpc`,
      cardUrl: `${host.url}/echo/card.json`,
    });
    expect(await agent.check()).toMatchObject({ name: 'echo' });
  });

  it('reads a catalog below a path and at any URL', async () => {
    const below = await startHost((url) => [entry(url, 'echo')], { path: `/gateway${catalogPath}` });
    expect(await connectTo(`${below.url}/gateway`).card()).toMatchObject({ name: 'echo' });
    const elsewhere = await startHost((url) => [entry(url, 'echo')], { path: '/registry?group=a' });
    expect(await connectTo(`${elsewhere.url}/registry?group=a`).card()).toMatchObject({ name: 'echo' });
  });

  it('lists several agents, and takes the one that the fragment names', async () => {
    const host = await startHost((url) => [entry(url, 'echo'), entry(url, 'weather')]);
    const error = await connectTo(host.url)
      .card()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SeveralAgentsError);
    expect(error).toMatchObject({
      reason: 'NOT_FOUND',
      message: `No agent card found at ${host.url}/; its catalog lists 2 agents: echo (${host.url}/echo/card.json), weather (${host.url}/weather/card.json)`,
      agents: [{ name: 'echo' }, { name: 'weather' }],
    });
    expect(await connectTo(`${host.url}#weather`).card()).toMatchObject({ name: 'weather' });
    expect(await connectTo(`${host.url}#urn:air:h:agent:echo`).card()).toMatchObject({ name: 'echo' });
    await expect(connectTo(`${host.url}#none`).card()).rejects.toThrow(SeveralAgentsError);
  });

  it('bounds the list, and keeps hostile names in one line', async () => {
    const host = await startHost((url) =>
      Array.from({ length: 500 }, (_, i) => ({
        ...entry(url, `a${i}`),
        displayName: `\u001b[31m\n${'x'.repeat(5_000)}`,
      })),
    );
    const error = await connectTo(host.url)
      .card()
      .catch((thrown: unknown) => thrown);
    const { message } = error as SeveralAgentsError;
    expect(message).toMatch(/lists 500 agents: .* and 490 more$/);
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(3_000);
  });

  it('uses a card in the catalog, and applies the egress policy to its URLs', async () => {
    const target = await startHost(() => []);
    const cardOf = (name: string, url: string) => ({
      identifier: name,
      type,
      data: wireCardFixture(url, { name }),
    });
    const host = await startHost(() => [cardOf('own', target.url), cardOf('inner', 'http://10.1.2.3')]);
    const own = connectTo(`${host.url}#own`);
    expect(await own.send('hi')).toMatchObject({ id: 't1' });
    expect(await own.describe()).toMatchObject({ cardUrl: `${host.url}${catalogPath}#own` });
    await expect(connectTo(`${host.url}#inner`).send('hi')).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
    });
  });

  it('does not request cards at private addresses that a catalog names', async () => {
    const host = await startHost(() => [{ identifier: 'x', type, url: 'http://169.254.169.254/latest' }]);
    await expect(connectTo(host.url).card()).rejects.toMatchObject({ reason: 'PERMISSION_DENIED' });
  });

  it('sends credentials neither to other origins of a catalog nor with the request for it', async () => {
    const other = await startHost(() => []);
    const host = await startHost(() => [entry(other.url, 'echo')]);
    expect(await connectTo(host.url, { auth: bearer('t0ken') }).send('hi')).toMatchObject({ id: 't1' });
    for (const { headers } of [...host.requests, ...other.requests])
      expect(headers.authorization).toBeUndefined();
  });

  it.each([
    ['no agents', []],
    ['no list', 'entries'],
    ['an error', [], 500],
  ])('calls the URL itself if the catalog has %s', async (_what, entries, status = 200) => {
    const host = await startHost(() => entries, { status });
    expect(await connectTo(host.url).send('hi')).toMatchObject({ id: 't1' });
    expect(host.requests.filter(({ path }) => path === catalogPath)).toHaveLength(1);
  });

  it('does not request the catalog of a host with a card', async () => {
    const host = await startRawServer((_request, response, url) =>
      respondJson(response, wireCardFixture(url)),
    );
    open.push(host);
    await connectTo(host.url).card();
    expect(host.requests.map(({ path }) => path)).toEqual(['/.well-known/agent-card.json']);
  });
});

describe('fetchCatalog', () => {
  it('lists agents, with their cards on request', async () => {
    const host = await startHost((url) => [
      entry(url, 'echo'),
      { identifier: 'gone', type, url: `${url}/none` },
      { identifier: 'inner', type, url: 'http://10.1.2.3/card.json' },
      { identifier: 'last', type, data: { name: 'Not read' } },
    ]);
    const { agents, url } = await fetchCatalog(host.url, { maxCards: 3 });
    expect(url).toBe(host.url + catalogPath);
    expect(agents).toMatchObject([
      { name: 'echo', decodedCard: { name: 'echo', interfaces: [{ url: `${host.url}/echo/rpc` }] } },
      { name: 'gone', error: { reason: 'NOT_FOUND' } },
      { name: 'inner', error: { reason: 'PERMISSION_DENIED' } },
      { name: 'Not read' },
    ]);
    expect(agents[3]).not.toHaveProperty('error');
    await fetchCatalog(host.url);
    expect(host.requests.filter(({ path }) => path === '/echo/card.json')).toHaveLength(1);
  });

  it('rejects a host without a catalog, a missing host and a catalog that is too large', async () => {
    const host = await startHost(() => [], { status: 404 });
    await expect(fetchCatalog(host.url)).rejects.toMatchObject({
      reason: 'NOT_FOUND',
      message: `No catalog found at ${host.url}/`,
    });
    const large = await startHost(() => [{ identifier: 'x'.repeat(5_000_000) }]);
    await expect(fetchCatalog(large.url)).rejects.toThrow(/is too large/);
    await expect(fetchCatalog('ftp://host')).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    const { url } = host;
    await host.close();
    await expect(fetchCatalog(url)).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  });
});
