import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { chunk } from '../../src/engine/agent-output.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { type Deferred, createDeferred } from '../support/engine/conversation.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();

/** Each is longer than the initial text window. */
const pages = ['first', 'second', 'third', 'last'].map((name) =>
  Array.from({ length: 600 }, (_, at) => `${name} line ${at}\n`).join(''),
);
let gates: Deferred[] = [];

/** Writes a page when its gate opens. */
const writer = defineAgent({
  name: 'Writer',
  description: 'Writes very much',
  async *process({ text }) {
    const details = text === 'a file' ? { name: 'story.txt' } : {};
    for (const [at, page] of pages.entries()) {
      await gates[at]?.promise;
      const written = text === 'code' && at === 0 ? `\`\`\`js\n${page}` : page;
      yield chunk('story', written, { ...details, lastChunk: at === pages.length - 1 });
    }
  },
});

describe.skipIf(!browser)('growing text in the chat', () => {
  let tab: Tab;
  let running: RunningConsole;
  let server: RunningServer;
  let box: Locator;

  beforeAll(async () => {
    server = await serve(writer);
    running = await serveConsole({ agents: [{ url: server.url }] });
    tab = await Tab.at(browser as Browser, running.url);
    box = tab.page.getByRole('region', { name: 'Transcript' });
    await tab.choose(server.url);
    await tab.show('Chat');
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await server?.stop(0);
    await writer.close();
    await browser?.close();
  });

  /** Waits until a line is the last one and visible. */
  async function waitUntilVisible(line: string): Promise<void> {
    const element = await box.elementHandle();
    await tab.page.waitForFunction(
      ([scrolled, wanted]: any) =>
        scrolled.innerText.includes(`${wanted}\n`) &&
        scrolled.scrollTop + scrolled.clientHeight >= scrolled.scrollHeight - 2,
      [element, line] as const,
    );
  }
  const top = (): Promise<number> => box.evaluate((each: any) => each.scrollTop);
  /** Scrolls and waits until the page has handled it. */
  const scroll = (by: number): Promise<void> =>
    box.evaluate(async (each: any, distance) => {
      each.scrollTop += distance;
      const frame = each.ownerDocument.defaultView.requestAnimationFrame;
      for (let i = 0; i < 2; i++) await new Promise((drawn) => frame(drawn));
    }, by);

  it.each(['a file', 'an answer', 'code'])('follows the end unless the user scrolls up: %s', async (what) => {
    gates = pages.map(() => createDeferred());
    const anew = tab.page.getByRole('button', { name: 'New conversation' });
    if (await anew.isEnabled()) await anew.click();
    await tab.page.getByRole('textbox', { name: 'Message' }).fill(what);
    await tab.page.getByRole('button', { name: 'Send' }).click();
    for (const [at, name] of ['first', 'second'].entries()) {
      gates[at]?.resolve();
      await waitUntilVisible(`${name} line 599`);
    }

    await scroll(-700);
    const reading = await top();
    gates[2]?.resolve();
    await box.getByRole('button', { name: /more characters$/ }).waitFor();
    expect(await top()).toBe(reading);
    expect(await box.innerText()).not.toContain('third line');

    await scroll(100_000);
    await waitUntilVisible('third line 599');
    gates[3]?.resolve();
    await waitUntilVisible('last line 599');
    await box.getByText('completed').first().waitFor();

    expect(await box.innerText()).not.toContain('second line');
    await box.getByRole('button', { name: /earlier characters$/ }).click();
    await box.getByText('second line 599').first().waitFor();
    expect(await box.innerText()).toContain('third line 0\n');
  });

  it('logs no errors', () => {
    expect(tab.pageErrors).toEqual([]);
  });
});
