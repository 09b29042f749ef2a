import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { chunk } from '../../src/engine/agent-output.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { harSchema } from '../../src/tap/har/har-schema.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { createDeferred } from '../support/engine/conversation.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();

describe.skipIf(!browser)('console sessions in the page', () => {
  /** The page checks the agent as well, so that there may be several runs. */
  const secondWord = createDeferred();
  const agent = defineAgent({
    name: 'Slow',
    description: 'Waits between two words',
    async *process() {
      yield chunk('a', 'first ');
      await secondWord.promise;
      yield chunk('a', 'second', { append: true, lastChunk: true });
    },
  });
  const token = 'token-of-the-console';
  let folder: string;
  let served: RunningServer;
  let running: RunningConsole;
  let tab: Tab;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dragoman-sessions-'));
    served = await serve(agent);
    running = await serveConsole({ agents: [{ url: served.url }], sessions: folder, token });
    tab = await Tab.at(browser as Browser, `${running.url}#chat`);
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await served?.stop(0);
    await agent.close();
    await rm(folder, { recursive: true });
    await browser?.close();
  });

  const transcript = () => tab.page.getByRole('log', { name: 'Conversation' });
  const items = () => tab.page.getByRole('list', { name: 'Kept conversations' }).getByRole('listitem');

  it('continues a streamed answer after a reload', async () => {
    const box = tab.page.getByRole('textbox', { name: 'Message' });
    await box.fill('go');
    await box.press('Enter');
    await transcript().getByText('first').waitFor();
    await tab.page.reload();
    await transcript().getByText('first').waitFor();
    secondWord.resolve();
    await transcript().getByText('first second').waitFor();
    await transcript().getByText('completed').first().waitFor();
  });

  it('renames a conversation, and shows it and its recording after a restart', async () => {
    const manage = tab.page.getByRole('complementary').getByRole('button', { name: 'Manage conversations' });
    await manage.click();
    await items().getByRole('button', { name: 'Rename go' }).click();
    await items().getByRole('textbox', { name: 'Name' }).fill('Two words');
    await items().getByRole('button', { name: 'Save' }).click();
    await items().getByRole('button', { name: 'Delete Two words' }).waitFor();
    const port = Number(new URL(running.origin).port);
    await running.stop();
    running = await serveConsole({ agents: [{ url: served.url }], sessions: folder, token, port });
    await tab.page.reload();
    await tab.page.getByRole('complementary').getByRole('button', { name: 'Two words' }).waitFor();
    await transcript().getByText('first second').waitFor();
    await tab.show('Traffic');
    await tab.page.getByRole('button', { name: 'Recordings' }).click();
    await tab.page.getByRole('list', { name: 'Kept recordings' }).getByRole('button').first().click();
    await tab.page.getByText('not live traffic').waitFor();
    await tab.page.getByRole('listbox', { name: 'Timeline' }).getByRole('option').first().waitFor();
  });

  it('exports the shown traffic as an HTTP archive and imports it', async () => {
    const downloading = tab.page.waitForEvent('download');
    await tab.page.getByRole('button', { name: 'Export HAR' }).click();
    const file = await (await downloading).path();
    const { log } = harSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    expect(log.entries.some(({ response }) => response.content.mimeType === 'text/event-stream')).toBe(true);
    await tab.page.getByRole('button', { name: 'Back to live' }).click();
    await tab.page.locator('input[type=file]').setInputFiles({
      name: 'shared.har',
      mimeType: 'application/json',
      buffer: await readFile(file),
    });
    await tab.page.getByText('Showing the file shared.har').waitFor();
    const rows = tab.page.getByRole('listbox', { name: 'Timeline' });
    await rows
      .getByRole('option', { name: /stream event.*completed/ })
      .first()
      .waitFor();
  });

  it('deletes all conversations after a second question, while an earlier list is on its way', async () => {
    const [received, deleted] = [createDeferred(), createDeferred()];
    let first: Request | undefined;
    await tab.page.route('**/api/conversations', async (route) => {
      if (route.request().method() !== 'GET' || first) return route.continue();
      first = route.request();
      const response = await route.fetch();
      received.resolve();
      await deleted.promise;
      return route.fulfill({ response });
    });
    await tab.show('Chat');
    await received.promise;
    await tab.page.getByRole('complementary').getByRole('button', { name: 'Manage conversations' }).click();
    await tab.page.getByRole('button', { name: 'Clear all' }).click();
    await tab.page.getByRole('button', { name: 'Delete all conversations' }).click();
    await tab.page.getByText('No conversations yet.').waitFor();
    deleted.resolve();
    await (await first?.response())?.finished();
    await tab.page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    expect(await items().count()).toBe(0);
    expect(tab.pageErrors).toEqual([]);
  });
});
