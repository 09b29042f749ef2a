import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { card1_0At } from '../support/cli/client-command.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { type RawServer, respondJson, startRawServer } from '../support/http/raw-server.ts';
import { accessibilityViolations } from './accessibility.ts';
import { hostileTexts } from './hostile-texts.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();

describe.skipIf(!browser)('login with a hostile authorization server', () => {
  /** Text of the next answer of the authorization server. */
  let text = '';
  let isPending = true;
  let server: RawServer;
  let running: RunningConsole;
  let tab: Tab;
  beforeAll(async () => {
    server = await startRawServer((request, response, url) => {
      if (request.method === 'GET') {
        const flow = { deviceAuthorizationUrl: `${url}/device`, tokenUrl: `${url}/token`, scopes: {} };
        const scheme = { oauth2SecurityScheme: { flows: { deviceCode: flow } } };
        respondJson(response, card1_0At(url, { name: hostileTexts[1], securitySchemes: { login: scheme } }));
      } else if (request.path === '/device')
        respondJson(response, {
          device_code: 'd',
          user_code: text,
          verification_uri: `${url}/${encodeURIComponent(text)}`,
          verification_uri_complete: text,
          interval: 0,
          expires_in: 600,
        });
      else if (isPending) respondJson(response, { error: 'authorization_pending' }, 400);
      else respondJson(response, { error: text, error_description: text }, 400);
    });
    running = await serveConsole({ agents: [{ url: server.url }] });
    tab = await Tab.at(browser as Browser, running.url);
    await tab.page.getByRole('button', { name: 'Log in' }).click();
    await tab.page.getByRole('textbox', { name: 'Client ID' }).fill('tool');
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await server?.close();
    await browser?.close();
  });

  it(`keeps ${hostileTexts.length} hostile codes and errors as text, and links to http only`, async () => {
    const dialog = tab.page.getByRole('dialog');
    for (const each of hostileTexts) {
      text = each;
      isPending = true;
      await dialog.getByRole('button', { name: /^Start/ }).click();
      await Promise.race([dialog.getByRole('status').waitFor(), dialog.getByRole('alert').waitFor()]);
      for (const link of await dialog.getByRole('link').all())
        expect(await link.getAttribute('href')).toMatch(/^https?:/);
      isPending = false;
      await dialog.getByRole('alert').waitFor();
      expect(await dialog.locator('img, iframe, script, object, embed, svg, math').count()).toBe(0);
    }
    expect(await tab.page.evaluate('globalThis.wasAttacked')).toBeUndefined();
    expect(tab.foreignRequests).toEqual([]);
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
      expect(await accessibilityViolations(tab.page)).toEqual([]);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await tab.page.evaluate(overflow)).toBeLessThanOrEqual(0);
    });
});
