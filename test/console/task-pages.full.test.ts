import type { Browser } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { bearer } from '../../src/client/credentials.ts';
import { serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { bearerAuth } from '../../src/server/auth/index.ts';
import { serve } from '../../src/server/node/serve.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();
const token = 'a-secret-of-the-agent';
afterAll(() => browser?.close());

describe.skipIf(!browser)('pages of tasks', () => {
  it('turns one page, also if Next is clicked again before the page is there', async () => {
    await using agent = defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
    // A client of another test, whose server had this port before, must not add a task.
    await using server = await serve(agent, {
      auth: { authenticators: [bearerAuth({ tokens: { [token]: 'me' } })] },
    });
    await using client = connect(server.url, { auth: bearer(token) });
    for (let n = 0; n < 60; n++) await client.send(`task ${n}`);
    await using console = await serveConsole({
      agents: [{ url: server.url, credentials: { kind: 'bearer', token } }],
    });
    const tab = await Tab.at(browser as Browser, console.url);
    const { page } = tab;
    await tab.show('Tasks');
    const links = page.getByRole('table').getByRole('link');
    const next = page.getByRole('button', { name: 'Next' });
    const previous = page.getByRole('button', { name: 'Previous' });
    await next.waitFor();
    const first = await links.allInnerTexts();
    await next.evaluate((button: { click(): void }) => {
      button.click();
      button.click();
    });
    await page.getByText('Page 2, 60 tasks in total').waitFor();
    await expect.poll(() => links.allInnerTexts()).not.toEqual(first);
    await previous.click();
    await expect.poll(() => links.allInnerTexts()).toEqual(first);
    expect(await previous.isDisabled()).toBe(true);
    await tab.close();
  });
});
