import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { ConsolePage } from '../../support/console/console-page.ts';
import { waitUntil } from '../../support/server/checked-server.ts';
import { sendRawRequest, rawRequest } from '../../support/http/raw-http.ts';

const token = 'a-token-for-this-test';
let running: RunningConsole;
let page: ConsolePage;
let port: number;

beforeAll(async () => {
  running = await serveConsole({ token, maxAgents: 2, maxStreams: 2, maxBodyBytes: 64 * 1_024 });
  page = new ConsolePage(running);
  port = Number(new URL(running.origin).port);
});
afterAll(() => running.stop());

/** One request as it goes over the wire, with the headers of the page unless others are given. */
async function raw(path: string, headers: Record<string, string> = {}, verb = 'GET') {
  const own = { Host: `127.0.0.1:${port}`, Authorization: `Bearer ${token}` };
  const reply = await sendRawRequest(port, rawRequest(verb, path, '', { ...own, ...headers }));
  if (!reply) throw new Error('there was no answer');
  return reply;
}

describe('console access control', () => {
  it('creates a new token of 128 random bits at each start', async () => {
    await using one = await serveConsole();
    await using two = await serveConsole();
    expect(one.url).toBe(`${one.origin}/?token=${one.token}`);
    expect(Buffer.from(one.token, 'base64url')).toHaveLength(16);
    expect(one.token).not.toBe(two.token);
  });

  it.each([
    ['no token', { Authorization: '' }],
    ['another token', { Authorization: 'Bearer a-token-for-this-tesT' }],
    ['a longer one', { Authorization: `Bearer ${token}x` }],
    ['another scheme', { Authorization: `Basic ${token}` }],
  ])('responds 401 to API requests with %s', async (_what, headers) => {
    const reply = await raw('/api/info', headers);
    expect(reply.status).toBe(401);
    expect(JSON.parse(reply.body).error).toMatchObject({
      reason: 'UNAUTHENTICATED',
      message: expect.stringContaining('Open the URL that the console printed'),
    });
  });

  it('serves the page without a token', async () => {
    expect((await raw('/', { Authorization: '' })).status).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:80',
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost.evil.example:PORT',
    '127.0.0.1:PORT.evil.example',
    '[::2]:PORT',
    '0.0.0.0:PORT',
    '',
  ])('rejects requests with the Host header "%s"', async (host) => {
    for (const path of ['/', '/api/info'])
      expect((await raw(path, { Host: host.replace('PORT', String(port)) })).status, path).toBe(403);
  });

  it.each(['127.0.0.1:PORT', 'localhost:PORT', '[::1]:PORT', 'LOCALHOST:PORT'])(
    'accepts requests with the Host header %s',
    async (host) => {
      expect((await raw('/api/info', { Host: host.replace('PORT', String(port)) })).status).toBe(200);
    },
  );

  it.each([
    'https://evil.example',
    'null',
    'http://localhost:1',
    'https://127.0.0.1:PORT',
    'http://localhost:PORT',
    'http://127.0.0.1:PORT.evil.example',
  ])('rejects requests from the origin %s', async (origin) => {
    expect((await raw('/api/info', { Origin: origin.replace('PORT', String(port)) })).status).toBe(403);
  });

  it('accepts requests from its own origin', async () => {
    expect((await raw('/api/info', { Origin: running.origin })).status).toBe(200);
  });

  it.each(['cross-site', 'same-site', 'anything'])(
    'rejects requests with Sec-Fetch-Site: %s',
    async (site) => {
      for (const path of ['/api/info', '/', '/icon.svg'])
        expect((await raw(path, { 'Sec-Fetch-Site': site })).status, path).toBe(403);
    },
  );

  it('accepts cross-site links to the page only', async () => {
    const link = {
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'navigate',
      'Sec-Fetch-Dest': 'document',
    };
    expect((await raw('/', link)).status).toBe(200);
    expect((await raw('/api/info', link)).status).toBe(403);
    expect((await raw('/', { ...link, 'Sec-Fetch-Dest': 'iframe' })).status).toBe(403);
  });

  it.each(['0.0.0.0', '::', '192.168.1.7', 'example.com'])('rejects the listen address %s', async (host) => {
    await expect(serveConsole({ host })).rejects.toThrow(`The console cannot listen on ${host}`);
  });

  it('rejects short tokens', async () => {
    for (const each of ['short', 'a token with blanks', 'token&with=meanings'])
      await expect(serveConsole({ token: each })).rejects.toThrow('token must have at least 16 characters');
  });
});

describe('console responses', () => {
  it('contain a strict content security policy and no CORS headers, errors included', async () => {
    for (const reply of [
      await raw('/'),
      await raw('/api/info'),
      await raw('/nothing'),
      await raw('/api/info', { Authorization: '' }),
      await raw('/', { Host: 'evil.example' }),
    ]) {
      const { headers } = reply;
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self' 'sha256-/,
      );
      expect(headers.get('content-security-policy')).not.toMatch(/unsafe|\*/);
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('serves the page and marks files with a digest in their name as immutable', async () => {
    const index = await raw('/');
    expect(index.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(index.headers.get('cache-control')).toBe('no-cache');
    const names = [...index.body.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const { status, headers } = await raw(`/${name}`);
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toContain('immutable');
      expect(headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/);
    }
  });

  it.each([
    '/../package.json',
    '/..%2fpackage.json',
    '/%2e%2e/package.json',
    '/assets/../../../package.json',
    '/assets/..%5c..%5cpackage.json',
    '//etc/passwd',
    '/.env',
    '/assets/.hidden.js',
    '/index.html%00.js',
    '/assets',
    '/assets/',
  ])('are 404 at %s', async (path) => {
    expect((await raw(path)).status).toBe(404);
  });

  it('responds 405 to other methods', async () => {
    expect((await raw('/', {}, 'POST')).status).toBe(405);
    expect((await raw('/api/info', {}, 'DELETE')).status).toBe(405);
    expect((await raw('/api/nothing')).status).toBe(404);
    expect((await raw('/api')).status).toBe(404);
    expect((await raw('/api/agents/%zz/cards')).status).toBe(400);
    expect((await raw('/', { Connection: 'close' }, 'HEAD')).body).toBe('');
  });
});

describe('console input limits', () => {
  it('rejects a body above maxBodyBytes, with and without Content-Length', async () => {
    const large = 'x'.repeat(65 * 1_024);
    const response = await page.request('agents', { method: 'POST', body: large });
    expect(response.status).toBe(413);
    const chunked = await sendRawRequest(
      port,
      Buffer.concat([
        rawRequest('POST', '/api/agents', '', {
          Host: `127.0.0.1:${port}`,
          Authorization: `Bearer ${token}`,
          'Transfer-Encoding': 'chunked',
        }),
        Buffer.from(`${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`),
      ]),
    );
    expect(chunked?.status).toBe(413);
  });

  it('rejects unauthenticated requests before reading the body', async () => {
    const reply = await sendRawRequest(
      port,
      rawRequest('POST', '/api/agents', '', { Host: `127.0.0.1:${port}`, 'Content-Length': '1000000000' }),
    );
    expect(reply?.status).toBe(401);
  });

  it.each([
    ['agents', 'not JSON', 'body must be JSON'],
    ['agents', '{"url":"file:///etc/passwd"}', 'url must be an absolute http or https'],
    ['agents', '{"url":"http://127.0.0.1:1","colour":"red"}', 'colour'],
    [
      'agents',
      '{"url":"http://127.0.0.1:1","credentials":{"kind":"header","name":"a b","value":"c"}}',
      'credentials.name must be a valid header',
    ],
    [
      'agents',
      '{"url":"http://127.0.0.1:1","credentials":{"kind":"bearer","token":"a\\r\\nb: c"}}',
      'credentials.token must be a single line',
    ],
    [
      'agents',
      '{"url":"http://127.0.0.1:1","credentials":{"kind":"client-credentials","tokenUrl":"http://example.com","clientId":"a","clientSecret":"b"}}',
      'credentials.tokenUrl must be an https',
    ],
    ['conformance/run', '{"agentId":"none","level":"ALL"}', 'level'],
  ])('reject at %s the body %s', async (path, body, message) => {
    const response = await page.request(path, { method: 'POST', body });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as any;
    expect(error.reason).toBe('INVALID_PARAMS');
    expect(error.message).toContain(message);
    expect(JSON.stringify(error)).not.toMatch(/\.ts:|\bat \w+ \(/);
  });

  it('rejects agents above maxAgents', async () => {
    for (const each of [1, 2])
      expect(await page.requestJson('agents', { url: `http://127.0.0.1:${each}` })).toHaveProperty('id');
    const third = await page.request('agents', { method: 'POST', body: '{"url":"http://127.0.0.1:3"}' });
    expect(third.status).toBe(429);
    expect(await third.json()).toMatchObject({
      error: { message: expect.stringContaining('Remove an agent') },
    });
    // The same one again needs no more room.
    const [first] = await page.requestJson('agents');
    expect(await page.requestJson('agents', { url: first.url })).toMatchObject({ id: first.id });
    await page.requestJson(`agents/${first.id}`, undefined, 'DELETE');
    expect(await page.requestJson('agents')).toHaveLength(1);
  });

  it('rejects streams above maxStreams', async () => {
    const leaving = new AbortController();
    for (const _ of [1, 2])
      expect((await page.request('traffic', { signal: leaving.signal })).status).toBe(200);
    const third = await page.request('traffic');
    expect(third.status).toBe(429);
    leaving.abort();
    await waitUntil(async () => {
      const again = new AbortController();
      const { status } = await page.request('traffic', { signal: again.signal });
      again.abort();
      return status === 200;
    }, 'there is room again');
  });
});
