import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  apiKey,
  bearer,
  type ConnectOptions,
  clientCredentials,
  connect,
  createEndpointCache,
} from '../../src/client/index.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import {
  respondJson,
  type RawServerRequest,
  startEventStream,
  startRawServer,
} from '../support/http/raw-server.ts';
import {
  wireCardFixture,
  isWireCard,
  rpcResult,
  wireTaskFixture,
} from '../support/http/wire-fixtures-1_0.ts';

const request = { message: { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] } };

const open = closeAfterEach();

type Answer = (received: RawServerRequest, response: ServerResponse, url: string) => unknown;

/** Serves an agent with a valid card and an endpoint that the test controls. */
async function agentThat(answer: Answer, options: ConnectOptions = {}) {
  const server = await startRawServer((received, response, url) =>
    isWireCard(received.path) ? respondJson(response, wireCardFixture(url)) : answer(received, response, url),
  );
  const agent = connect(server.url, { random: () => 0, endpointCache: createEndpointCache(), ...options });
  open.push(server, agent);
  const calls = () => server.requests.filter(({ path }) => !isWireCard(path));
  return { agent, server, calls };
}

const done: Answer = ({ json: received }, response) =>
  respondJson(
    response,
    rpcResult(
      received.id,
      received.method === 'GetTask' ? wireTaskFixture('completed') : { task: wireTaskFixture('completed') },
    ),
  );

function failing(times: number, fail: (response: ServerResponse) => void): Answer {
  let left = times;
  return (received, response, url) => (left-- > 0 ? fail(response) : done(received, response, url));
}

describe('request retries', () => {
  it.each([502, 503, 504, 429])('retry read requests after HTTP %i', async (status) => {
    const { agent, calls } = await agentThat(failing(2, (response) => respondJson(response, {}, status)));
    expect(await agent.getTask({ id: 't1' })).toMatchObject({ id: 't1' });
    expect(calls()).toHaveLength(3);
  });

  it.each([500, 502, 503, 504, 429])('do not retry a send after HTTP %i', async (status) => {
    const { agent, calls } = await agentThat(failing(1, (response) => respondJson(response, {}, status)));
    await expect(agent.send(request)).rejects.toMatchObject({ status });
    expect(calls()).toHaveLength(1);
  });

  it.each([429, 503])('retry after Retry-After of HTTP %i', async (status) => {
    const clock = new ManualClock();
    const { agent, calls } = await agentThat(
      failing(1, (response) => respondJson(response, {}, status, { 'retry-after': '7' })),
      { clock },
    );
    const waiting = clock.waitForDelay((delay) => delay === 7000);
    const answer = agent.send(request);
    await waiting;
    clock.advance(7000);
    expect(await answer).toMatchObject({ id: 't1' });
    expect(calls()).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it('do not retry if Retry-After is too long', async () => {
    const { agent, calls } = await agentThat(
      failing(9, (response) => respondJson(response, {}, 503, { 'retry-after': '3600' })),
    );
    await expect(agent.getTask({ id: 't1' })).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect(calls()).toHaveLength(1);
  });

  it('retry read requests after a connection error, a bounded number of times', async () => {
    const { agent, calls } = await agentThat(
      failing(9, (response) => response.destroy()),
      { maxRetries: 2 },
    );
    await expect(agent.getTask({ id: 't1' })).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect(calls()).toHaveLength(3);
  });

  it('do not retry a send after a connection error', async () => {
    const { agent, calls } = await agentThat(failing(1, (response) => response.destroy()));
    await expect(agent.send(request)).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect(calls()).toHaveLength(1);
  });

  it('stop at the timeout', async () => {
    const clock = new ManualClock();
    const { agent } = await agentThat(() => {}, { clock, timeouts: { send: 5000 } });
    const waiting = clock.waitForDelay((delay) => delay === 5000);
    const answer = agent.send(request);
    await waiting;
    clock.advance(5000);
    await expect(answer).rejects.toMatchObject({ reason: 'TIMEOUT' });
  });

  it('close the connection when the caller aborts', async () => {
    const stop = new AbortController();
    let closed: Promise<void> | undefined;
    const { agent } = await agentThat((_asked, response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      stop.abort();
    });
    await expect(agent.send(request, { signal: stop.signal })).rejects.toMatchObject({ reason: 'CANCELED' });
    await closed;
  });
});

describe('invalid response', () => {
  it.each<[string, Answer, object]>([
    [
      'a web page',
      (_asked, response) => response.end('<html>Welcome</html>'),
      { reason: 'INVALID_AGENT_RESPONSE', message: expect.stringContaining('web page') },
    ],
    [
      'another request',
      (_asked, response) => respondJson(response, rpcResult(999, { task: wireTaskFixture('completed') })),
      { reason: 'INVALID_AGENT_RESPONSE' },
    ],
    [
      'nonsense',
      ({ json: { id } }, response) => respondJson(response, rpcResult(id, { task: { id: 7 } })),
      { reason: 'INVALID_AGENT_RESPONSE', message: expect.stringContaining('task') },
    ],
    [
      'no credentials',
      (_asked, response) => respondJson(response, { detail: 'no' }, 401, { 'www-authenticate': 'Bearer' }),
      { reason: 'UNAUTHENTICATED', status: 401, hint: expect.stringContaining('auth') },
    ],
    [
      'no credentials, as a JSON-RPC error',
      ({ json: { id } }, response) =>
        respondJson(response, { jsonrpc: '2.0', id, error: { code: -32600, message: 'Who?' } }, 401),
      { reason: 'UNAUTHENTICATED', message: 'Who?' },
    ],
    ['no permission', (_asked, response) => respondJson(response, {}, 403), { reason: 'PERMISSION_DENIED' }],
  ])('is reported with its reason: %s', async (_name, answer, expected) => {
    const { agent } = await agentThat(answer);
    await expect(agent.send(request)).rejects.toMatchObject(expected);
  });

  it('is reported as UNAUTHENTICATED by streams too', async () => {
    const { agent } = await agentThat((_asked, response) => respondJson(response, {}, 401));
    await expect(agent.stream(request)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
    });
  });

  it('is aborted if it is too large', async () => {
    const { agent } = await agentThat((_asked, response) => response.end('x'.repeat(10_000)), {
      limits: { body: 5000 },
    });
    await expect(agent.send(request)).rejects.toMatchObject({
      reason: 'INVALID_AGENT_RESPONSE',
      hint: expect.stringContaining('limits.body'),
    });
  });

  it('is accepted if error is null beside the result', async () => {
    const { agent } = await agentThat(({ json: { id } }, response) =>
      respondJson(response, {
        ...rpcResult(String(id), { task: wireTaskFixture('completed') }),
        error: null,
      }),
    );
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
  });
});

describe('redirect', () => {
  const away =
    (status: number, to: (url: string) => string): Answer =>
    (received, response, url) => {
      if (received.path === '/moved') return done(received, response, url);
      response.writeHead(status, { location: to(url) });
      response.end();
    };

  it.each([307, 308])('with HTTP %i is followed within the origin', async (status) => {
    const { agent, calls } = await agentThat(away(status, () => '/moved'));
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    expect(calls().map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /rpc', 'POST /moved']);
  });

  it('to another origin is reported and not followed', async () => {
    const other = await startRawServer((received, response, url) => done(received, response, url));
    open.push(other);
    const { agent } = await agentThat(
      away(308, () => `${other.url}/moved`),
      { auth: bearer('secret') },
    );
    await expect(agent.send(request)).rejects.toMatchObject({
      hint: expect.stringContaining(`${other.url}/moved`),
    });
    expect(other.requests).toEqual([]);
  });

  it('that would drop the body is reported', async () => {
    const { agent } = await agentThat(away(302, () => '/moved'));
    await expect(agent.send(request)).rejects.toMatchObject({ status: 302 });
  });

  it('loop is aborted', async () => {
    const { agent, calls } = await agentThat((_asked, response) => {
      response.writeHead(307, { location: '/again' });
      response.end();
    });
    await expect(agent.send(request)).rejects.toMatchObject({ hint: expect.stringContaining('3 redirects') });
    expect(calls()).toHaveLength(4);
  });
});

describe('client credentials', () => {
  it('are sent with every call and not with the card request', async () => {
    const { agent, server } = await agentThat(done, {
      auth: bearer('secret'),
      headers: { 'X-Mine': '1' },
      cardHeaders: { 'X-Card': '2' },
    });
    await agent.send(request, { headers: { cookie: 'theirs' }, extensions: ['urn:a', 'urn:b'] });
    const [received, sent] = server.requests;
    expect(received?.headers).not.toHaveProperty('authorization');
    expect(received?.headers['x-card']).toBe('2');
    expect(sent?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'x-mine': '1',
      'a2a-extensions': 'urn:a,urn:b',
    });
    expect(sent?.headers).not.toHaveProperty('cookie');
  });

  it.each([
    ['header', (received?: RawServerRequest) => received?.headers['x-key']],
    ['cookie', (received?: RawServerRequest) => /X-Key=(\w+)/.exec(received?.headers.cookie ?? '')?.[1]],
    [
      'query',
      (received?: RawServerRequest) => new URL(received?.path ?? '', 'http://x').searchParams.get('X-Key'),
    ],
  ] as const)('can be an API key in the %s', async (place, find) => {
    const { agent, calls } = await agentThat(done, {
      auth: apiKey({ name: 'X-Key', in: place, value: () => 'k1' }),
    });
    await agent.send(request);
    expect(find(calls()[0])).toBe('k1');
  });

  it('can depend on the call', async () => {
    const { agent, calls } = await agentThat(done, {
      auth: { headers: ({ call, operation }) => ({ authorization: `${operation} for ${call.owner}` }) },
    });
    await agent.send(request, { owner: 'ann' });
    expect(calls()[0]?.headers.authorization).toBe('send for ann');
  });

  it('are sent with the card request after a 401 response', async () => {
    const server = await startRawServer((received, response, url) =>
      received.headers.authorization === 'Bearer card'
        ? respondJson(response, wireCardFixture(url))
        : respondJson(response, {}, 401),
    );
    open.push(server);
    const agent = connect(server.url, { cardAuth: bearer('card'), auth: bearer('other') });
    open.push(agent);
    expect(await agent.card()).toMatchObject({ name: 'Raw' });
  });

  /** Gives tokens t1, t2, … and an agent that takes only the newest. */
  async function withTokens(expiresIn?: number) {
    let count = 0;
    const forms: RawServerRequest[] = [];
    const now = { value: 0 };
    const issuer = await startRawServer((received, response) => {
      forms.push(received);
      count++;
      respondJson(response, { access_token: `t${count}`, token_type: 'Bearer', expires_in: expiresIn });
    });
    open.push(issuer);
    const refuses = new Set<string>();
    const auth = clientCredentials({
      tokenUrl: `${issuer.url}/token`,
      clientId: 'me',
      clientSecret: 's:e',
      scope: 'a2a',
      now: () => now.value,
    });
    const made = await agentThat(
      (received, response, url) => {
        const token = received.headers.authorization ?? '';
        if (refuses.has(token)) return respondJson(response, {}, 401);
        if (received.json.method !== 'SendStreamingMessage') return done(received, response, url);
        const stream = startEventStream(response);
        stream.event(rpcResult(received.json.id, { task: wireTaskFixture('completed') }));
        stream.end();
      },
      { auth },
    );
    const tokens = () => made.calls().map(({ headers }) => headers.authorization?.slice(7));
    return { ...made, forms, refuses, now, tokens };
  }

  it('of OAuth are requested once and cached until they expire', async () => {
    const { agent, forms, now, tokens } = await withTokens(3600);
    await Promise.all([agent.send(request), agent.send(request)]);
    expect(forms).toHaveLength(1);
    expect(forms[0]?.text).toBe('grant_type=client_credentials&scope=a2a');
    expect(forms[0]?.headers.authorization).toBe(`Basic ${btoa('me:s%3Ae')}`);
    now.value = 3_500_000;
    await agent.send(request);
    now.value = 3_580_000;
    await agent.send(request);
    expect(tokens()).toEqual(['t1', 't1', 't1', 't2']);
  });

  it('of OAuth are renewed once after a 401 response, for streams too', async () => {
    const { agent, refuses, tokens } = await withTokens();
    refuses.add('Bearer t1');
    await agent.send(request);
    refuses.add('Bearer t2');
    for await (const event of agent.stream(request)) expect(event.kind).toBe('task');
    expect(tokens()).toEqual(['t1', 't2', 't2', 't3']);
    for (let n = 3; n < 9; n++) refuses.add(`Bearer t${n}`);
    await expect(agent.send(request)).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(tokens().slice(4)).toEqual(['t3', 't4']);
  });
});

describe('fetch driver', () => {
  it('supports all operations without node:http', async () => {
    const { agent } = await agentThat(
      (received, response, url) => {
        if (received.json.method !== 'SendStreamingMessage') return done(received, response, url);
        const stream = startEventStream(response);
        stream.event(rpcResult(received.json.id, { task: wireTaskFixture('completed') }));
        stream.end();
      },
      { fetch: globalThis.fetch },
    );
    expect(await agent.send(request)).toMatchObject({ id: 't1' });
    for await (const event of agent.stream(request)) expect(event.kind).toBe('task');
    expect.assertions(2);
  });

  it('closes the connection when the subscriber stops reading', async () => {
    let closed: Promise<void> | undefined;
    const { agent } = await agentThat(
      (received, response) => {
        closed = new Promise((resolve) => response.on('close', resolve));
        startEventStream(response).event(rpcResult(received.json.id, { task: wireTaskFixture('working') }));
      },
      { fetch: globalThis.fetch },
    );
    for await (const event of agent.stream(request)) {
      expect(event.kind).toBe('task');
      break;
    }
    await closed;
  });
});

it('close() ends open streams and rejects later calls', async () => {
  const { agent } = await agentThat((received, response) => {
    startEventStream(response).event(rpcResult(received.json.id, { task: wireTaskFixture('working') }));
  });
  const events = agent.stream(request)[Symbol.asyncIterator]();
  await events.next();
  const waiting = expect(events.next()).rejects.toMatchObject({ reason: 'CANCELED' });
  await agent.close();
  await waiting;
  await expect(agent.send(request)).rejects.toMatchObject({ reason: 'CANCELED' });
});
