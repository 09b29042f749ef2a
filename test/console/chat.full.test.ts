import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { artifact, chunk, status } from '../../src/engine/agent-output.ts';
import { memoryTaskStore } from '../../src/store/memory-task-store.ts';
import { textOf } from '../../src/protocol/part.ts';
import { apiKeyAuth, basicAuth, bearerAuth } from '../../src/server/auth/index.ts';
import { type RunningServer, serve } from '../../src/server/node/serve.ts';
import { type Started, start03 } from '../interop/official-servers.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { waitUntilTrue, TestWebhook } from '../support/push/test-webhook.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();
const chunks = 5_000;
const taskStore = memoryTaskStore();

/** Echoes files, requests authentication, and streams many chunks. */
const workshop = defineAgent(
  {
    name: 'Workshop',
    description: 'Follows instructions',
    pushNotifications: true,
    async *process({ text, message, askForAuth }) {
      const files = message.parts.filter((part) => 'raw' in part);
      for (const part of files) yield artifact([part], { name: part.filename ?? 'file' });
      if (text === 'log in') {
        const answer = await askForAuth('Open the safe, then say so');
        yield status('completed', `You said: ${textOf(answer.parts)}`);
      }
      if (text === 'many')
        for (let at = 0; at < chunks; at++)
          yield chunk('long', `line ${at}\n`, { name: 'long.txt', lastChunk: at === chunks - 1 });
    },
  },
  { taskStore, push: { maxAttempts: 1, egress: { allowLoopback: true } } },
);

/** An agent with three alternative authenticators. */
const locked = defineAgent({ name: 'Locked', description: 'Locked', process: () => 'The door is open.' });
const auth = {
  authenticators: [
    bearerAuth({ tokens: { 'token-of-alice': 'alice' } }),
    basicAuth({ users: { alice: 'open sesame' } }),
    apiKeyAuth({ in: 'header', name: 'X-Key', keys: { 'key-of-alice': 'alice' } }),
  ],
};

/** Token endpoint for client credentials (RFC 6749). */
const tokenServer = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
  request.on('end', () => {
    const form = new URLSearchParams(body);
    const [, pair = ''] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
    const given = [
      Buffer.from(pair, 'base64').toString(),
      `${form.get('client_id')}:${form.get('client_secret')}`,
    ];
    const isGood = form.get('grant_type') === 'client_credentials' && given.includes('me:secret-of-mine');
    response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' });
    const token = { access_token: 'token-of-alice', token_type: 'Bearer', expires_in: 60 };
    response.end(JSON.stringify(isGood ? token : { error: 'invalid_client' }));
  });
});

const image = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(!browser)('chat view', () => {
  let tab: Tab;
  let running: RunningConsole;
  let servers: RunningServer[];
  let official: Started;
  let log: Locator;

  beforeAll(async () => {
    servers = await Promise.all([serve(workshop), serve(locked, { auth })]);
    official = await start03();
    await once(tokenServer.listen(0, '127.0.0.1'), 'listening');
    running = await serveConsole({ agents: [{ url: at(0) }, { url: official.url }], taskStore });
    tab = await Tab.at(browser as Browser, running.url);
    log = tab.page.getByRole('log', { name: 'Conversation' });
  });
  afterAll(async () => {
    await tab?.close();
    await running?.stop();
    await Promise.all((servers ?? []).map((each) => each.stop(0)));
    await official?.close();
    tokenServer.close();
    await Promise.all([workshop.close(), locked.close()]);
    await browser?.close();
  });
  const at = (index: number): string => servers[index]?.url ?? '';

  const timeline = ({ page }: Tab): Locator => page.getByRole('listbox', { name: 'Timeline' });

  async function saved(click: Promise<void>): Promise<Buffer> {
    const [download] = await Promise.all([tab.page.waitForEvent('download'), click]);
    return readFile(await download.path());
  }

  async function openChat(url: string): Promise<void> {
    await tab.choose(url);
    await tab.show('Chat');
    const anew = tab.page.getByRole('button', { name: 'New conversation' });
    if (await anew.isEnabled()) await anew.click();
  }

  it('lists required credentials and gives advice after a 401', async () => {
    await tab.add(at(1));
    for (const scheme of ['bearer', 'basic', 'apiKey X-Key'])
      await tab.page.getByText(`requires ${scheme}`).waitFor();
    await openChat(at(1));
    await tab.page.getByRole('textbox', { name: 'Message' }).fill('hi');
    await tab.page.getByRole('button', { name: 'Send' }).click();
    await log.getByText('Add the agent again with credentials').waitFor();
  });

  it.each([
    ['Bearer token', { Token: 'token-of-alice' }],
    ['Header, such as an API key', { 'Header name': 'X-Key', Value: 'key-of-alice' }],
    ['User and password', { User: 'alice', Password: 'open sesame' }],
    ['OAuth 2 client credentials', { 'Token URL': '', 'Client ID': 'me', 'Client secret': 'secret-of-mine' }],
  ])('authenticates with: %s', async (kind, fields) => {
    await tab.show('Agents');
    await tab.page.getByRole('button', { name: 'Add', exact: true }).click();
    const dialog = tab.page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'URL', exact: true }).fill(at(1));
    await dialog.getByLabel('Credentials').selectOption({ label: kind });
    const tokens = `http://127.0.0.1:${(tokenServer.address() as AddressInfo).port}/token`;
    for (const [label, value] of Object.entries(fields))
      await dialog.getByRole('textbox', { name: label }).fill(value || tokens);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await tab.page.getByText('credentials set').waitFor();
    await openChat(at(1));
    await tab.say('hi', 'completed');
    await log.getByText('The door is open.').waitFor();
    // Secrets are neither on the page nor in the traffic log.
    const secret = /token-of-alice|key-of-alice|open sesame|secret-of-mine/;
    expect(await tab.page.content()).not.toMatch(secret);
    const traffic = await fetch(`${running.origin}/api/traffic/file`, {
      headers: { authorization: `Bearer ${running.token}` },
    });
    expect(await traffic.text()).not.toMatch(secret);
  });

  it('continues an auth-required task', async () => {
    await openChat(at(0));
    await tab.say('log in', 'auth-required');
    await log.getByText('The agent requires authentication').waitFor();
    await tab.page.getByText('Follow the instructions of the agent').waitFor();
    await tab.say('done', 'completed');
    await log.getByText('You said: done').waitFor();
  });

  it('sends and downloads files unchanged and shows images', async () => {
    await openChat(at(0));
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7 + (i >> 8)) & 255));
    await tab.page.getByLabel('Attach').setInputFiles([
      { name: 'all bytes.bin', mimeType: 'application/octet-stream', buffer: bytes },
      { name: 'dot.png', mimeType: 'image/png', buffer: image },
    ]);
    await tab.page.getByRole('list', { name: 'Files to send' }).getByText('dot.png').waitFor();
    await tab.say('here', 'completed');
    const button = (name: string) => log.getByRole('button', { name: `Download ${name}` }).click();
    expect((await saved(button('all bytes.bin'))).equals(bytes)).toBe(true);
    expect((await saved(button('dot.png'))).equals(image)).toBe(true);
    const shown = log.getByRole('article', { name: 'Artifact dot.png' }).getByRole('img');
    await shown.waitFor();
    const width = await shown.evaluate((img: any) => img.decode().then(() => img.naturalWidth));
    expect(width).toBe(1);
  });

  it(`renders an artifact of ${chunks.toLocaleString('en')} chunks with few elements`, async () => {
    await openChat(at(0));
    await tab.say('many', 'completed');
    const text = await saved(log.getByRole('button', { name: 'Download long.txt' }).click());
    expect(String(text).split('\n')).toHaveLength(chunks + 1);
    expect(await tab.page.locator('*').count()).toBeLessThan(1_000);
  });

  it('calls an agent of the official SDK', async () => {
    await openChat(official.url);
    await tab.say('stream', 'completed');
    await tab.show('Traffic');
    await timeline(tab)
      .getByRole('option', { name: /version 0\.3/ })
      .first()
      .waitFor();
  });

  it('reports an agent that died during a stream', async () => {
    let started = (): void => {};
    const isWorking = new Promise<void>((resolve) => {
      started = resolve;
    });
    const mortal = defineAgent({
      name: 'Mortal',
      description: 'Dies',
      async *process({ signal }) {
        yield 'My last words are';
        started();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const server = await serve(mortal);
    await tab.add(server.url);
    await openChat(server.url);
    await tab.page.getByRole('textbox', { name: 'Message' }).fill('hi');
    await tab.page.getByRole('button', { name: 'Send' }).click();
    await Promise.all([isWorking, log.getByText('My last words are').waitFor()]);
    await server.stop(0);
    await mortal.close();
    // The client tries to resume the stream for 30 seconds.
    await log.getByRole('alert').waitFor({ timeout: 90_000 });
    await tab.show('Agents');
    await tab.page.getByRole('button', { name: 'Reconnect' }).waitFor();
  });

  it('lists a dead letter and retries it', async () => {
    const hook = await new TestWebhook(() => 500).start();
    await workshop.send({
      message: { messageId: 'p', role: 'user', parts: [{ text: 'hi' }] },
      configuration: { pushConfig: { url: `${hook.url}?key=hush` } },
    });
    await hook.waitUntil(() => hook.received.length > 0);
    await tab.choose(at(0));
    await tab.show('Tasks');
    await tab.page.getByRole('tab', { name: /push/i }).click();
    const row = tab.page.getByRole('row').filter({ hasText: hook.url });
    await row.getByText('dead letter').waitFor();
    expect(await row.innerText()).not.toContain('hush');
    hook.behavior = () => 200;
    await row.getByRole('button', { name: 'Retry' }).click();
    await tab.page.getByText('Delivery is being retried.').waitFor();
    await waitUntilTrue(() => hook.accepted.length > 0);
    await tab.page.getByRole('button', { name: 'Refresh' }).click();
    await row.waitFor({ state: 'detached' });
    await hook.stop();
  });

  it('shows the traffic of another tab', async () => {
    const second = await Tab.at(browser as Browser, running.url);
    await second.show('Traffic');
    await openChat(at(0));
    await tab.say('sent in one tab', 'completed');
    await second.page.getByRole('searchbox', { name: 'Search' }).fill('sent in one tab');
    await timeline(second)
      .getByRole('option', { name: /console to Workshop/ })
      .first()
      .waitFor();
    expect(second.pageErrors).toEqual([]);
    await second.close();
  });

  it('logs no errors and requests no other server', () => {
    expect(tab.pageErrors).toEqual([]);
    expect(tab.foreignRequests).toEqual([]);
  });

  it('reconnects after a restart of the server', async () => {
    await tab.show('Traffic');
    await timeline(tab).getByRole('option').first().waitFor();
    await running.stop();
    await tab.page.getByRole('alert').getByText('does not respond').waitFor();
    const { port } = new URL(running.origin);
    running = await serveConsole({ agents: [{ url: at(0) }], token: running.token, port: Number(port) });
    await tab.page.getByRole('alert').getByText('does not respond').waitFor({ state: 'detached' });
    // The traffic log of the new server is empty.
    await tab.page.getByText('No traffic yet').waitFor();
    await openChat(at(0));
    await tab.say('hello again', 'completed');
    await tab.show('Traffic');
    await timeline(tab)
      .getByRole('option', { name: /console to Workshop/ })
      .first()
      .waitFor();
  });
});
