import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { artifact, status } from '../../src/engine/agent-output.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { writeTrafficFile } from '../../src/tap/index.ts';
import type { TrafficRecord } from '../../src/tap/traffic-record.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { UpConsole } from './page.ts';

const browser: Browser | undefined = await launchChromium();
const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><b>bold</b>';

/** An agent whose output contains markup and scripts everywhere. */
const villain = defineAgent({
  name: `Villain ${hostile}`,
  description: hostile,
  skills: [{ id: 'x', name: hostile, description: hostile, tags: [hostile], examples: [hostile] }],
  documentationUrl: 'javascript:window.pwned=1',
  async *process({ text }) {
    yield status('working', `${hostile} ${text}`);
    yield artifact([{ text: hostile, mediaType: 'text/html', filename: hostile }], { name: hostile });
    yield artifact([{ url: 'javascript:window.pwned=1', filename: 'click me' }], { name: 'link' });
    yield artifact([{ data: { [hostile]: hostile } }], { name: 'data' });
    yield artifact([{ text: `a,b\n${hostile},=1+1`, mediaType: 'text/csv' }], { name: 'table.csv' });
    yield status('completed', hostile);
  },
});

describe.skipIf(!browser)('console page', () => {
  let upConsole: UpConsole;
  let villainAt: RunningServer;
  beforeAll(async () => {
    [upConsole, villainAt] = await Promise.all([UpConsole.open(browser as Browser), serve(villain)]);
  });
  afterAll(async () => {
    await upConsole?.close();
    await villainAt?.stop(0);
    await browser?.close();
  });

  const urlOf = (name: string): string => {
    const found = upConsole.info.agents.find((each) => each.name === name);
    if (!found) throw new Error(`Unknown agent: ${name}`);
    return found.url;
  };

  it('removes the token from the URL and keeps it for the tab', async () => {
    expect(upConsole.page.url()).not.toContain('token');
    await upConsole.page.reload();
    await upConsole.page
      .getByRole('link', { name: /^Caravan/ })
      .first()
      .waitFor();
  });

  it('shows the cards of every version side by side', async () => {
    await upConsole.choose(urlOf('caravan'));
    for (const version of ['1.0', '0.3', '0.1'])
      await upConsole.page.getByRole('article', { name: `Card of version ${version}` }).waitFor();
  });

  it('distinguishes agents of one name by their URL', async () => {
    await upConsole.show('Chat');
    const names = await upConsole.page
      .getByRole('combobox', { name: 'Agent' })
      .getByRole('option')
      .allInnerTexts();
    expect(names).toHaveLength(new Set(names).size);
    expect(names).toContainEqual(expect.stringMatching(/^:\d+\/agents\/caravan · Caravan$/));
  });

  it('adds an agent by its host', async () => {
    await upConsole.add(new URL(villainAt.url).host);
    await upConsole.page.getByRole('article', { name: 'Card of version 1.0' }).waitFor();
  });

  it('streams through the gateway from a 0.1 agent', async () => {
    await upConsole.choose(urlOf('caravan'));
    await upConsole.show('Chat');
    await upConsole.say('timetable', 'completed');
    const transcript = upConsole.page.getByRole('log', { name: 'Conversation' });
    for (const line of ['06:00 Samarkand', '16:00 Palmyra']) await transcript.getByText(line).waitFor();
    await transcript.getByText('Bring water').waitFor();
  });

  it('replies to a question and downloads the artifact', async () => {
    await upConsole.page.getByRole('button', { name: 'New conversation' }).click();
    await upConsole.say('book Samarkand', 'input-required');
    await upConsole.page.getByText('Which day shall the caravan to Samarkand leave?').first().waitFor();
    await upConsole.say('Friday', 'completed');
    const downloading = upConsole.page.waitForEvent('download');
    await upConsole.page
      .getByRole('button', { name: /^Download/ })
      .last()
      .click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('ticket.json');
    const ticket: unknown = JSON.parse(await readFile(await download.path(), 'utf8'));
    expect(ticket).toMatchObject({ to: 'Samarkand', day: 'Friday' });
  });

  it('cancels an interrupted task', async () => {
    await upConsole.page.getByRole('button', { name: 'New conversation' }).click();
    await upConsole.say('book Isfahan', 'input-required');
    await upConsole.page.getByRole('button', { name: 'Cancel task' }).click();
    await upConsole.page.getByRole('complementary').getByText('canceled').first().waitFor();
  });

  it('shows both sides of a translation, raw and decoded', async () => {
    await upConsole.show('Traffic');
    const rows = upConsole.page.getByRole('listbox', { name: 'Timeline' });
    await upConsole.page.getByRole('searchbox', { name: 'Search' }).fill('Bring water');
    // The filter is debounced: wait until it applies, because rows move then.
    await upConsole.page.getByRole('button', { name: 'Show all' }).waitFor();
    const inner = rows.getByRole('option', { name: /caravan to gateway, stream event .*version 0\.1/ });
    const outer = rows.getByRole('option', { name: /gateway to .*, stream event .*version 1\.0/ });
    await Promise.all([inner.first().waitFor(), outer.first().waitFor()]);
    await inner.first().click();
    const detail = upConsole.page.getByRole('region', { name: /^Record/ });
    const pair = detail.getByRole('table', { name: 'Translation' }).getByRole('row');
    await pair.filter({ hasText: /state: "completed".*state: "TASK_STATE_COMPLETED"/ }).waitFor();
    await pair.filter({ hasText: /caravan → gateway 0\.1.*gateway → .* 1\.0/ }).waitFor();
    await detail.getByRole('tab', { name: 'Raw and decoded' }).click();
    const raw = detail.getByRole('region', { name: 'Raw' });
    await raw.getByText(/"final": true/).waitFor();
    await detail.getByRole('region', { name: 'Decoded' }).getByText('"completed"').first().waitFor();
    await detail.getByRole('button', { name: /^Counterpart/ }).click();
    await raw.getByText(/TASK_STATE_COMPLETED/).waitFor();
  });

  it('supports keyboard navigation in the timeline', async () => {
    const rows = upConsole.page.getByRole('listbox', { name: 'Timeline' });
    await upConsole.page.getByRole('searchbox', { name: 'Search' }).fill('');
    await upConsole.page.getByRole('button', { name: 'Show all' }).waitFor({ state: 'detached' });
    await rows.focus();
    await upConsole.page.keyboard.press('Home');
    await upConsole.page.keyboard.press('ArrowDown');
    await upConsole.page.keyboard.press('Enter');
    await upConsole.page.getByRole('region', { name: /^Record/ }).waitFor();
    await rows.getByRole('option', { selected: true }).waitFor();
    await upConsole.page.keyboard.press('Escape');
    await upConsole.page.getByRole('region', { name: /^Record/ }).waitFor({ state: 'detached' });
  });

  it('exports filtered records as a scenario', async () => {
    await upConsole.page.getByRole('searchbox', { name: 'Search' }).fill('timetable');
    await upConsole.page.getByRole('button', { name: 'Show all' }).waitFor();
    const downloading = upConsole.page.waitForEvent('download');
    await upConsole.page.getByRole('button', { name: 'Save as scenario' }).click();
    const text = await readFile(await (await downloading).path(), 'utf8');
    expect(parse(text)).toBeTruthy();
    expect(text).toContain('timetable');
    await upConsole.page.getByRole('searchbox', { name: 'Search' }).fill('');
  });

  it('renders a file of 12,000 records with few elements', async () => {
    await upConsole.show('Traffic');
    const choosing = upConsole.page.waitForEvent('filechooser');
    await upConsole.page.getByRole('button', { name: 'Import' }).click();
    await (await choosing).setFiles({
      name: 'long.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from(writeTrafficFile(longRecording(12_000))),
    });
    await upConsole.page.getByText(/12,?000 records/).waitFor();
    const rows = upConsole.page.getByRole('listbox', { name: 'Timeline' });
    expect(await rows.getByRole('option').count()).toBeLessThan(120);
    await rows.focus();
    await upConsole.page.keyboard.press('End');
    await rows.getByRole('option', { name: /event 11999/ }).waitFor();
    await upConsole.page.keyboard.press('Home');
    await rows.getByRole('option', { name: /event 0\b/ }).waitFor();
  });

  it('lists tasks and opens one with its artifacts', async () => {
    await upConsole.choose(urlOf('interpreter'));
    await upConsole.show('Chat');
    await upConsole.say('phrasebook Italian', 'completed');
    await upConsole.show('Tasks');
    // Checks of the card start tasks too; on a slow machine they are newer.
    await upConsole.page
      .getByRole('row')
      .filter({ hasText: 'phrasebook Italian' })
      .getByRole('link', { name: /^[0-9a-f-]{8}/ })
      .click();
    await upConsole.page.getByRole('cell', { name: 'buongiorno' }).first().waitFor();
  });

  it('renders hostile agent output as text', async () => {
    await upConsole.choose(villainAt.url);
    await upConsole.page.getByText(hostile).first().waitFor();
    await upConsole.show('Chat');
    await upConsole.say(hostile, 'completed');
    await upConsole.page.getByRole('log').getByText(hostile).first().waitFor();
    await upConsole.show('Tasks');
    await upConsole.show('Traffic');
    await upConsole.page.goBack();
    const links = await upConsole.page
      .locator('a[href^="javascript:" i], iframe:not([sandbox]), img[src="x"]')
      .count();
    expect(links).toBe(0);
    expect(await upConsole.page.evaluate('window.pwned')).toBeUndefined();
  });

  it('runs conformance tests and downloads the report', { timeout: 180_000 }, async () => {
    await upConsole.choose(urlOf('interpreter'));
    await upConsole.show('Conformance');
    await upConsole.page.getByRole('combobox', { name: 'Rules' }).selectOption({ label: 'MUST only' });
    await upConsole.page.getByRole('button', { name: 'Run tests' }).click();
    await upConsole.page.getByRole('progressbar').first().waitFor();
    await upConsole.page
      .getByText(/non-conformant|full|partial|minimal/i)
      .first()
      .waitFor({ timeout: 150_000 });
    const downloading = upConsole.page.waitForEvent('download');
    await upConsole.page.getByRole('button', { name: /JSON/ }).click();
    const report: unknown = JSON.parse(await readFile(await (await downloading).path(), 'utf8'));
    expect(report).toMatchObject({ conformanceLevel: 'partial', summary: { failed: 0, errors: 0 } });
    await upConsole.show('Tasks');
    await upConsole.page.getByText(/tests hidden|tests and load runs are hidden/).waitFor();
  });

  it('shows the load in charts', async () => {
    await upConsole.show('Load');
    // Samples from before the view was opened are included.
    await upConsole.page
      .getByRole('img', { name: /Requests per second.*requests: now \d+, maximum [1-9]/ })
      .waitFor();
  });

  it('fits a viewport of 390 pixels', async () => {
    await upConsole.page.setViewportSize({ width: 390, height: 800 });
    for (const view of ['Agents', 'Catalog', 'Chat', 'Traffic', 'Tasks', 'Conformance', 'Load']) {
      await upConsole.show(view);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await upConsole.page.evaluate(overflow), view).toBeLessThanOrEqual(0);
    }
  });

  it('requests only its own server and logs no errors', () => {
    expect(upConsole.foreignRequests).toEqual([]);
    expect(upConsole.pageErrors).toEqual([]);
  });

  it('shows instructions without a token', async () => {
    const context = await (browser as Browser).newContext();
    const page = await context.newPage();
    await page.goto(new URL(upConsole.info.console).origin);
    await page.getByText(/token/i).first().waitFor();
    await context.close();
  });
});

/** Creates a traffic recording of the given length. */
function longRecording(count: number): TrafficRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    sequence: i + 1,
    at: 1_790_000_000_000 + i,
    exchangeId: `t${Math.floor(i / 100)}`,
    kind: 'frame' as const,
    from: i % 2 === 0 ? 'agent' : 'gateway',
    to: i % 2 === 0 ? 'gateway' : 'client',
    text: `{"event":${i}}`,
    decoded: { version: '1.0' as const, transport: 'JSONRPC' as const, summary: `event ${i}` },
  }));
}
