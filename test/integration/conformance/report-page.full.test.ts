import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mutateEvery } from '../../../src/conformance/mutants/harness/mutations.ts';
import { serveMutant } from '../../../src/conformance/mutants/harness/serve-mutant.ts';
import { testConformance } from '../../../src/conformance/test-conformance.ts';
import { fixturePrompts } from '../../../src/conformance/prompts/prompt-catalog.ts';
import { formatMatrixPage } from '../../../src/conformance/report/matrix-page.ts';
import {
  buildReport,
  listResults,
  type ConformanceReport,
} from '../../../src/conformance/report/build-report.ts';
import { writeReport } from '../../../src/conformance/report/report-formats.ts';
import { Redactor } from '../../../src/primitives/redaction/redaction.ts';
import { launchChromium } from '../../support/console/chromium.ts';

const hostile = `</pre><script>document.title='taken'</script><img src="https://elsewhere.example/x.png" onerror="document.title='taken'"><style>body{display:none}</style>`;
const browser: Browser | undefined = await launchChromium();

describe.runIf(browser)('HTML report', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-page-'));
  const files = { report: join(folder, 'report.html'), matrix: join(folder, 'matrix.html') };
  let report: ConformanceReport;

  beforeAll(async () => {
    const served = await serveMutant({
      definition: { name: hostile },
      wire: () => mutateEvery('status', (status) => (status.timestamp = hostile)),
    });
    const options = {
      ways: fixturePrompts,
      timeout: 6_000,
      versions: ['1.0'],
      only: ['send', 'card', 'model'],
    } as const;
    const outcome = await testConformance(served.url, options);
    await served.close();
    report = buildReport(outcome, { suite: 'dragoman 0.0.0', command: 'test', redactor: new Redactor({}) });
    writeFileSync(files.report, writeReport(report, 'html'));
    const agents = ['one', hostile, 'three', 'four'].map((name, index) => ({
      name,
      url: `https://agents.example.com/with/a/rather/long/path/${index}`,
      variants: '1.0 JSONRPC, 1.0 HTTP+JSON, 0.3 JSONRPC, 0.3 HTTP+JSON',
    }));
    const results = agents.flatMap((_from, from) =>
      agents.map((_to, to) => ({
        from,
        to,
        verdict: from === 1 ? ('fail' as const) : ('pass' as const),
        message: from === 1 ? hostile : '',
        common: to === 2 ? [] : ['1.0 JSONRPC', '1.0 HTTP+JSON'],
        ...(to === 0 ? { delegation: { verdict: 'inconclusive' as const, message: hostile } } : {}),
      })),
    );
    writeFileSync(files.matrix, formatMatrixPage(agents, results));
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a page and records its requests and errors. */
  async function open(
    name: keyof typeof files,
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; requestedUrls: string[]; wrong: string[] }> {
    const context = await browser!.newContext(options);
    const page = await context.newPage();
    const requestedUrls: string[] = [];
    const wrong: string[] = [];
    page.on('request', (request) => requestedUrls.push(request.url()));
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('console', (message) => wrong.push(message.text()));
    await page.goto(pathToFileURL(files[name]).href);
    return { page, requestedUrls, wrong };
  }

  it.each(['report', 'matrix'] as const)(
    'is one self-contained file without content injected by the agent: %s',
    async (name) => {
      const { page, requestedUrls, wrong } = await open(name);
      for (const summary of await page.locator('summary').all()) await summary.click();
      expect(requestedUrls).toEqual([pathToFileURL(files[name]).href]);
      expect(wrong).toEqual([]);
      expect(await page.title()).not.toBe('taken');
      expect(await page.locator('img').count()).toBe(0);
      expect(await page.locator('script').count()).toBe(1);
      expect(await page.locator('body').innerText()).toContain(
        `</pre><script>document.title='taken'</script>`,
      );
      await page.context().close();
    },
  );

  it('filters rules by text and by verdict', async () => {
    const { page } = await open('report');
    const rows = page.locator('#rules tbody tr:visible');
    const rules = new Map<string, string[]>();
    for (const { test, verdict } of listResults(report))
      rules.set(test, [...(rules.get(test) ?? []), verdict]);
    expect(await rows.count()).toBe(rules.size);
    await page.getByLabel('Filter rules').fill('SEND.DATA');
    expect(await rows.locator('code').allInnerTexts()).toEqual(['send.data']);
    expect(await page.getByRole('status').innerText()).toBe(`1 of ${rules.size} rules`);
    await page.getByLabel('Filter rules').fill('');
    await page.getByLabel('Verdict').selectOption('fail');
    const failed = [...rules].filter(([, verdicts]) => verdicts.includes('fail')).map(([rule]) => rule);
    expect(failed).toContain('model.timestamp');
    expect(await rows.locator('code').allInnerTexts()).toEqual(failed);
    await page.locator('a[href="#rule-model.timestamp"]').click();
    expect(new URL(page.url()).hash).toBe('#rule-model.timestamp');
    await page.context().close();
  });

  it.each([
    ['report', 'light', 1200],
    ['report', 'dark', 1200],
    ['report', 'light', 400],
    ['report', 'dark', 400],
    ['matrix', 'light', 400],
    ['matrix', 'dark', 1200],
  ] as const)('fits and is accessible: %s in %s mode, %i pixels wide', async (name, colorScheme, width) => {
    const { page } = await open(name, { colorScheme, viewport: { width, height: 900 } });
    const room = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(room).toBe(width);
    const ground = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(colorScheme === 'dark' ? 'rgb(13, 17, 23)' : 'rgb(255, 255, 255)');
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    await page.context().close();
  });

  it('is printed black on white without interactive elements', async () => {
    const { page } = await open('report', { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.filter').isVisible()).toBe(false);
    expect(await page.locator('nav').isVisible()).toBe(false);
    expect(await page.evaluate<string>('getComputedStyle(document.body).color')).toBe('rgb(0, 0, 0)');
    expect((await page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-');
    await page.context().close();
  });
});
