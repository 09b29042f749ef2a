import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { definesOperation } from '../../src/dialects/http/operation-request.ts';
import { artifact, status } from '../../src/engine/agent-output.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import type { Operation } from '../../src/protocol/agent.ts';
import type { Task } from '../../src/protocol/task.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { type RawServer, respondJson, startRawServer } from '../support/http/raw-server.ts';
import { wireCardFixture } from '../support/http/wire-fixtures-1_0.ts';
import { accessibilityViolations } from './accessibility.ts';
import { hostileTexts } from './hostile-texts.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();
const operations: readonly Operation[] = [
  'send',
  'stream',
  'getTask',
  'listTasks',
  'subscribe',
  'createPushConfig',
  'getPushConfig',
  'listPushConfigs',
  'deletePushConfig',
  'extendedCard',
  'cancelTask',
];
const variants = (['1.0', '0.3', '0.2', '0.1'] as const).flatMap((version) =>
  (['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).flatMap((transport) =>
    definesOperation({ version, transport, operation: 'send' }) ? [{ version, transport }] : [],
  ),
);

describe.skipIf(!browser)('request editor', () => {
  const agent = defineAgent(
    {
      name: 'Clerk',
      description: 'Asks and answers',
      pushNotifications: true,
      extendedCard: { name: 'Clerk for friends' },
      skills: [
        { id: 'a', name: 'Answers', description: 'Answers', tags: [], examples: ['What time is it?'] },
      ],
      async *process({ text }) {
        yield status('working', 'Thinking');
        if (text === 'ask') yield status('input-required', 'Which one?');
        else {
          yield artifact([{ text: `Answer to ${text}` }], { name: 'answer' });
          yield status('completed', 'Done');
        }
      },
    },
    { push: { egress: { allowLoopback: true } } },
  );
  let server: RunningServer;
  let webhook: RawServer;
  let hostile: RawServer;
  let running: RunningConsole;
  let tab: Tab;

  beforeAll(async () => {
    server = await serve(agent);
    webhook = await startRawServer((_request, response) => respondJson(response, {}));
    hostile = await startRawServer(({ path, json }, response, url) => {
      if (path.includes('/.well-known/'))
        return respondJson(
          response,
          wireCardFixture(url, {
            name: hostileTexts.join(' '),
            capabilities: {
              streaming: true,
              extensions: hostileTexts.map((uri) => ({ uri, description: uri, required: true })),
            },
            skills: hostileTexts.map((text) => ({
              id: text,
              name: text,
              description: text,
              tags: [text],
              examples: [text],
            })),
          }),
        );
      // Repeats the texts as events, headers, and members of the task.
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'x-hostile': '<script>globalThis.wasAttacked=1</script>',
      });
      for (const text of hostileTexts) {
        const event = {
          statusUpdate: {
            taskId: text,
            contextId: text,
            status: {
              state: 'TASK_STATE_WORKING',
              message: { messageId: text, role: 'ROLE_AGENT', parts: [{ text, metadata: { [text]: text } }] },
            },
          },
        };
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: json?.id, result: event })}\n\n`);
        response.write(`data: ${text.replaceAll('\n', ' ')}\n\n`);
      }
      return response.end();
    });
    running = await serveConsole({ agents: [{ url: server.url }, { url: hostile.url }] });
    tab = await Tab.at(browser as Browser, running.url);
    await tab.choose(server.url);
    await tab.show('Requests');
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await server?.stop(0);
    await Promise.all([webhook, hostile].map((each) => each?.close()));
    await agent.close();
    await browser?.close();
  });

  const select = (label: string, value: string) =>
    tab.page.getByRole('combobox', { name: label, exact: true }).selectOption(value);
  const fill = async (label: string, value: string): Promise<void> => {
    const field = tab.page.getByRole('textbox', { name: label, exact: true });
    if ((await field.count()) > 0) await field.fill(value);
  };
  const answer = () => tab.page.getByRole('region', { name: 'Answer' });
  const send = () => tab.page.getByRole('button', { name: /^Send/ });

  describe.each(variants)('in $version over $transport', { timeout: 240_000 }, ({ version, transport }) => {
    it('calls each operation of a real agent', async () => {
      const { page } = tab;
      await page.getByRole('tab', { name: 'Form' }).click();
      await select('Version', version);
      await select('Transport', transport);
      const task = (await agent.send('ask')) as Task;
      for (const operation of operations.filter((each) =>
        definesOperation({ version, transport, operation: each }),
      )) {
        await select('Operation', operation);
        await page.getByRole('button', { name: 'Reset' }).click();
        await fill('Part 1: Text', 'hello');
        if (operation !== 'send' && operation !== 'stream') await fill('Task id', task.id);
        if (operation === 'createPushConfig') await fill('Webhook URL', `${webhook.url}/hook`);
        const what = `${operation} in ${version} over ${transport}`;
        await page.getByText('Valid, according to the codecs').waitFor();
        await send().click();
        if (operation === 'subscribe') {
          await answer().getByRole('list', { name: 'Events' }).getByRole('listitem').first().waitFor();
          await page.getByRole('button', { name: 'Stop' }).click();
        }
        await send().waitFor();
        const text = await answer().getByRole('status').innerText();
        expect(text, what).toMatch(/^HTTP 20[0-4]/);
        expect(text, what).not.toMatch(/error/);
        if (operation === 'send' || operation === 'stream')
          await answer().getByText('Answer to hello').first().waitFor();
      }
      expect((await agent.getTask({ id: task.id })).status.state).toBe('canceled');
    });
  });

  it('shows hostile cards, names, headers and frames as text', { timeout: 240_000 }, async () => {
    const { page } = tab;
    await tab.choose(hostile.url);
    await tab.show('Requests');
    await select('Operation', 'stream');
    await page.getByRole('group', { name: 'Examples' }).getByRole('button').first().click();
    await send().click();
    await answer().getByText('The stream ended').waitFor();
    await answer()
      .getByText(`${hostileTexts.length * 2} events`)
      .waitFor();
    await answer().getByRole('tab', { name: 'Headers' }).click();
    await answer().getByText('x-hostile: <script>').waitFor();
    await answer().getByRole('tab', { name: 'Answer' }).click();
    await page.getByRole('tab', { name: 'Body and members' }).click();
    const body = page.getByRole('textbox', { name: 'Body' });
    for (const text of hostileTexts) {
      await body.fill(
        JSON.stringify({ jsonrpc: text, method: text, params: { [text]: text, message: { [text]: text } } }),
      );
      await page.getByRole('status', { name: 'Problems' }).getByText('jsonrpc must be "2.0"').waitFor();
      await body.fill(text);
      await page.getByRole('status', { name: 'Problems' }).getByText('The body is not JSON').waitFor();
    }
    await page.reload();
    expect(await page.evaluate('globalThis.wasAttacked')).toBeUndefined();
    expect(tab.pageErrors).toEqual([]);
    expect(tab.foreignRequests).toEqual([]);
  });

  it('completes names and values with the keyboard, in light, dark and narrow windows', async () => {
    const { page } = tab;
    await tab.choose(server.url);
    await tab.show('Requests');
    await page.getByRole('tab', { name: 'Body and members' }).click();
    const body = page.getByRole('textbox', { name: 'Body' });
    const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 1280],
      ['light', 390],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await body.fill('{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage",\n"params":{"message":{');
      await body.press('End');
      await body.pressSequentially('"r');
      await options.first().waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      await body.press('ArrowDown');
      await body.press('ArrowUp');
      expect(await options.first().getAttribute('aria-selected')).toBe('true');
      await body.press('Enter');
      await body.pressSequentially('"');
      await options.filter({ hasText: 'ROLE_AGENT' }).waitFor();
      await body.press('Escape');
      expect(await options.count()).toBe(0);
      await body.press('Control+Space');
      await options.filter({ hasText: 'ROLE_USER' }).click();
      expect(await body.inputValue()).toMatch(/"message":\{"role": "ROLE_USER"$/);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('keeps the drafts of two consoles apart', async () => {
    await using other = await serveConsole({ agents: [{ url: server.url }] });
    const context = tab.page.context();
    const second = await context.newPage();
    await second.goto(other.url);
    await second.goto(`${other.origin}/#requests`);
    await second.getByRole('textbox', { name: 'Part 1: Text' }).fill('of the second console');
    await tab.choose(server.url);
    await tab.show('Requests');
    await tab.page.reload();
    await send().waitFor();
    await tab.page.getByRole('tab', { name: 'Body and members' }).click();
    expect(await tab.page.getByRole('textbox', { name: 'Body' }).inputValue()).not.toContain(
      'second console',
    );
    await second.reload();
    expect(await second.getByRole('textbox', { name: 'Part 1: Text' }).inputValue()).toBe(
      'of the second console',
    );
    await second.close();
  });

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)
    it(`is accessible in ${scheme} mode with a width of ${width} pixels`, { timeout: 120_000 }, async () => {
      const { page } = tab;
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 844 });
      await tab.show('Requests');
      await select('Version', '1.0');
      await select('Operation', 'stream');
      await page.getByRole('button', { name: 'Reset' }).click();
      await send().click();
      await answer().getByText('The stream ended').waitFor();
      for (const name of ['Form', 'Body and members', /^Headers \(/]) {
        await page.getByRole('tab', { name }).click();
        expect(await accessibilityViolations(page), String(name)).toEqual([]);
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
      }
      await page.getByRole('tab', { name: 'Body and members' }).click();
      await page.getByRole('textbox', { name: 'Body' }).fill('{');
      await page.getByText('The body is not JSON').waitFor();
      expect(await accessibilityViolations(page), 'invalid').toEqual([]);
    });

  it('works with the keyboard alone', async () => {
    const { page } = tab;
    await page.setViewportSize({ width: 1280, height: 844 });
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.getByRole('tab', { name: 'Body and members' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('textbox', { name: 'Part 1: Text' }).focus();
    await page.keyboard.type('by keyboard');
    await page.keyboard.press('Control+Enter');
    await answer().getByText('Answer to by keyboard').first().waitFor();
    const events = answer().getByRole('list', { name: 'Events' }).getByRole('button').first();
    await events.focus();
    await page.keyboard.press('Enter');
    expect(await events.getAttribute('aria-expanded')).toBe('true');
  });
});
