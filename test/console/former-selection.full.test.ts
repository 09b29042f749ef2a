import type { Browser, Locator, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();

describe.skipIf(!browser)('content of a former selection', () => {
  const agents = ['First', 'Second'].map((name) =>
    defineAgent({ name, description: 'Repeats', process: ({ text }) => text }),
  );
  let servers: RunningServer[];
  let running: RunningConsole;
  let tab: Tab;

  beforeAll(async () => {
    servers = await Promise.all(agents.map((each) => serve(each)));
    running = await serveConsole({ agents: servers.map(({ url }) => ({ url })) });
    tab = await Tab.at(browser as Browser, running.url);
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await Promise.all((servers ?? []).map((each) => each.stop(0)));
    await Promise.all(agents.map((each) => each.close()));
    await browser?.close();
  });

  /**
   * Presses a button, or selects a choice, and returns the HTML of the view when the URL of the page has changed, before the
   * browser can paint again.
   */
  const viewRightAfter = (element: Locator, choice?: string): Promise<string> =>
    element.evaluate(async (node: any, value) => {
      const { defaultView: window, documentElement: page } = node.ownerDocument;
      const changed = new Promise((resolve) => window.addEventListener('hashchange', resolve));
      if (value === undefined) node.click();
      else node.value = value;
      node.dispatchEvent(new Event('change', { bubbles: true }));
      await changed;
      for (let turn = 0; turn < 100; turn++) await Promise.resolve();
      return page.querySelector('main').innerHTML;
    }, choice);

  it('is not shown as another catalog', async () => {
    await tab.show('Catalog');
    await tab.page.getByRole('status').filter({ hasText: '2 of 2' }).waitFor();
    await tab.page.getByRole('searchbox', { name: 'Catalog' }).fill('127.0.0.1:9');
    const view = await viewRightAfter(tab.page.getByRole('button', { name: 'Load' }));
    expect(view).toContain('Loading the catalog');
    expect(view).not.toContain('2 of 2');
  });

  it('is not shown as the tasks of other filters', async () => {
    await tab.choose(servers[0]?.url ?? '');
    await tab.show('Chat');
    await tab.say('hello', 'completed');
    await tab.show('Tasks');
    await tab.page.getByRole('table').getByRole('link').first().waitFor();
    expect(await tab.page.locator('main').innerHTML()).toContain('<td');
    const state = tab.page.getByRole('combobox', { name: 'State' });
    expect(await viewRightAfter(state, 'failed')).not.toContain('<td');
  });

  it('is not shown as the load of another agent', async () => {
    await tab.show('Load');
    await tab.page.getByRole('tab', { name: 'Observed load' }).click();
    await tab.page.getByLabel(/^Requests per second, .*maximum [1-9]/).waitFor();
    const agent = tab.page.getByRole('combobox', { name: 'Show requests to' });
    expect(await viewRightAfter(agent, 'First')).not.toMatch(/maximum [1-9]/);
  });

  it('is not shown as the messages of another agent', async () => {
    const editor = tab.page.getByRole('dialog', { name: /^Messages for/ });
    const field = editor.getByRole('textbox', { name: /^input-required/ });
    await tab.choose(servers[0]?.url ?? '');
    await tab.show('Conformance');
    await tab.page.getByRole('button', { name: 'Messages' }).click();
    await field.fill('ask me');
    await editor.getByRole('button', { name: 'Save', exact: true }).click();
    await tab.page.getByRole('button', { name: 'Messages (1)' }).waitFor();
    let hold = (_route: Route): void => {};
    const held = new Promise<Route>((resolve) => {
      hold = resolve;
    });
    await tab.page.route('**/prompts', hold, { times: 1 });
    await tab.choose(servers[1]?.url ?? '');
    await tab.show('Conformance');
    const route = await held;
    await tab.page.getByRole('button', { name: 'Messages', exact: true }).click();
    await editor.getByText('Loading the messages').waitFor();
    expect(await editor.getByRole('textbox').count()).toBe(0);
    await route.continue();
    expect(await field.inputValue()).toBe('');
  });
});
