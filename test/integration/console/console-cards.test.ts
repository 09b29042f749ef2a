import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { ConsolePage } from '../../support/console/console-page.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';

let running: RunningConsole;
let page: ConsolePage;

beforeAll(async () => {
  running = await serveConsole();
  page = new ConsolePage(running);
});
afterAll(() => running?.stop());

it.each([
  ['that fits 0.1 and 0.3', (url: string) => ({ name: 'Old', url, skills: [] })],
  [
    'of 0.1 with streams',
    (url: string) => ({ name: 'Old', url, authentication: {}, capabilities: { streaming: true } }),
  ],
  ['without interfaces', () => ({ name: 'Odd', supportedInterfaces: [] })],
])('reads a card %s without sending a message to the agent', async (_case, cardAt) => {
  await using agent = await startRawServer(({ method }, response, url) =>
    method === 'GET' ? respondJson(response, cardAt(url)) : respondJson(response, {}, 404),
  );
  const { id } = await page.requestJson('agents', { url: agent.url });
  const { cards } = await page.requestJson(`agents/${id}/cards`);
  expect(cards).toHaveLength(1);
  expect(agent.requests.filter(({ text }) => text.includes('"message":'))).toEqual([]);
});
