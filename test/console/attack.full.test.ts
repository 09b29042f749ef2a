import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import type { LogEntry } from '../../src/primitives/log.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();
/** Requests received by another site. */
const siteRequests: string[] = [];
const site = createServer((request, response) => {
  siteRequests.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>other</title>');
});
/** An agent with a response of 200 MB. */
const flood = createServer((request, response) => {
  const { port } = flood.address() as AddressInfo;
  if (request.method === 'GET') {
    const url = `http://127.0.0.1:${port}/`;
    const card = {
      name: 'Flood',
      description: 'Never ends',
      version: '1',
      supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: false },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [],
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(card));
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  const piece = 'x'.repeat(1_024 * 1_024);
  let left = 200;
  const pour = (): void => {
    while (left-- > 0) if (!response.write(piece)) return;
    response.end();
  };
  response.on('drain', pour);
  pour();
});

describe.skipIf(!browser)('console security in the browser', () => {
  const links = defineAgent({
    name: 'Links',
    description: 'Returns a link',
    process: () => [{ parts: [{ url: elsewhere }] }],
  });
  const entries: LogEntry[] = [];
  let running: RunningConsole;
  let linked: RunningServer;
  let tab: Tab;
  let foreignPage: Page;
  let elsewhere: string;

  beforeAll(async () => {
    for (const each of [site, flood]) await once(each.listen(0, '127.0.0.1'), 'listening');
    elsewhere = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    linked = await serve(links);
    running = await serveConsole({ agents: [{ url: linked.url }], log: (entry) => entries.push(entry) });
    tab = await Tab.at(browser as Browser, running.url);
    // In the same browser profile as the console.
    foreignPage = await tab.page.context().newPage();
    await foreignPage.goto(elsewhere);
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await linked?.stop(0);
    await links.close();
    for (const each of [site, flood]) {
      each.closeAllConnections();
      each.close();
    }
    await browser?.close();
  });

  it('rejects all requests of pages of other origins', async () => {
    const { origin, token } = running;
    const results = await foreignPage.evaluate<string[], [string, string]>(
      async ([at, secret]) => {
        const page = globalThis as any;
        const fate = (work: Promise<unknown>): Promise<string> => work.then(String, () => 'refused');
        const loaded = (name: string, url: string): Promise<string> =>
          new Promise((resolve) => {
            const made = page.document.createElement(name);
            made.addEventListener('load', () => resolve('loaded'));
            made.addEventListener('error', () => resolve('refused'));
            if (name === 'link') Object.assign(made, { rel: 'stylesheet', href: url });
            else made.src = url;
            page.document.body.append(made);
          });
        const headers = { authorization: `Bearer ${secret}` };
        const seen = async (init: RequestInit): Promise<string> => {
          const { type, status } = await fetch(`${at}/api/info`, init);
          return type === 'opaque' && status === 0 ? 'refused' : 'answered';
        };
        return Promise.all([
          fate(seen({})),
          fate(seen({ headers })),
          fate(seen({ mode: 'no-cors' })),
          fate(seen({ mode: 'no-cors', method: 'POST', body: '{"url":"http://127.0.0.1:1"}' })),
          loaded('img', `${at}/icon.svg`),
          loaded('script', `${at}/api/info`),
          loaded('link', `${at}/index.html`),
          new Promise<string>((resolve) => {
            const socket = new WebSocket(`${at.replace('http', 'ws')}/api/traffic`);
            socket.addEventListener('open', () => resolve('open'));
            socket.addEventListener('error', () => resolve('refused'));
          }),
        ]);
      },
      [origin, token],
    );
    expect(results).toEqual(Array(8).fill('refused'));
  });

  it('rejects form posts of other origins', async () => {
    const own = await tab.page.context().newPage();
    await own.goto(elsewhere);
    const before = await agentCount();
    const [answer] = await Promise.all([
      own.waitForResponse((response) => response.url().startsWith(running.origin)),
      own.evaluate((at) => {
        const page = globalThis as any;
        const form = page.document.createElement('form');
        Object.assign(form, { method: 'POST', action: `${at}/api/agents`, enctype: 'text/plain' });
        page.document.body.append(form);
        form.submit();
      }, running.origin),
    ]);
    expect(answer.status()).toBe(403);
    expect(await agentCount()).toBe(before);
    await own.close();
  });

  it('cannot be framed', async () => {
    const failed = foreignPage.waitForResponse((response) => response.url().startsWith(running.origin));
    await foreignPage.evaluate((at) => {
      const page = globalThis as any;
      const frame = page.document.createElement('iframe');
      frame.src = at;
      page.document.body.append(frame);
    }, running.origin);
    expect((await failed).status()).toBe(403);
  });

  it('rejects foreign host names (DNS rebinding)', async () => {
    const context = await (browser as Browser).newContext();
    const page = await context.newPage();
    const { port } = new URL(running.origin);
    const answer = await page.goto(`http://rebound.example:${port}/?token=${running.token}`);
    expect(answer?.status()).toBe(403);
    await context.close();
  });

  it('does not leak its token by URL, referrer or log', async () => {
    await tab.show('Chat');
    await tab.say('hi', 'completed');
    siteRequests.length = 0;
    const link = tab.page.getByRole('log').getByRole('link').first();
    expect(await link.getAttribute('rel')).toContain('noopener');
    const [opened] = await Promise.all([tab.page.context().waitForEvent('page'), link.click()]);
    await opened.waitForLoadState();
    const [visit] = siteRequests;
    expect(visit).toMatch(/^GET \/ /);
    expect(visit).not.toMatch(/referer|token/i);
    expect(await opened.evaluate('window.opener')).toBeNull();
    await opened.close();
    const addresses = await tab.page.evaluate<string>(
      'JSON.stringify([location.href, document.referrer, performance.getEntries().map(({ name }) => name).slice(1)])',
    );
    expect(addresses).not.toContain(running.token);
    expect(JSON.stringify(entries)).not.toContain(running.token);
  });

  it('aborts a response of 200 MB', async () => {
    const { port } = flood.address() as AddressInfo;
    await tab.add(`http://127.0.0.1:${port}`);
    await tab.show('Chat');
    await tab.page.getByRole('textbox', { name: 'Message' }).fill('hi');
    await tab.page.getByRole('button', { name: 'Send' }).click();
    await tab.page.getByRole('log').getByRole('alert').waitFor();
    expect(await tab.page.getByRole('log').innerText()).toMatch(/large|bytes|MB|MiB/);
    await tab.show('Agents');
  });

  it('logs no errors and follows its own content security policy', () => {
    expect(tab.pageErrors).toEqual([]);
    expect(tab.foreignRequests).toEqual([]);
  });

  async function agentCount(): Promise<number> {
    const headers = { authorization: `Bearer ${running.token}` };
    return ((await (await fetch(`${running.origin}/api/agents`, { headers })).json()) as unknown[]).length;
  }
});
