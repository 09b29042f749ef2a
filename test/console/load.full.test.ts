import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { status } from '../../src/engine/agent-output.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { tapServer } from '../../src/tap/recorders/tap-server.ts';
import { TrafficLog } from '../../src/tap/traffic-log.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { accessibilityViolations } from './accessibility.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();
const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';

const busy = defineAgent({ name: 'Busy', description: 'Replies', process: () => 'done' });
/** An agent with markup in its name and in the errors that the report quotes. */
const villain = defineAgent({
  name: hostile,
  description: 'Fails',
  async *process() {
    yield status('failed', hostile);
  },
});

describe.skipIf(!browser)('load view', () => {
  const trafficLog = new TrafficLog();
  let servers: RunningServer[];
  let running: RunningConsole;
  let tab: Tab;
  beforeAll(async () => {
    servers = [
      await serve(busy, tapServer(trafficLog, { name: 'Busy' })),
      await serve(villain, tapServer(trafficLog, { name: hostile })),
    ];
    running = await serveConsole({ agents: servers.map(({ url }) => ({ url })), trafficLog });
    tab = await Tab.at(browser as Browser, running.url);
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    for (const each of servers ?? []) await each.stop(0);
    await browser?.close();
  });

  const chart = (name: RegExp) => tab.page.getByRole('img', { name });
  const select = (label: string, option: string) =>
    tab.page.getByRole('combobox', { name: label, exact: true }).selectOption({ label: option });

  it('starts a load run and draws its figures', async () => {
    await tab.show('Load');
    await tab.page.getByRole('tab', { name: 'Load run' }).click();
    await tab.page.getByRole('spinbutton', { name: 'Requests per second' }).fill('50');
    await tab.page.getByRole('spinbutton', { name: 'Duration (seconds)' }).fill('3');
    await tab.page.getByRole('button', { name: 'Start' }).click();
    await tab.page.getByRole('progressbar').waitFor();
    await chart(/^Throughput, load run of Busy\. requests: now [\d.k]+\/s, maximum [1-9]/).waitFor();
    const report = tab.page.getByRole('region', { name: 'Report' });
    await report.getByText('Busy, 1.0 over JSONRPC: send, 50 requests per second').waitFor();
    const figures = await report.getByRole('definition').allTextContents();
    // On a slow machine some requests are not sent in time.
    expect(figures.slice(0, 3)).toEqual([
      expect.stringMatching(/^[1-9][\d.]*\/s$/),
      expect.stringMatching(/^[1-9]\d*$/),
      '0',
    ]);
    await report.getByRole('row', { name: /^Latency( [\d.]+ ms){5}$/ }).waitFor();
    await chart(/^Latency, .*p50: now .*p90: now .*p99: now .*max: now \d/).waitFor();
  });

  it('shows the values at the pointer in all charts', async () => {
    const plot = tab.page.locator('.load-plot').first();
    await plot.hover();
    const times = tab.page.locator('.load-now time');
    await expect.poll(() => times.count()).toBe(3);
    expect(new Set(await times.allTextContents()).size).toBe(1);
    await tab.page.mouse.move(0, 0);
    await expect.poll(() => times.count()).toBe(0);
  });

  it('shows the values at the time that the keyboard selects', async () => {
    const slider = tab.page.getByRole('slider', { name: 'Time in Throughput' });
    await slider.focus();
    const values = () => slider.getAttribute('aria-valuetext');
    const newest = await values();
    expect(newest).toMatch(/^\d\d:\d\d:\d\d: requests [\d.k]+\/s, errors 0\/s$/);
    await tab.page.keyboard.press('ArrowLeft');
    await expect.poll(values).not.toBe(newest);
    const shown = await tab.page.locator('.load-now').first().textContent();
    expect(await values()).toContain(shown?.slice(0, 8));
    await slider.blur();
    await expect.poll(() => tab.page.locator('.load-now time').count()).toBe(0);
  });

  it('filters the observed load by agent', async () => {
    await tab.page.getByRole('tab', { name: 'Observed load' }).click();
    await chart(/^Requests per second, .*maximum [1-9]/).waitFor();
    await select('Show requests to', 'Busy');
    await chart(/^Requests per second, .*maximum [1-9]/).waitFor();
    await tab.page.reload();
    await chart(/^Requests per second, .*maximum [1-9]/).waitFor();
    expect(await tab.page.getByRole('combobox').inputValue()).toBe('Busy');
  });

  it('continues after a reload, stops, and shows errors of the agent as text', async () => {
    await tab.page.getByRole('tab', { name: 'Load run' }).click();
    await tab.page.getByRole('combobox', { name: 'Agent', exact: true }).selectOption({ index: 1 });
    await select('Loop', 'closed: clients that wait');
    await tab.page.getByRole('spinbutton', { name: 'Warm-up (seconds)' }).fill('0');
    await tab.page.getByRole('spinbutton', { name: 'Duration (seconds)' }).fill('600');
    await tab.page.getByRole('button', { name: 'Start' }).click();
    await tab.page.getByRole('button', { name: 'Stop' }).waitFor();
    await tab.page.reload();
    await tab.page.getByText(/: 1\.0 over JSONRPC, measuring, [1-9]\d* requests/).waitFor();
    await tab.page.getByRole('button', { name: 'Stop' }).click();
    await tab.page.getByRole('list', { name: 'Errors by reason' }).getByText(hostile).waitFor();
    await tab.page.getByRole('tab', { name: 'Observed load' }).click();
    await select('Show requests to', hostile);
    await chart(/^Requests per second, .*maximum [1-9]/).waitFor();
    expect(await tab.page.evaluate('window.pwned')).toBeUndefined();
    expect(await tab.page.locator('img[src="x"]').count()).toBe(0);
  });

  it('shows why a run cannot be started', async () => {
    await tab.page.getByRole('tab', { name: 'Load run' }).click();
    await tab.page.getByRole('spinbutton', { name: 'Duration (seconds)' }).fill('3600');
    await tab.page.getByRole('button', { name: 'Start' }).click();
    await tab.page
      .getByRole('alert')
      .getByText(/duration/)
      .waitFor();
  });

  for (const scheme of ['light', 'dark'] as const)
    for (const part of ['Observed load', 'Load run'])
      it(`has no accessibility violations and no overflow: ${part}, ${scheme}`, {
        timeout: 120_000,
      }, async () => {
        await tab.page.emulateMedia({ colorScheme: scheme });
        await tab.page.getByRole('tab', { name: part }).click();
        await tab.page.locator('details.load-numbers summary').click();
        for (const width of [1_280, 390]) {
          await tab.page.setViewportSize({ width, height: 800 });
          expect(await accessibilityViolations(tab.page), `${width} px`).toEqual([]);
          const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
          expect(await tab.page.evaluate(overflow), `${width} px`).toBeLessThanOrEqual(0);
        }
      });

  it('requests only its own server and logs no errors', () => {
    expect(tab.foreignRequests).toEqual([]);
    // The rejected run is a failed request.
    expect(tab.pageErrors.filter((text) => !text.includes('400'))).toEqual([]);
  });
});
