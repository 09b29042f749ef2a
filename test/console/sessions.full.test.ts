import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
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
import { hostileTexts, shownHostileTexts } from './hostile-texts.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();

describe.skipIf(!browser)('kept conversations, recordings and reports', () => {
  const agent = defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
  const token = 'token-of-the-console';
  let folder: string;
  let served: RunningServer;
  let running: RunningConsole;
  let tab: Tab;
  const startConsole = (port = 0) =>
    serveConsole({ agents: [{ url: served.url }], sessions: folder, token, port });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dragoman-sessions-'));
    // Files of another program, and damaged ones.
    for (const each of ['conversations', 'recordings', 'reports'])
      mkdirSync(join(folder, '1', each), { recursive: true });
    writeFileSync(join(folder, '1', 'conversations', `<img src=x onerror=globalThis.wasAttacked=1>`), 'x');
    writeFileSync(join(folder, '1', 'reports', 'damaged.json'), '{');
    served = await serve(agent);
    running = await startConsole();
    const page = new ConsolePage(running);
    const [{ id }] = await page.requestJson('agents');
    for (const [index, text] of hostileTexts.entries()) {
      const conversation = { id: `c${index}`, turn: 't' };
      await page.collect(`agents/${id}/messages`, { parts: [{ text }], conversation });
      await page.requestJson(`conversations/c${index}`, { name: text });
      const file = `{"format":"dragoman-tap","version":1}\n`;
      await page.request(`traffic/file?name=${encodeURIComponent(text)}`, { method: 'POST', body: file });
    }
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

  async function open(view: 'Chat' | 'Traffic'): Promise<void> {
    await tab.page.keyboard.press('Escape');
    await tab.show(view);
    if (view === 'Traffic' && (await tab.page.getByRole('button', { name: 'More', exact: true }).isVisible()))
      await tab.page.getByRole('button', { name: 'More', exact: true }).click();
    const name = view === 'Chat' ? 'Manage conversations' : 'Recordings';
    await tab.page.getByRole('button', { name }).filter({ visible: true }).click();
    await tab.page.getByRole('dialog').getByRole('listitem').first().waitFor();
  }

  for (const [view, count] of [
    ['Chat', hostileTexts.length],
    ['Traffic', hostileTexts.length + 1],
  ] as const)
    it(`keeps ${hostileTexts.length} hostile names as text in ${view}`, async () => {
      await open(view);
      const rows = tab.page.getByRole('dialog').getByRole('listitem');
      await expect.poll(() => rows.count()).toBe(count);
      const shown = await rows.locator('.kept-name').allTextContents();
      for (const text of shownHostileTexts) expect(shown).toContain(text);
      await tab.page.getByRole('dialog').getByText('is damaged and not shown').first().waitFor();
      expect(await tab.page.evaluate('globalThis.wasAttacked')).toBeUndefined();
      const elements = 'img, iframe, script, object, embed, svg, math, a';
      expect(await tab.page.getByRole('dialog').locator(elements).count()).toBe(0);
    });

  it('shows hostile titles with visible control characters in the list beside the chat', async () => {
    await tab.page.keyboard.press('Escape');
    await tab.show('Chat');
    const list = tab.page.getByRole('complementary');
    await list.getByText('a[U+202E]txt.exe').first().waitFor();
    const shown = await list
      .locator('*')
      .evaluateAll((elements: any[]) =>
        elements.map((each) => [each.textContent, each.title, each.ariaLabel].join(' ')).join(' '),
      );
    for (const invisible of ['\u202E', '\u001B']) expect(shown).not.toContain(invisible);
    expect(shown).toContain('[U+001B][31mred');
  });

  it('shows the report of the newest run and the damaged files after a restart', {
    timeout: 240_000,
  }, async () => {
    const page = new ConsolePage(running);
    const [{ id }] = await page.requestJson('agents');
    await page.requestJson('conformance/run', { agentId: id, level: 'MUST' });
    for await (const event of page.stream('conformance/run')) if (event.kind === 'report') break;
    const port = Number(new URL(running.origin).port);
    await running.stop();
    running = await startConsole(port);
    await tab.page.reload();
    await tab.show('Conformance');
    const verdict = tab.page.getByRole('region', { name: 'Verdict' });
    await verdict.getByText('Echo').waitFor();
    const [{ level }] = await new ConsolePage(running).requestJson('conformance/reports');
    await verdict.getByRole('heading', { name: level, exact: true }).waitFor();
    await tab.page.getByText('notes about kept files').click();
    await tab.page.getByText('reports/damaged.json is damaged and not shown').waitFor();
    expect(await accessibilityViolations(tab.page)).toEqual([]);
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
      for (const view of ['Chat', 'Traffic'] as const) {
        await open(view);
        await tab.page
          .getByRole('button', { name: /^Rename / })
          .first()
          .click();
        await tab.page.getByRole('button', { name: 'Clear all' }).click();
        expect(await accessibilityViolations(tab.page)).toEqual([]);
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect(await tab.page.evaluate(overflow)).toBeLessThanOrEqual(0);
        const inner =
          'document.querySelector("dialog[open]").scrollWidth - document.querySelector("dialog[open]").clientWidth';
        expect(await tab.page.evaluate(inner)).toBeLessThanOrEqual(0);
      }
    });

  it('requests only its own server and logs no errors', () => {
    expect(tab.foreignRequests).toEqual([]);
    expect(tab.pageErrors).toEqual([]);
  });
});
