import { readFile } from 'node:fs/promises';
import type { Browser, Download } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPrompts } from '../../src/conformance/prompts/read-prompts.ts';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { accessibilityViolations } from './accessibility.ts';
import { hostileTexts, shownHostileTexts } from './hostile-texts.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();

describe.skipIf(!browser)('conformance view', () => {
  /** Set by a test: the agent then violates rules about its answers. */
  let isBroken = false;
  /** Until it resolves, the agent answers only a few messages. */
  let resumed = Promise.resolve();
  let messages = 0;
  const agent = defineAgent({
    name: 'Asker',
    description: 'Asks',
    skills: [{ id: 'talk', name: 'Talk', description: 'Talks', tags: ['talk'], examples: ['hi'] }],
    async *process({ text, ask }) {
      if (++messages > 30) await resumed;
      if (text === 'please ask') await ask('Which?');
      if (isBroken) throw new Error('broken');
      yield { artifact: { artifactId: 'a', parts: [{ text }] } };
    },
  });
  const hostile = hostileTexts[0] ?? '';
  const villain = defineAgent({
    name: hostile,
    description: hostile,
    skills: [
      {
        id: hostile,
        name: hostile,
        description: hostile,
        tags: [hostile],
        examples: hostileTexts.slice(0, 20),
      },
    ],
    process: ({ text }) => text,
  });
  let servers: RunningServer[];
  let running: RunningConsole;
  let tab: Tab;

  beforeAll(async () => {
    servers = [await serve(agent), await serve(villain)];
    running = await serveConsole({ agents: servers.map(({ url }) => ({ url })) });
    tab = await Tab.at(browser as Browser, running.url);
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await Promise.all((servers ?? []).map((each) => each.stop(0)));
    await Promise.all([agent.close(), villain.close()]);
    await browser?.close();
  });

  const verdict = () => tab.page.getByRole('region', { name: 'Verdict' });
  const results = () => tab.page.getByRole('listbox', { name: 'Results' });
  const editor = () => tab.page.getByRole('dialog', { name: /^Messages for/ });

  async function runTests(): Promise<void> {
    await tab.page.getByRole('button', { name: 'Run tests' }).click();
    await tab.page.getByRole('region', { name: 'Progress' }).waitFor();
    await tab.page.getByRole('region', { name: 'Progress' }).waitFor({ state: 'detached', timeout: 100_000 });
    await verdict().waitFor();
  }

  async function contentOf(downloading: Promise<Download>): Promise<string> {
    return readFile(await (await downloading).path(), 'utf8');
  }

  it('shows each rule while it runs, continues after a reload, and cancels', async () => {
    let resume = (): void => undefined;
    resumed = new Promise((resolve) => {
      resume = resolve;
    });
    await tab.show('Conformance');
    await tab.page.getByRole('button', { name: 'Run tests' }).click();
    await tab.page.getByRole('listbox', { name: 'Ended checks' }).getByRole('option').first().waitFor();
    await tab.page.reload();
    await tab.page
      .getByRole('region', { name: 'Progress' })
      .getByText(/\d+ of \d+ checks/)
      .waitFor();
    await tab.page.getByRole('button', { name: 'Cancel' }).click();
    await tab.page.getByRole('button', { name: 'Run tests' }).waitFor();
    resume();
    expect(await verdict().count()).toBe(0);
  });

  it('finds results by level, verdict, requirement and text', { timeout: 180_000 }, async () => {
    await tab.page.getByRole('combobox', { name: 'Rules' }).selectOption({ label: 'MUST and SHOULD' });
    await runTests();
    const shown = tab.page.getByRole('search', { name: 'Filter results' }).getByRole('status');
    const [, total = ''] = /of (\d+)/.exec(await shown.innerText()) ?? [];
    await tab.page.getByRole('combobox', { name: 'Level' }).selectOption('SHOULD');
    await expect.poll(() => shown.innerText()).not.toBe(`${total} of ${total}`);
    await tab.page.getByRole('combobox', { name: 'Level' }).selectOption('');
    await tab.page.getByRole('searchbox', { name: 'Search' }).fill('CORE-SEND-001');
    await tab.page.getByRole('searchbox', { name: 'Search' }).fill('input-required');
    await results().getByRole('option').first().click();
    await tab.page.getByRole('searchbox', { name: 'Search' }).fill('');
  });

  it('saves a message for a state, uses it in the repeated rule, and writes the file of the command', async () => {
    await tab.page
      .getByRole('group', { name: 'Show only' })
      .getByRole('button', { name: /inconclusive/ })
      .click();
    await tab.page.getByRole('searchbox', { name: 'Search' }).fill('state "input-required"');
    await results().getByRole('option').first().click();
    const detail = tab.page.getByRole('region', { name: /^Result / });
    await detail.getByText('under Messages, input-required').first().waitFor();
    // Nothing is broken, so that nothing must be fixed.
    expect(await detail.getByRole('term').allInnerTexts()).not.toContain('Fix');
    await detail.getByRole('button', { name: 'Enter message for input-required' }).click();
    const field = editor().getByRole('textbox', { name: /^input-required/ });
    await field.fill('please ask');
    await editor().getByRole('button', { name: 'Try input-required' }).click();
    await editor().getByRole('status').filter({ hasText: 'input-required' }).waitFor();
    const downloading = tab.page.waitForEvent('download');
    await editor().getByRole('button', { name: 'Save as file' }).click();
    expect(readPrompts(await contentOf(downloading), 'prompts.yaml')).toEqual({
      'input-required': { text: 'please ask' },
    });
    await editor().getByRole('button', { name: 'Save', exact: true }).click();
    await tab.page.getByRole('button', { name: 'Messages (1)' }).waitFor();
    await tab.page
      .getByRole('group', { name: 'Show only' })
      .getByRole('button', { name: /inconclusive/ })
      .click();
    await detail.getByRole('button', { name: 'Run this rule again' }).click();
    await detail.getByText('holds', { exact: true }).waitFor();
    await tab.page.reload();
    await tab.page.getByRole('button', { name: 'Messages (1)' }).waitFor();
    await verdict().waitFor();
  });

  it('compares with the run before and with an uploaded report', { timeout: 240_000 }, async () => {
    const downloading = tab.page.waitForEvent('download');
    await tab.page.getByRole('button', { name: 'Save JSON' }).click();
    const earlier = await contentOf(downloading);
    isBroken = true;
    await runTests();
    isBroken = false;
    const status = tab.page.getByRole('group', { name: 'Comparison' }).getByRole('status');
    await status.filter({ hasText: /^[1-9]\d* new violations?, 0 fixed/ }).waitFor();
    await tab.page.getByRole('combobox', { name: 'Changes' }).selectOption('regression');
    await results().getByText('new violation').first().waitFor();
    await tab.page.getByRole('combobox', { name: 'Compare with' }).selectOption({ label: 'nothing' });
    await status.waitFor({ state: 'detached' });
    const file = { name: 'before.json', mimeType: 'application/json', buffer: Buffer.from(earlier) };
    await tab.page.getByLabel('Upload report').setInputFiles(file);
    await status.filter({ hasText: /^[1-9]\d* new violations?, 0 fixed/ }).waitFor();
    await tab.page.getByLabel('Upload report').setInputFiles({ ...file, buffer: Buffer.from('{"a":1}') });
    await tab.page.getByRole('alert').getByText('The file is not a JSON report').waitFor();
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
      await tab.page.getByRole('combobox', { name: 'Changes' }).selectOption('');
      await results().getByRole('option').first().click();
      expect(await accessibilityViolations(tab.page)).toEqual([]);
      await tab.page.getByRole('button', { name: /^Messages/ }).click();
      await editor().waitFor();
      expect(await accessibilityViolations(tab.page)).toEqual([]);
      await editor().getByRole('button', { name: 'Close' }).click();
      await tab.page.getByRole('button', { name: /^More options/ }).click();
      const options = tab.page.getByRole('dialog', { name: 'More options' });
      await options.waitFor();
      expect(await accessibilityViolations(tab.page)).toEqual([]);
      await options.getByRole('button', { name: 'Close' }).click();
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await tab.page.evaluate(overflow)).toBeLessThanOrEqual(0);
    });

  it(`keeps ${hostileTexts.length} hostile texts as text`, { timeout: 300_000 }, async () => {
    await tab.page.setViewportSize({ width: 1280, height: 800 });
    await tab.choose(servers[1]?.url ?? '');
    await tab.show('Conformance');
    for (const texts of [
      hostileTexts.slice(0, 10),
      hostileTexts.slice(10, 20),
      hostileTexts.slice(20, 30),
      hostileTexts.slice(30, 40),
      hostileTexts.slice(-10),
    ]) {
      await tab.page.getByRole('button', { name: /^Messages/ }).click();
      const fields = editor().getByRole('textbox');
      for (const [at, text] of texts.entries()) await fields.nth(at).fill(text);
      await editor().getByRole('button', { name: 'Save', exact: true }).click();
      await editor().waitFor({ state: 'detached' });
    }
    await runTests();
    await tab.page.getByRole('searchbox', { name: 'Search' }).fill('skill');
    await results().getByRole('option').first().click();
    const report = {
      agentName: hostile,
      testDate: hostile,
      conformanceLevel: 'full',
      categories: {
        lifecycle: hostileTexts.map((test) => ({ test, status: 'pass', verdict: 'pass', version: '1.0' })),
      },
    };
    const buffer = Buffer.from(JSON.stringify(report));
    await tab.page
      .getByLabel('Upload report')
      .setInputFiles({ name: 'x.json', mimeType: 'application/json', buffer });
    await tab.page.getByText(`${hostileTexts.length} rules only in the earlier report`).click();
    const shown = await tab.page
      .getByRole('group', { name: 'Comparison' })
      .locator('li code')
      .allTextContents();
    expect(shown).toEqual(shownHostileTexts);
    expect(await tab.page.evaluate('globalThis.wasAttacked')).toBeUndefined();
    const elements = 'img:not([src="icon.svg"]), iframe, script:not([src]), object, embed, svg a, math';
    expect(await tab.page.getByRole('main').locator(elements).count()).toBe(0);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await tab.page.evaluate(overflow)).toBeLessThanOrEqual(0);
  });

  it('requests only its own server and logs no errors', () => {
    expect(tab.foreignRequests).toEqual([]);
    // The rejected file.
    expect(tab.pageErrors.filter((text) => !text.includes('400'))).toEqual([]);
  });
});
