import type { Browser, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { status } from '../../src/engine/agent-output.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { bearerAuth } from '../../src/server/auth/index.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();
const token = 'a-secret-of-the-agent';

describe.skipIf(!browser)('request editor', () => {
  const agent = defineAgent({
    name: 'Echo',
    description: 'Repeats',
    skills: [{ id: 'echo', name: 'Echo', description: 'Repeats', tags: [], examples: ['Hello example'] }],
    async *process({ text }) {
      yield status('working', 'Listening');
      yield status('completed', `You said ${text}`);
    },
  });
  let server: RunningServer;
  let running: RunningConsole;
  let tab: Tab;

  beforeAll(async () => {
    server = await serve(agent, { auth: { authenticators: [bearerAuth({ tokens: { [token]: 'me' } })] } });
    running = await serveConsole({ agents: [{ url: server.url, credentials: { kind: 'bearer', token } }] });
    tab = await Tab.at(browser as Browser, running.url);
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await server?.stop(0);
    await agent.close();
    await browser?.close();
  });

  const body = () => tab.page.getByRole('textbox', { name: 'Body' });
  const answer = () => tab.page.getByRole('region', { name: 'Answer' });

  it('composes a stream in the form, sends it and shows its events', async () => {
    const { page } = tab;
    await tab.show('Agents');
    await page.getByRole('link', { name: 'Hello example' }).first().click();
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('stream');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await answer().getByText('HTTP 200').waitFor();
    await answer().getByRole('button', { name: 'status completed: You said Hello example' }).waitFor();
    await page.getByRole('button', { name: 'Copy as scenario' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const yaml = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(parse(yaml)).toMatchObject([{ steps: [{ say: 'Hello example', expect: expect.anything() }] }]);
  });

  it('keeps a choice that follows the selection of another agent at once', async () => {
    await using other = await serve(agent);
    await using console = await serveConsole({ agents: [{ url: server.url }, { url: other.url }] });
    const second = await Tab.at(browser as Browser, console.url);
    const { page } = second;
    await second.choose(server.url);
    await second.show('Requests');
    const operation = page.getByRole('combobox', { name: 'Operation' });
    await operation.selectOption('getTask');
    let hold = (_route: Route): void => {};
    const held = new Promise<Route>((resolve) => {
      hold = resolve;
    });
    await page.route('**/endpoints', hold, { times: 1 });
    const picker = page.getByRole('combobox', { name: 'Agent' });
    await picker.focus();
    await picker.selectOption({ index: 1 });
    const route = await held;
    // The draft still belongs to the former agent.
    await expect.poll(() => operation.isDisabled()).toBe(true);
    await picker.press('Control+Enter');
    const chosen = operation.selectOption('stream');
    await route.continue();
    await chosen;
    expect(await operation.inputValue()).toBe('stream');
    expect(await page.getByRole('textbox', { name: 'URL' }).inputValue()).toContain(other.url);
    expect(await picker.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await page.getByText('No answer yet').waitFor();
    await second.close();
  });

  it('sends invalid text as written, with a warning, and keeps it when the page is reloaded', async () => {
    const { page } = tab;
    await page.getByRole('tab', { name: 'Body and members' }).click();
    const written = (await body().inputValue()).replace('ROLE_USER', 'ROLE_OTHER');
    await body().fill(written);
    await page.getByText('message.role must be ROLE_USER or ROLE_AGENT').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Send anyway' }).click();
    await answer().getByText('error', { exact: true }).waitFor();
    await answer()
      .getByText(/Decoded: invalid params: message.role/)
      .waitFor();
    await page.getByRole('tab', { name: 'Body and members' }).click();
    expect(await body().inputValue()).toBe(written);
  });

  it('edits and resends a recorded request, also in another version', async () => {
    const { page } = tab;
    await tab.show('Traffic');
    await page
      .getByRole('listbox', { name: 'Timeline' })
      .getByRole('option', { name: /status completed/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Edit and resend' }).click();
    await page.getByRole('main', { name: 'Requests' }).waitFor();
    expect(await body().inputValue()).toContain('Hello example');
    await page.getByRole('combobox', { name: 'Version' }).selectOption('0.3');
    await body().fill((await body().inputValue()).replace('Hello example', 'once more'));
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    // The credentials of the console replace the redacted header.
    await answer()
      .getByRole('button', { name: /You said once more/ })
      .waitFor();
    expect(await body().inputValue()).toContain('"message/stream"');
    expect(tab.pageErrors).toEqual([]);
  });
});
