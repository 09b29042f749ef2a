import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { accessibilityViolations } from './accessibility.ts';
import { hostileTexts } from './hostile-texts.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();

/** An archive whose texts are all hostile. */
function hostileArchive(): string {
  const entries = hostileTexts.map((text, index) => ({
    startedDateTime: new Date(1_780_000_000_000 + index).toISOString(),
    time: 1,
    _exchange: { from: text, to: text, end: text },
    request: {
      method: 'POST',
      url: `http://agent.example/${encodeURIComponent(text)}`,
      httpVersion: text.slice(0, 90),
      cookies: [{ name: text, value: text }],
      headers: [{ name: text, value: text }],
      queryString: [{ name: text, value: text }],
      postData: { mimeType: text, text },
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status: 200,
      statusText: text,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [{ name: text, value: text }],
      content: { size: 1, mimeType: index % 2 === 0 ? 'text/event-stream' : text, text: `data: ${text}\n\n` },
      redirectURL: text,
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: 1, receive: 0 },
  }));
  return JSON.stringify({ log: { version: '1.2', creator: { name: 'x', version: '1' }, entries } });
}

describe.skipIf(!browser)('HTTP archives', () => {
  const agent = defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
  let folder: string;
  let served: RunningServer;
  let running: RunningConsole;
  let tab: Tab;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dragoman-har-'));
    served = await serve(agent);
    running = await serveConsole({ agents: [{ url: served.url }] });
    tab = await Tab.at(browser as Browser, `${running.url}#traffic`);
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await served?.stop(0);
    await agent.close();
    await rm(folder, { recursive: true });
    await browser?.close();
  });

  it('is read by another program: Chromium gets its responses from an exported archive', async () => {
    const page = new ConsolePage(running);
    const [{ id }] = await page.requestJson('agents');
    await page.collect(`agents/${id}/messages`, { parts: [{ text: 'from the archive' }] });
    const [, ...lines] = (await (await page.request('traffic/file')).text()).trim().split('\n');
    const body = JSON.stringify({ records: lines.map((line) => JSON.parse(line)) });
    const har = await (await page.request('traffic/har', { method: 'POST', body })).text();
    const file = join(folder, 'traffic.har');
    await writeFile(file, har);
    const { log } = JSON.parse(har);
    const sent = log.entries.find(({ request }: any) => request.postData?.text.includes('from the archive'));
    const context = await (browser as Browser).newContext();
    try {
      await context.routeFromHAR(file, { notFound: 'abort' });
      const foreign = await context.newPage();
      // The page of the same origin comes from the archive too.
      await foreign.goto(log.entries.find(({ request }: any) => request.method === 'GET').request.url);
      const text = await foreign.evaluate(
        async ([url, text]) => (await fetch(url as string, { method: 'POST', body: text })).text(),
        [sent.request.url, sent.request.postData.text],
      );
      expect(text).toContain('from the archive');
      expect(text).toContain('TASK_STATE_COMPLETED');
    } finally {
      await context.close();
    }
  });

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const)
    it(`keeps ${hostileTexts.length} hostile texts of an archive as text, ${scheme} at ${width} pixels`, async () => {
      await tab.page.emulateMedia({ colorScheme: scheme });
      await tab.page.setViewportSize({ width, height: 800 });
      await tab.page.locator('input[type=file]').setInputFiles({
        name: '<img src=x onerror=globalThis.wasAttacked=1>.har',
        mimeType: 'application/json',
        buffer: Buffer.from(hostileArchive()),
      });
      await tab.page.getByText('not live traffic').waitFor();
      const rows = tab.page.getByRole('listbox', { name: 'Timeline' });
      await rows.getByRole('option').first().waitFor();
      await rows.focus();
      await tab.page.keyboard.press('Home');
      await tab.page.keyboard.press('Enter');
      await tab.page.getByRole('region', { name: /^Record/ }).waitFor();
      for (let step = 0; step < 60; step++) await tab.page.keyboard.press('ArrowDown');
      expect(await accessibilityViolations(tab.page)).toEqual([]);
      expect(await tab.page.evaluate('globalThis.wasAttacked')).toBeUndefined();
      const elements = 'img:not([src="icon.svg"]), iframe, script:not([src]), object, embed, svg a, math';
      expect(await tab.page.getByRole('main').locator(elements).count()).toBe(0);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await tab.page.evaluate(overflow)).toBeLessThanOrEqual(0);
    });

  it('shows why a file is no archive', async () => {
    await tab.page.setViewportSize({ width: 1280, height: 800 });
    await tab.page.locator('input[type=file]').setInputFiles({
      name: 'broken.har',
      mimeType: 'application/json',
      buffer: Buffer.from('{"log": {"version": "1.2"}}'),
    });
    await tab.page.getByRole('alert').getByText('Not an HTTP archive (HAR 1.2): log.creator').waitFor();
  });
});
