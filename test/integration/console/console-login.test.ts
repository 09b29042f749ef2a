import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { ConsolePage } from '../../support/console/console-page.ts';
import type { RawServer } from '../../support/http/raw-server.ts';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../support/oauth/authorization-server.ts';
import { startOAuthAgent } from '../../support/oauth/oauth-agent.ts';

let server: AuthorizationServer;
let agent: RawServer;
let running: RunningConsole;
let page: ConsolePage;
beforeAll(async () => {
  server = await startAuthorizationServer();
  agent = await startOAuthAgent(server);
  running = await serveConsole({ agents: [{ url: agent.url }] });
  page = new ConsolePage(running);
});
afterAll(async () => {
  await running.stop();
  await Promise.all([agent.close(), server.close()]);
});

it('logs in with a browser and uses the token for this agent, without showing it', async () => {
  const [entry] = await page.requestJson('agents');
  expect(entry).toMatchObject({ loginFlows: ['authorization-code'], hasCredentials: false });
  const send = () => page.collect(`agents/${entry.id}/messages`, { parts: [{ text: 'hi' }], stream: false });
  expect(await send()).toMatchObject([{ kind: 'error' }]);
  const events: any[] = [];
  const input = { flow: 'authorization-code', clientId: 'tool' };
  for await (const event of page.stream(`agents/${entry.id}/login`, input)) {
    events.push(event);
    if (event.kind === 'prompt') await fetch(event.url);
  }
  expect(events).toEqual([
    { kind: 'prompt', url: expect.stringContaining(`${server.url}/authorize?`) },
    { kind: 'done' },
  ]);
  expect(await send()).toMatchObject([
    { kind: 'result', result: { parts: [{ text: 'welcome' }] } },
    { kind: 'done' },
  ]);
  const agents = await page.requestJson('agents');
  expect(agents).toMatchObject([{ hasCredentials: true }]);
  const [token = ''] = server.accessTokens;
  expect(JSON.stringify([events, agents])).not.toContain(token);
});

it('reports a denial in words, and that a flow is not offered', async () => {
  const [{ id }] = await page.requestJson('agents');
  server.behavior.decision = 'deny';
  const denied: any[] = [];
  for await (const event of page.stream(`agents/${id}/login`, {
    flow: 'authorization-code',
    clientId: 'tool',
  })) {
    denied.push(event);
    if (event.kind === 'prompt') await fetch(event.url);
  }
  expect(denied.at(-1)).toMatchObject({
    kind: 'error',
    message: expect.stringContaining('denied the access'),
  });
  expect(await page.collect(`agents/${id}/login`, { flow: 'device-code', clientId: 'tool' })).toMatchObject([
    { kind: 'error', message: expect.stringContaining('No supported login flow') },
  ]);
});
