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
import { problemsOf } from './accessibility.ts';
import { Stage } from './page.ts';

const browser: Browser | undefined = await launchChromium();
const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><b>bold</b>';

/** An agent whose every word tries to be more than text. */
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

describe.skipIf(!browser)('the console in a browser', () => {
  let stage: Stage;
  let villainAt: RunningServer;
  beforeAll(async () => {
    [stage, villainAt] = await Promise.all([Stage.open(browser as Browser), serve(villain)]);
  });
  afterAll(async () => {
    await stage?.close();
    await villainAt?.stop(0);
    await browser?.close();
  });

  const urlOf = (name: string): string => {
    const found = stage.told.agents.find((each) => each.name === name);
    if (!found) throw new Error(`There is no ${name}`);
    return found.url;
  };

  it('takes the token out of the address and keeps it for its tab', async () => {
    expect(stage.page.url()).not.toContain('token');
    await stage.page.reload();
    await stage.page
      .getByRole('link', { name: /^Caravan/ })
      .first()
      .waitFor();
  });

  it('shows the cards of every version side by side', async () => {
    await stage.choose(urlOf('caravan'));
    for (const version of ['1.0', '0.3', '0.1'])
      await stage.page.getByRole('article', { name: `Card of version ${version}` }).waitFor();
  });

  it('tells agents of one name apart by where they are', async () => {
    await stage.show('Chat');
    const names = await stage.page
      .getByRole('combobox', { name: 'Agent' })
      .getByRole('option')
      .allInnerTexts();
    expect(names).toHaveLength(new Set(names).size);
    expect(names).toContainEqual(expect.stringMatching(/^Caravan \(:\d+\/agents\/caravan\)$/));
  });

  it('connects to an agent by its URL', async () => {
    await stage.add(villainAt.url);
    await stage.page.getByRole('article', { name: 'Card of version 1.0' }).waitFor();
  });

  it('streams an answer through the gateway from an agent that speaks only 0.1', async () => {
    await stage.choose(urlOf('caravan'));
    await stage.show('Chat');
    await stage.say('timetable', 'completed');
    const said = stage.page.getByRole('log', { name: 'Conversation' });
    for (const line of ['06:00 Samarkand', '16:00 Palmyra']) await said.getByText(line).waitFor();
    await said.getByText('Bring water').waitFor();
  });

  it('answers a question of the agent, and saves what it made', async () => {
    await stage.page.getByRole('button', { name: 'New conversation' }).click();
    await stage.say('book Samarkand', 'input-required');
    await stage.page.getByText('Which day shall the caravan to Samarkand leave?').first().waitFor();
    await stage.say('Friday', 'completed');
    const downloading = stage.page.waitForEvent('download');
    await stage.page
      .getByRole('button', { name: /^Download/ })
      .last()
      .click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('ticket.json');
    const ticket: unknown = JSON.parse(await readFile(await download.path(), 'utf8'));
    expect(ticket).toMatchObject({ to: 'Samarkand', day: 'Friday' });
  });

  it('cancels a task that waits', async () => {
    await stage.page.getByRole('button', { name: 'New conversation' }).click();
    await stage.say('book Isfahan', 'input-required');
    await stage.page.getByRole('button', { name: 'Cancel task' }).click();
    await stage.page.getByRole('complementary').getByText('canceled').first().waitFor();
  });

  it('shows both sides of a translation on the wire, raw and decoded', async () => {
    await stage.show('Wire');
    const rows = stage.page.getByRole('listbox', { name: 'Timeline' });
    await stage.page.getByRole('searchbox', { name: 'Text to find' }).fill('Bring water');
    const inner = rows.getByRole('option', { name: /caravan to gateway, stream event .*version 0\.1/ });
    const outer = rows.getByRole('option', { name: /gateway to .*, stream event .*version 1\.0/ });
    await Promise.all([inner.first().waitFor(), outer.first().waitFor()]);
    await inner.first().click();
    const detail = stage.page.getByRole('region', { name: /^Passage/ });
    const raw = detail.getByRole('region', { name: 'Raw' });
    await raw.getByText(/"final": true/).waitFor();
    await detail.getByRole('region', { name: 'Decoded' }).getByText('"completed"').first().waitFor();
    await detail.getByRole('button', { name: /^Other side/ }).click();
    await raw.getByText(/TASK_STATE_COMPLETED/).waitFor();
  });

  it('goes through the timeline by keys alone', async () => {
    const rows = stage.page.getByRole('listbox', { name: 'Timeline' });
    await stage.page.getByRole('searchbox', { name: 'Text to find' }).fill('');
    await stage.page.getByRole('button', { name: 'Show all' }).waitFor({ state: 'detached' });
    await rows.focus();
    await stage.page.keyboard.press('Home');
    await stage.page.keyboard.press('ArrowDown');
    await stage.page.keyboard.press('Enter');
    await stage.page.getByRole('region', { name: /^Passage/ }).waitFor();
    await rows.getByRole('option', { selected: true }).waitFor();
    await stage.page.keyboard.press('Escape');
    await stage.page.getByRole('region', { name: /^Passage/ }).waitFor({ state: 'detached' });
  });

  it('makes a scenario of what passed', async () => {
    await stage.page.getByRole('searchbox', { name: 'Text to find' }).fill('timetable');
    const downloading = stage.page.waitForEvent('download');
    await stage.page.getByRole('button', { name: 'Save as scenario' }).click();
    const text = await readFile(await (await downloading).path(), 'utf8');
    expect(parse(text)).toBeTruthy();
    expect(text).toContain('timetable');
    await stage.page.getByRole('searchbox', { name: 'Text to find' }).fill('');
  });

  it('shows a file of more than 10,000 passages with few elements', async () => {
    await stage.show('Wire');
    const choosing = stage.page.waitForEvent('filechooser');
    await stage.page.getByRole('button', { name: 'Import' }).click();
    await (await choosing).setFiles({
      name: 'long.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from(writeTrafficFile(longStory(12_000))),
    });
    await stage.page.getByText(/12,?000 passages/).waitFor();
    const rows = stage.page.getByRole('listbox', { name: 'Timeline' });
    expect(await rows.getByRole('option').count()).toBeLessThan(120);
    await rows.focus();
    await stage.page.keyboard.press('End');
    await rows.getByRole('option', { name: /event 11999/ }).waitFor();
    await stage.page.keyboard.press('Home');
    await rows.getByRole('option', { name: /event 0\b/ }).waitFor();
  });

  it('lists tasks, and opens one with its artifacts', async () => {
    await stage.choose(urlOf('interpreter'));
    await stage.show('Chat');
    await stage.say('phrasebook Italian', 'completed');
    await stage.show('Tasks');
    await stage.page
      .getByRole('link', { name: /^[0-9a-f-]{8}/ })
      .first()
      .click();
    // A table of values is shown as one.
    await stage.page.getByRole('cell', { name: 'buongiorno' }).first().waitFor();
  });

  it('lets words of a hostile agent stay words', async () => {
    await stage.choose(villainAt.url);
    await stage.page.getByText(hostile).first().waitFor();
    await stage.show('Chat');
    await stage.say(hostile, 'completed');
    await stage.page.getByRole('log').getByText(hostile).first().waitFor();
    await stage.show('Tasks');
    await stage.show('Wire');
    await stage.page.goBack();
    const links = await stage.page
      .locator('a[href^="javascript:" i], iframe:not([sandbox]), img[src="x"]')
      .count();
    expect(links).toBe(0);
    expect(await stage.page.evaluate('window.pwned')).toBeUndefined();
  });

  it('examines an agent, and shows what it found', { timeout: 180_000 }, async () => {
    await stage.choose(urlOf('interpreter'));
    await stage.show('Conformance');
    await stage.page.getByRole('combobox', { name: 'Rules' }).selectOption({ label: 'MUST only' });
    await stage.page.getByRole('button', { name: 'Examine' }).click();
    await stage.page.getByRole('progressbar').first().waitFor();
    await stage.page
      .getByText(/non-conformant|full|partial|minimal/i)
      .first()
      .waitFor({ timeout: 150_000 });
    const downloading = stage.page.waitForEvent('download');
    await stage.page.getByRole('button', { name: /JSON/ }).click();
    const report: unknown = JSON.parse(await readFile(await (await downloading).path(), 'utf8'));
    expect(report).toMatchObject({ conformanceLevel: 'partial', summary: { failed: 0, errors: 0 } });
  });

  it('shows the load in charts', async () => {
    await stage.show('Load');
    // What happened before anybody looked is there.
    await stage.page
      .getByRole('img', { name: /Requests per second.*requests: now \d+, at most [1-9]/ })
      .waitFor();
  });

  for (const scheme of ['light', 'dark'] as const)
    it(`is free of serious problems of accessibility when it is ${scheme}`, {
      timeout: 120_000,
    }, async () => {
      await stage.page.emulateMedia({ colorScheme: scheme });
      for (const view of ['Agents', 'Chat', 'Wire', 'Tasks', 'Conformance', 'Load']) {
        await stage.show(view);
        // What is there is the same in the dark; only its colours are others.
        const rules = scheme === 'light' ? undefined : ['color-contrast'];
        expect(await problemsOf(stage.page, rules), view).toEqual([]);
      }
    });

  it('fits on a telephone', async () => {
    await stage.page.setViewportSize({ width: 390, height: 800 });
    for (const view of ['Agents', 'Chat', 'Wire', 'Tasks', 'Conformance', 'Load']) {
      await stage.show(view);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await stage.page.evaluate(overflow), view).toBeLessThanOrEqual(0);
    }
  });

  it('asks nobody but its own server, and complains of nothing', () => {
    expect(stage.strangers).toEqual([]);
    expect(stage.complaints).toEqual([]);
  });

  it('says what to do to somebody without the token', async () => {
    const context = await (browser as Browser).newContext();
    const page = await context.newPage();
    await page.goto(new URL(stage.told.console).origin);
    await page.getByText(/token/i).first().waitFor();
    await context.close();
  });
});

/** A stream of so many events. */
function longStory(count: number): TrafficRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    sequence: i + 1,
    at: 1_790_000_000_000 + i,
    exchangeId: `t${Math.floor(i / 100)}`,
    kind: 'frame' as const,
    from: i % 2 === 0 ? 'agent' : 'gateway',
    to: i % 2 === 0 ? 'gateway' : 'caller',
    text: `{"event":${i}}`,
    decoded: { version: '1.0' as const, transport: 'JSONRPC' as const, summary: `event ${i}` },
  }));
}
