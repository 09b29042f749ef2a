import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { launchChromium } from '../support/console/chromium.ts';
import type { RawServer } from '../support/http/raw-server.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../support/oauth/authorization-server.ts';
import { startOAuthAgent } from '../support/oauth/oauth-agent.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();

describe.skipIf(!browser)('login in the page', () => {
  let server: AuthorizationServer;
  let agent: RawServer;
  let running: RunningConsole;
  let tab: Tab;
  beforeAll(async () => {
    server = await startAuthorizationServer();
    agent = await startOAuthAgent(server);
    running = await serveConsole({ agents: [{ url: agent.url }] });
    tab = await Tab.at(browser as Browser, running.url);
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await Promise.all([agent?.close(), server?.close()]);
    await browser?.close();
  });

  it('opens the authorization server in another window and closes the dialog after the approval', async () => {
    await tab.page.getByRole('button', { name: 'Log in' }).click();
    await tab.page.getByRole('textbox', { name: 'Client ID' }).fill('tool');
    const opening = tab.page.context().waitForEvent('page');
    await tab.page.getByRole('button', { name: 'Start' }).click();
    await tab.page.getByRole('dialog').getByRole('link').waitFor();
    await tab.page.getByRole('dialog').getByRole('link').click();
    await (await opening).getByText('You are logged in').waitFor();
    await tab.page.getByRole('dialog').waitFor({ state: 'hidden' });
    await tab.page.getByText('credentials set').waitFor();
    expect(tab.pageErrors).toEqual([]);
  });
});
