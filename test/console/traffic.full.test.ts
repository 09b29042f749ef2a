import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Started, start13 } from '../interop/official-servers.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { runDragoman, type RunningCommand } from '../support/cli/run-command.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();
const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';

describe.skipIf(!browser)('traffic view', () => {
  let tab: Tab;
  let tap: RunningCommand;
  let official: Started;
  let folder: string;
  let rows: Locator;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-traffic-'));
    official = await start13();
    tap = runDragoman(['tap', '--to', official.url, '--port', '0', '--console']);
    const [url] = await tap.prints(/http:\/\/\S+token=[\w-]+/);
    tab = await Tab.at(browser as Browser, url);
    rows = tab.page.getByRole('listbox', { name: 'Timeline' });
  });
  afterAll(async () => {
    await tab?.close();
    await tap?.stop('SIGINT');
    await official?.close();
    rmSync(folder, { recursive: true, force: true });
    await browser?.close();
  });

  async function saved(name: string): Promise<string> {
    const downloading = tab.page.waitForEvent('download');
    await tab.page.getByRole('button', { name, exact: true }).click();
    return readFile(await (await downloading).path(), 'utf8');
  }

  async function importFile(name: string, text: string): Promise<void> {
    await tab.page.getByLabel('Import').setInputFiles({
      name,
      mimeType: 'application/jsonl',
      buffer: Buffer.from(text),
    });
  }

  it('hides card requests and shows their number', async () => {
    await tab.show('Chat');
    await tab.say('stream', 'completed');
    await tab.show('Traffic');
    await rows
      .getByRole('option', { name: /stream: stream/ })
      .first()
      .waitFor();
    const status = tab.page.getByRole('search').getByRole('status');
    await status.getByText(/\d+ cards? hidden/).waitFor();
    expect(await rows.getByRole('option', { name: /\bcard\b/ }).count()).toBe(0);
    await tab.page.getByRole('button', { name: 'Cards' }).click();
    await rows
      .getByRole('option', { name: /\bcard\b/ })
      .first()
      .waitFor();
    await tab.page.getByRole('button', { name: 'Cards' }).click();
  });

  it('copies a curl command that repeats the request', async () => {
    await rows
      .getByRole('option', { name: /request stream: stream/ })
      .first()
      .click();
    // The confirmation is shown for 1.6 s, so the page watches for it before the click.
    await Promise.all([
      tab.page.getByRole('button', { name: 'Copied' }).waitFor(),
      tab.page.getByRole('button', { name: 'Copy as curl' }).click(),
    ]);
    const command = await tab.page.evaluate<string>('navigator.clipboard.readText()');
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command]);
    expect(stdout).toMatch(/^HTTP\/1\.1 200/);
    expect(stdout.match(/^data: /gm)?.length).toBeGreaterThan(3);
    expect(stdout).toContain('TASK_STATE_COMPLETED');
    await tab.page.keyboard.press('Escape');
  });

  it('exports a scenario that passes with the recorded agent', async () => {
    const file = join(folder, 'recorded.yaml');
    writeFileSync(file, await saved('Save as scenario'));
    const { code, stdout, stderr } = await runDragoman(['test', '--agent', official.url, file]).ended;
    expect([code, stdout, stderr].join('\n')).toMatch(/^0\n/);
    expect(stdout).toMatch(/[1-9]\d* passed, 0 failed/);
  });

  it('shows the same rows after export and import', async () => {
    const rowLabels = () =>
      rows.getByRole('option').evaluateAll((each: any[]) => each.map((row) => row.ariaLabel));
    await tab.page.getByRole('button', { name: 'Pause' }).click();
    const before = await rowLabels();
    expect(before.length).toBeGreaterThan(8);
    const text = await saved('Export');
    await importFile('traffic.tap.jsonl', text);
    await tab.page.getByText('traffic.tap.jsonl').waitFor();
    await rows.getByRole('option').first().waitFor();
    expect(await rowLabels()).toEqual(before);
    await tab.page.getByRole('button', { name: 'Back to live' }).click();
  });

  const record = { at: 1, exchangeId: 't', kind: 'request', from: 'a', to: 'b', text: '{}' };
  const file = (...lines: unknown[]): string =>
    [{ format: 'dragoman-tap', version: 1 }, ...lines].map((each) => `${JSON.stringify(each)}\n`).join('');

  it.each([
    ['is not a traffic file', 'hello\n'],
    ['has a record with an unknown kind', file({ ...record, kind: 'constructor' })],
    ['has a text that is not a string', file({ ...record, text: { toString: 'x' } })],
    ['has a time that is not a number', file({ ...record, at: '<b>' })],
  ])('rejects a file that %s with the line number', async (_what, text) => {
    await importFile('bad.jsonl', text);
    await tab.page.getByText(/^Line \d+ is/).waitFor();
    await tab.page.getByText('showing the file', { exact: false }).waitFor({ state: 'detached' });
  });

  it('renders an untrusted file as text', async () => {
    const polluting = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const records = [
      { ...record, from: hostile, to: '__proto__', exchangeId: 'constructor', text: hostile },
      { ...record, at: 1e308, elapsed: -1e308, kind: 'end', text: '' },
      {
        ...record,
        kind: 'response',
        http: {
          method: hostile,
          url: 'javascript:window.pwned=1',
          status: 1e21,
          headers: { [hostile]: hostile },
        },
        decoded: {
          summary: hostile,
          operation: 'constructor',
          taskId: '__proto__',
          losses: [{ path: hostile, kind: 'constructor', note: hostile }],
          findings: [{ rule: hostile, level: '__proto__', message: hostile }],
          model: { deep: JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`), polluting },
        },
      },
      { ...record, http: { method: 'x;touch pwned', url: 'file:///etc/passwd', headers: {} } },
    ];
    const odd = `${JSON.stringify(record).slice(0, -1)},${polluting.slice(1)}\n`;
    await importFile('strange.jsonl', file(...records) + odd);
    await tab.page.getByText('strange.jsonl').waitFor();
    for (const [index] of [...records, odd].entries()) {
      await rows.getByRole('option').nth(index).click();
      await tab.page.getByRole('region', { name: `Record ${index + 1}` }).waitFor();
    }
    expect(await tab.page.evaluate('[window.pwned, {}.polluted]')).toEqual([undefined, undefined]);
    expect(await tab.page.locator('a[href^="javascript:" i], a[href^="file:" i], img[src="x"]').count()).toBe(
      0,
    );
    expect(await tab.page.getByRole('button', { name: 'Copy as curl' }).count()).toBe(0);
    await tab.page.getByRole('button', { name: 'Back to live' }).click();
  });

  it('keeps the labels of arrows inside their columns', async () => {
    await tab.show('Traffic');
    const summary = `send ${'a-very-long-name-of-a-method '.repeat(10)}${'x'.repeat(300)}`;
    const pairs = [
      ['client', 'gateway'],
      ['gateway', 'agent'],
      ['agent', 'client'],
      ['gateway', 'gateway'],
      ['agent', 'agent'],
    ];
    const records = pairs.map(([from, to], at) => ({
      ...record,
      from,
      to,
      exchangeId: `e${at}`,
      decoded: { summary },
    }));
    for (const width of [1280, 900]) {
      await tab.page.setViewportSize({ width, height: 800 });
      await importFile(`long-${width}.jsonl`, file(...records));
      await tab.page.getByText(`long-${width}.jsonl`).waitFor();
      const labels = rows.locator('.traffic-summary');
      await expect.poll(() => labels.count()).toBe(pairs.length);
      const outside = await labels.evaluateAll((elements: any[]) =>
        elements.flatMap((label) => {
          const arrow = label.parentElement;
          // The label of an arrow to the same participant is beside it.
          const column = arrow.classList.contains('traffic-arrow-self')
            ? label.closest('[role=option]')
            : arrow;
          const [inner, outer] = [label.getBoundingClientRect(), column.getBoundingClientRect()];
          const isInside = inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
          return isInside && inner.width > 0
            ? []
            : [`${arrow.className}: ${inner.left}-${inner.right} of ${outer.left}-${outer.right}`];
        }),
      );
      expect(outside).toEqual([]);
    }
    await tab.page.setViewportSize({ width: 1280, height: 800 });
    await tab.page.getByRole('button', { name: 'Back to live' }).click();
  });

  it('logs no errors except for rejected files', () => {
    expect(tab.pageErrors.filter((each) => !each.includes('status of 400'))).toEqual([]);
    expect(tab.foreignRequests).toEqual([]);
  });
});
