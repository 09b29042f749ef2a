/**
 * Follows the tour of the console and takes its pictures, light and dark. `DRAGOMAN_PICTURES=docs/images npx vitest run --project full
 * test/console/tour.full.test.ts` renews those of the documentation.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repositoryRoot, runDragoman, type RunningCommand } from '../support/cli/run-command.ts';
import { findAgent, readSummary, type UpSummary } from '../support/cli/up-summary.ts';
import { launchChromium } from '../support/console/chromium.ts';
import type { RawServer } from '../support/http/raw-server.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../support/oauth/authorization-server.ts';
import { startOAuthAgent } from '../support/oauth/oauth-agent.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();

describe.skipIf(!browser)('the tour of the console', () => {
  const given = process.env.DRAGOMAN_PICTURES;
  const folder = given === undefined ? mkdtempSync(join(tmpdir(), 'pictures-')) : join(repositoryRoot, given);
  let up: RunningCommand;
  let summary: UpSummary;
  let server: AuthorizationServer;
  let oauthAgent: RawServer;
  let tab: Tab;
  let page: Page;
  beforeAll(async () => {
    server = await startAuthorizationServer();
    oauthAgent = await startOAuthAgent(server, {
      name: 'Caravanserai',
      description: 'Keeps rooms for travelers',
      skills: [{ id: 'room', name: 'Reserve a room', description: 'Reserves a room', tags: ['travel'] }],
    });
    up = runDragoman(['up', '--sessions', 'off', '-o', 'json']);
    summary = await readSummary(up);
    tab = await Tab.at(browser as Browser, summary.console);
    page = tab.page;
    await page.setViewportSize({ width: 1200, height: 740 });
  });
  afterAll(async () => {
    await tab?.close();
    await up?.stop();
    await Promise.all([oauthAgent?.close(), server?.close()]);
    await browser?.close();
    if (given === undefined) rmSync(folder, { recursive: true });
  });

  const takePicture = async (name: string): Promise<void> => {
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({
        path: join(folder, `console-${name}-${colorScheme}.png`),
        animations: 'disabled',
      });
    }
  };

  const choose = async (name: string): Promise<void> => {
    await tab.choose(findAgent(summary, name).url);
    await page.getByRole('article', { name: 'Card of version 0.1' }).waitFor();
  };

  it('shows agents', async () => {
    await choose('caravan');
    await takePicture('agents');
  });

  it('logs in at an authorization server', async () => {
    await tab.add(oauthAgent.url);
    await page.getByRole('complementary').getByRole('link', { name: oauthAgent.url }).click();
    await page.getByRole('button', { name: 'Log in' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Client ID' }).fill('tool');
    const opening = page.context().waitForEvent('page');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByRole('link').waitFor();
    await takePicture('login');
    await dialog.getByRole('link').click();
    const opened = await opening;
    await opened.getByText('You are logged in').waitFor();
    await opened.close();
    await page.getByText('credentials set').waitFor();
  });

  it('searches the catalog', async () => {
    await tab.show('Catalog');
    await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
    await takePicture('catalog');
  });

  it('chats with an agent that asks', async () => {
    await choose('caravan');
    await tab.show('Chat');
    await tab.say('book Samarkand', 'input-required');
    await tab.say('Friday', 'completed');
    await page.getByText('your camel is waiting').first().waitFor();
    await takePicture('chat');
  });

  it('composes a request', async () => {
    await tab.show('Requests');
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('stream');
    await page.getByRole('textbox', { name: 'Part 1: Text' }).fill('timetable');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('The stream ended').waitFor();
    await takePicture('requests');
  });

  it('shows the traffic of an answer and its translation', async () => {
    await tab.show('Chat');
    await page.getByRole('link', { name: 'Show traffic' }).last().click();
    const rows = page.getByRole('listbox', { name: 'Timeline' });
    await rows
      .getByRole('option', { name: /caravan to gateway, .*ticket/ })
      .first()
      .click();
    await page.getByRole('table', { name: 'Translation' }).waitFor();
    await takePicture('traffic');
  });

  it('shows a task', async () => {
    await choose('interpreter');
    await tab.show('Chat');
    await tab.say('phrasebook Italian', 'completed');
    await tab.show('Tasks');
    await page
      .getByRole('link', { name: /^[0-9a-f]{8}-/ })
      .first()
      .click();
    await page.getByRole('cell', { name: 'buongiorno' }).first().waitFor();
    await takePicture('tasks');
  });

  it('tests conformance with a message of the user', { timeout: 600_000 }, async () => {
    await tab.show('Conformance');
    await page.getByRole('combobox', { name: 'Rules' }).selectOption({ label: 'MUST only' });
    const editor = page.getByRole('dialog', { name: /^Messages for/ });
    await page.getByRole('button', { name: /^Messages/ }).click();
    await editor.getByRole('textbox', { name: /^artifact/ }).fill('phrasebook Italian');
    await editor.getByRole('button', { name: 'Try artifact' }).click();
    await editor.getByRole('status').filter({ hasText: 'completed' }).waitFor();
    await takePicture('messages');
    await editor.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Run tests' }).click();
    await page.getByRole('region', { name: 'Progress' }).waitFor();
    await page.getByRole('region', { name: 'Progress' }).waitFor({ state: 'detached', timeout: 500_000 });
    await page.getByRole('listbox', { name: 'Results' }).getByRole('option').first().click();
    await takePicture('conformance');
  });

  it('generates load', async () => {
    await tab.show('Load');
    await page.getByRole('tab', { name: 'Load run' }).click();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await page.getByRole('button', { name: 'Start' }).waitFor();
    await page.getByRole('main').getByText(/p99/).first().waitFor();
    await takePicture('load');
  });

  it('has taken all pictures of the page, without errors', () => {
    const text = readFileSync(join(repositoryRoot, 'docs/guide/console.md'), 'utf8');
    const shown = [...text.matchAll(/images\/(console-[\w-]+\.png)/g)].map(([, name]) => name ?? '');
    expect(shown.length).toBeGreaterThan(0);
    const taken = readdirSync(folder).filter((name) => name.startsWith('console-'));
    expect(taken.toSorted()).toEqual([...new Set(shown)].toSorted());
    expect(tab.pageErrors).toEqual([]);
  });
});
