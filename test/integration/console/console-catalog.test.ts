import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CatalogContent } from '../../../src/console/console-api.ts';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { bearerAuth } from '../../../src/server/auth/index.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { ConsolePage } from '../../support/console/console-page.ts';
import { type RawServer, respondJson, startRawServer } from '../../support/http/raw-server.ts';

const type = 'application/a2a-agent-card+json';
const echo = defineAgent({
  name: 'Echo agent',
  description: 'Repeats',
  skills: [{ id: 'repeat', name: 'Repeat', description: 'Says it again', tags: ['text'] }],
  process: ({ text }) => text,
});
let served: RunningServer;
let gateway: RunningServer;
let host: RawServer;
let running: RunningConsole;
let page: ConsolePage;

beforeAll(async () => {
  served = await serve(echo, {
    auth: { authenticators: [bearerAuth({ tokens: { 'token-of-alice': 'alice' } })] },
  });
  const agents = createGateway({ port: 0 });
  agents.addAgent('echo', { agent: echo });
  gateway = await agents.listen();
  host = await startRawServer(({ path }, response, url) => {
    if (path === '/odd.json')
      return respondJson(response, { name: {}, url: 7, interfaces: [{}], skills: 'x' });
    if (path !== '/.well-known/ai-catalog.json') return respondJson(response, {}, 404);
    const entries = [
      { identifier: 'a', type, url: `${gateway.url}/agents/echo/.well-known/agent-card.json` },
      { identifier: 'denied', type, url: 'http://169.254.169.254/latest/meta-data' },
      { identifier: 'odd', type, url: `${url}/odd.json` },
      ...Array.from({ length: 250 }, (_, i) => ({ identifier: `n${i}`, type, data: { name: `n${i}` } })),
    ];
    respondJson(response, { specVersion: '1.0', entries });
  });
  running = await serveConsole({ agents: [{ url: served.url }, { url: 'http://127.0.0.1:1' }] });
  page = new ConsolePage(running);
});
afterAll(async () => {
  await running?.stop();
  await Promise.all([served?.stop(0), gateway?.stop(0), host?.close()]);
  await echo.close();
});

const read = (url?: string): Promise<CatalogContent> =>
  page.requestJson(url === undefined ? 'catalog' : `catalog?url=${encodeURIComponent(url)}`);

it('describes the agents of the console by skill, variant and security', async () => {
  const { entries } = await read();
  expect(entries).toMatchObject([
    {
      name: 'Echo agent',
      url: served.url,
      agentId: expect.any(String),
      skills: [{ id: 'repeat', tags: ['text'] }],
      variants: expect.arrayContaining([{ version: '0.3', transport: 'HTTP+JSON' }]),
      security: ['bearer'],
    },
    { agentId: expect.any(String), skills: [], error: expect.stringContaining('127.0.0.1:1') },
  ]);
});

it('describes the agents of a gateway by its host', async () => {
  const { entries } = await read(new URL(gateway.url).host);
  expect(entries).toMatchObject([
    { name: 'echo', description: 'Repeats', url: `${gateway.url}/agents/echo`, security: [] },
  ]);
  expect(entries[0]).not.toHaveProperty('agentId');
  const { id } = await page.requestJson('agents', { url: `${gateway.url}/agents/echo` });
  expect((await read(gateway.url)).entries[0]?.agentId).toBe(id);
});

it('bounds a catalog, and reads neither denied addresses nor odd cards', async () => {
  const { entries, omitted } = await read(host.url);
  expect(entries).toHaveLength(200);
  expect(omitted).toBe(53);
  expect(entries[0]).toMatchObject({ name: 'a', skills: [{ id: 'repeat' }] });
  expect(entries[1]).toMatchObject({ name: 'denied', error: expect.stringContaining('169.254.169.254') });
  expect(entries[2]).toMatchObject({ name: 'odd', skills: [], error: expect.any(String) });
});

it('rejects invalid URLs and hosts without a catalog', async () => {
  const get = (url: string) => page.request(`catalog?url=${encodeURIComponent(url)}`);
  expect((await get('ftp://host')).status).toBe(400);
  expect((await get(`${host.url}/none`)).status).toBe(404);
});
