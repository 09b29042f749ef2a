import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { bearerAuth } from '../../src/server/auth/index.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { type RawServer, respondJson, startRawServer } from '../support/http/raw-server.ts';
import { wireCardFixture } from '../support/http/wire-fixtures-1_0.ts';
import { accessibilityViolations } from './accessibility.ts';
import { hostileTexts, shownHostileTexts } from './hostile-texts.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();
const type = 'application/a2a-agent-card+json';

describe.skipIf(!browser)('catalog view', () => {
  const weather = defineAgent({
    name: 'Weather',
    description: 'Forecasts the weather',
    skills: [
      { id: 'rain', name: 'Rain radar', description: 'Shows showers', tags: ['meteorology'] },
      ...Array.from({ length: 8 }, (_, i) => ({
        id: `s${i}`,
        name: `Station ${i}`,
        description: 'Reads one station',
        tags: [],
      })),
    ],
    process: ({ text }) => text,
  });
  const echo = defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
  let servers: RunningServer[];
  let gateway: RunningServer;
  let hostile: RawServer;
  let running: RunningConsole;
  let tab: Tab;

  beforeAll(async () => {
    const auth = { authenticators: [bearerAuth({ tokens: { 'token-of-alice': 'alice' } })] };
    servers = [await serve(weather, { auth }), await serve(echo, { onlyVersion: '0.3' })];
    const agents = createGateway({ port: 0 });
    agents.addAgent('sun', { agent: weather });
    agents.addAgent('moon', { agent: echo });
    gateway = await agents.listen();
    hostile = await startRawServer(({ path }, response, url) => {
      if (path !== '/.well-known/ai-catalog.json') return respondJson(response, {}, 404);
      const entries = hostileTexts.map((text) => ({
        identifier: text,
        type,
        displayName: text,
        description: text,
        data: wireCardFixture(url, {
          name: text,
          supportedInterfaces: [{ url, protocolBinding: text, protocolVersion: text }],
          skills: [{ id: text, name: text, description: text, tags: [text] }],
          securitySchemes: { [text]: { apiKeySecurityScheme: { location: 'header', name: text } } },
          securityRequirements: [{ schemes: { [text]: { list: [] } } }],
        }),
      }));
      respondJson(response, { specVersion: '1.0', entries });
    });
    running = await serveConsole({ agents: servers.map(({ url }) => ({ url })) });
    tab = await Tab.at(browser as Browser, running.url);
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await Promise.all([...servers, gateway].map((each) => each?.stop(0)));
    await hostile?.close();
    await Promise.all([weather.close(), echo.close()]);
    await browser?.close();
  });

  const status = () => tab.page.getByRole('main').getByRole('status').filter({ hasText: 'agents' });
  const names = () => tab.page.getByRole('main').getByRole('heading', { level: 2 }).allInnerTexts();

  async function load(url: string, count: string): Promise<void> {
    await tab.page.getByRole('searchbox', { name: 'Catalog' }).fill(url);
    await tab.page.getByRole('button', { name: 'Load' }).click();
    await status().filter({ hasText: count }).waitFor();
  }

  it('finds agents of the console by skill, version, transport and security, also after a reload', async () => {
    await tab.show('Catalog');
    await status().filter({ hasText: '2 of 2' }).waitFor();
    await tab.page.getByRole('searchbox', { name: 'Skill or name' }).fill('radar meteo');
    await status().filter({ hasText: '1 of 2' }).waitFor();
    expect(await names()).toEqual(['Weather']);
    await tab.page.reload();
    await status().filter({ hasText: '1 of 2' }).waitFor();
    await tab.page.getByRole('searchbox', { name: 'Skill or name' }).fill('');
    for (const [label, choice, found] of [
      ['Version', '1.0', 'Weather'],
      ['Transport', 'JSONRPC', 'Weather,Echo'],
      ['Security', 'bearer', 'Weather'],
      ['Security', 'none', 'Echo'],
    ] as const) {
      await tab.page.getByRole('combobox', { name: label }).selectOption(choice);
      await status()
        .filter({ hasText: `${found.split(',').length} of 2` })
        .waitFor();
      await expect.poll(async () => (await names()).join(',')).toBe(found);
      await tab.page.getByRole('combobox', { name: label }).selectOption('');
      await status().filter({ hasText: '2 of 2' }).waitFor();
    }
  });

  it('reads the catalog of a gateway and adds one of its agents', async () => {
    await load(new URL(gateway.url).host, '2 of 2');
    await expect.poll(names).toEqual(['sun', 'moon']);
    await tab.page.getByRole('button', { name: 'Add moon' }).click();
    await tab.page.getByRole('main', { name: 'Agents' }).waitFor();
    await tab.page.getByRole('heading', { name: 'Echo', level: 2 }).waitFor();
    await tab.page.goBack();
    await tab.page.getByRole('link', { name: 'Open moon' }).waitFor();
  });

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)
    it(`has no accessibility findings in ${scheme} mode at ${width} pixels`, async () => {
      await tab.page.emulateMedia({ colorScheme: scheme });
      await tab.page.setViewportSize({ width, height: 800 });
      await load(gateway.url, '2 of 2');
      expect(await accessibilityViolations(tab.page)).toEqual([]);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await tab.page.evaluate(overflow)).toBeLessThanOrEqual(0);
    });

  it('shows the error of a host without a catalog', async () => {
    await tab.page.getByRole('searchbox', { name: 'Catalog' }).fill(servers[1]?.url ?? '');
    await tab.page.getByRole('button', { name: 'Load' }).click();
    await tab.page.getByRole('alert').getByText('No catalog found').waitFor();
  });

  it(`keeps ${hostileTexts.length} hostile texts as text`, async () => {
    await load(hostile.url, `${hostileTexts.length} of ${hostileTexts.length}`);
    const shown = await tab.page.getByRole('main').getByRole('heading', { level: 2 }).allTextContents();
    expect(shown).toEqual(shownHostileTexts);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await tab.page.evaluate(overflow)).toBeLessThanOrEqual(0);
    expect(await tab.page.evaluate('globalThis.wasAttacked')).toBeUndefined();
    const elements = 'img:not([src="icon.svg"]), iframe, script:not([src]), object, embed, svg a, math';
    expect(await tab.page.getByRole('main').locator(elements).count()).toBe(0);
    expect(await tab.page.getByRole('main').locator('a').count()).toBe(0);
  });

  it('requests only its own server and logs no errors', () => {
    expect(tab.foreignRequests).toEqual([]);
    // The error of a host without a catalog.
    expect(tab.pageErrors.filter((text) => !text.includes('404'))).toEqual([]);
  });
});
