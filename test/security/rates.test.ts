import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { basicAuth } from '../../src/server/auth/schemes/basic.ts';
import { type RunningServer, type ServeOptions, serve } from '../../src/server/node/serve.ts';
import { httpGet, httpPost } from '../support/http/http-calls.ts';

const agent = defineAgent({ name: 'Echo', description: 'Repeats the text', process: ({ text }) => text });
let server: RunningServer | undefined;
afterEach(() => server?.stop(0));

async function start(options: ServeOptions): Promise<string> {
  server = await serve(agent, options);
  return server.url;
}

const login = (password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`alice:${password}`).toString('base64')}`,
  'a2a-version': '1.0',
});
const auth = { authenticators: [basicAuth({ users: { alice: 'correct' } })] };
const listTasks = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} };

describe.each([true, false])('rates (fastPath: %s)', (fastPath) => {
  it('limit wrong passwords to a burst of 100 by default', async () => {
    const url = await start({ auth, fastPath });
    const statuses = new Map<number, number>();
    for (let i = 0; i < 300; i++) {
      const { status } = await httpPost(url, listTasks, login(`wrong-${i}`));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    // The bucket gains five tokens per second meanwhile.
    expect(statuses.get(401)).toBeGreaterThanOrEqual(100);
    expect(statuses.get(429)).toBeGreaterThan(100);
    const blocked = await httpPost(url, listTasks, login('correct'));
    expect([200, 429]).toContain(blocked.status);
  });

  it('do not count requests without credentials as wrong passwords', async () => {
    const url = await start({ auth, fastPath, limits: { failedAuthRate: { perSecond: 0, burst: 1 } } });
    for (let i = 0; i < 5; i++) expect((await httpPost(url, listTasks)).status).toBe(401);
    expect((await httpPost(url, listTasks, login('correct'))).status).toBe(200);
    expect((await httpPost(url, listTasks, login('wrong'))).status).toBe(401);
    const refused = await httpPost(url, listTasks, login('correct'));
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('86400');
  });

  it('apply to an address before authentication, by its trusted proxy', async () => {
    const url = await start({
      auth,
      fastPath,
      trustProxy: ['127.0.0.0/8'],
      limits: { addressRate: { perSecond: 0, burst: 2 } },
    });
    const get = async (from: string) => (await httpGet(`${url}/healthz`, { 'x-forwarded-for': from })).status;
    expect([await get('1.1.1.1'), await get('1.1.1.1'), await get('1.1.1.1')]).toEqual([200, 200, 429]);
    expect(await get('9.9.9.9, 2.2.2.2')).toBe(200);
    expect(await get('8.8.8.8, 2.2.2.2')).toBe(200);
    expect(await get('7.7.7.7, 2.2.2.2')).toBe(429);
  });

  it.each<[string, string, Record<string, string>]>([
    ['malformed JSON', '{', {}],
    ['another content type', '{}', { 'content-type': 'text/plain' }],
    ['an invalid envelope', '7', {}],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"x"}', {}],
    ['a body that is too large', ' '.repeat(200), {}],
  ])('count requests with %s', async (_case, body, headers) => {
    const url = await start({ fastPath, maxBodyBytes: 100, limits: { rate: { perSecond: 0, burst: 1 } } });
    expect((await httpPost(url, body, headers)).status).not.toBe(429);
    expect((await httpPost(url, body, headers)).status).toBe(429);
  });
});
