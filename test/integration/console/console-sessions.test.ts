import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { bearerAuth } from '../../../src/server/auth/index.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { ConsolePage } from '../../support/console/console-page.ts';

const secret = 'sk-abcdefghijklmnopqrstuv';
let goOn: () => void = () => {};
const agent = defineAgent({
  name: 'Keeper',
  description: 'Keeps',
  async *process({ text, ask }) {
    if (text === 'secret') yield `the key is ${secret}, the token is letmein-please`;
    else if (text === 'ask') yield `You chose ${textOf((await ask('Which?')).parts)}`;
    else if (text === 'slow') {
      yield { artifact: { artifactId: 'a', parts: [{ text: 'first ' }] } };
      await new Promise<void>((resolve) => (goOn = resolve));
      yield { artifact: { artifactId: 'a', parts: [{ text: 'second' }] }, append: true, lastChunk: true };
    } else yield `You said ${text}`;
  },
});

let served: RunningServer;
let guarded: RunningServer;
beforeAll(async () => {
  served = await serve(agent);
  guarded = await serve(agent, {
    auth: { authenticators: [bearerAuth({ tokens: { 'letmein-please': 'a' } })] },
  });
});
afterAll(async () => {
  await Promise.all([served.stop(0), guarded.stop(0)]);
  await agent.close();
});

let folder: string;
const consoles: RunningConsole[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dragoman-sessions-'));
});
afterEach(async () => {
  await Promise.all(consoles.splice(0).map((each) => each.stop()));
  await rm(folder, { recursive: true });
});

async function open(): Promise<{ page: ConsolePage; running: RunningConsole; id: string }> {
  const running = await serveConsole({ agents: [{ url: served.url }], sessions: folder });
  consoles.push(running);
  const page = new ConsolePage(running);
  const [{ id }] = await page.requestJson('agents');
  return { page, running, id };
}

const message = (text: string, turn: string, conversation = 'c1') => ({
  parts: [{ text }],
  conversation: { id: conversation, turn },
});
const textsOf = (events: any[]): string[] =>
  events.flatMap(({ event }) => (event?.artifact?.parts ?? []).map(({ text }: { text: string }) => text));

/** All regular files below the folder of the test. */
async function files(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
}

describe('console sessions', () => {
  it('keeps conversations, recordings and agents over a restart, in files of the user alone', async () => {
    const first = await open();
    await first.page.collect(`agents/${first.id}/messages`, message('hello', 't1'));
    await first.page.requestJson('conversations/c1', { name: 'Greeting' });
    await first.page.requestJson('agents', { url: guarded.url });
    await first.running.stop();
    const paths = await files();
    expect(paths.map((each) => statSync(each).mode & 0o777)).toEqual(paths.map(() => 0o600));

    const { page, id } = await open();
    expect(await page.requestJson('conversations')).toMatchObject([
      { id: 'c1', agentId: id, title: 'Greeting', state: 'completed' },
    ]);
    const { turns } = await page.requestJson('conversations/c1');
    expect(turns).toMatchObject([{ id: 't1', input: [{ text: 'hello' }], isRunning: false, omitted: 0 }]);
    expect(textsOf(turns[0].events)).toEqual(['You said hello']);
    expect((await page.requestJson('agents')).map(({ url }: { url: string }) => url)).toEqual([
      served.url,
      guarded.url,
    ]);
    const [recording] = await page.requestJson('recordings');
    const { records } = await page.requestJson(`recordings/${recording.id}`);
    expect(JSON.stringify(records)).toContain('You said hello');
  });

  it('writes neither credentials nor texts that look like them', async () => {
    const { page, running } = await open();
    const credentials = { kind: 'bearer', token: 'letmein-please' };
    const { id } = await page.requestJson('agents', { url: guarded.url, credentials });
    const events = await page.collect(`agents/${id}/messages`, message('secret', 't1'));
    expect(textsOf(events).join()).toContain(secret);
    await running.stop();
    const written = (await files()).map((each) => readFileSync(each, 'utf8')).join('\n');
    expect(written).toContain('the key is');
    expect(written).not.toContain(secret);
    expect(written).not.toContain('letmein-please');
  });

  it('continues a turn when its page leaves, and sends all events to a page that attaches', async () => {
    const { page, id } = await open();
    for await (const { event } of page.stream(`agents/${id}/messages`, message('slow', 't1')))
      if (event?.kind === 'artifact') break;
    const attached = page.collect('conversations/c1/turns/t1/events');
    goOn();
    const events = await attached;
    expect(textsOf(events).join('')).toBe('first second');
    expect(events.at(-1)).toMatchObject({ kind: 'done' });
    const { turns } = await page.requestJson('conversations/c1');
    expect(textsOf(turns[0].events)).toEqual(['first second']);
  });

  it('attaches to the running task after a restart', async () => {
    const first = await open();
    for await (const { event } of first.page.stream(`agents/${first.id}/messages`, message('slow', 't1')))
      if (event?.kind === 'artifact') break;
    await first.running.stop();
    const { page } = await open();
    expect(await page.requestJson('conversations/c1')).toMatchObject({ turns: [{ isRunning: true }] });
    const attached = page.collect('conversations/c1/turns/t1/events');
    goOn();
    const events = await attached;
    expect(events.at(-1)).toMatchObject({ kind: 'done' });
    expect(JSON.stringify(events)).toContain('second');
  });

  it('ends the turn of a question when the reply starts another one', async () => {
    const { page, id } = await open();
    let taskId = '';
    for await (const { event } of page.stream(`agents/${id}/messages`, message('ask', 't1'))) {
      taskId = event?.task?.id ?? event?.taskId ?? taskId;
      if (event?.status?.state === 'input-required') break;
    }
    await page.collect(`agents/${id}/messages`, { ...message('blue', 't2'), taskId });
    await page.collect('conversations/c1/turns/t1/events');
    const { turns } = await page.requestJson('conversations/c1');
    expect(turns.map(({ isRunning }: any) => isRunning)).toEqual([false, false]);
    expect(JSON.stringify(turns[0].events)).not.toContain('You chose');
    expect(JSON.stringify(turns[1].events)).toContain('You chose blue');
  });

  it('stops waiting for an answer on request', async () => {
    const { page, id } = await open();
    const collected = page.collect(`agents/${id}/messages`, message('slow', 't1'));
    await expect
      .poll(async () => (await page.requestJson('conversations/c1').catch(() => ({})))?.turns?.length)
      .toBe(1);
    await page.requestJson('conversations/c1/turns/t1', undefined, 'DELETE');
    expect((await collected).at(-1)).toMatchObject({ kind: 'done' });
    goOn();
  });

  it('gives each console a folder of its own', async () => {
    const [one, two] = [await open(), await open()];
    await one.page.collect(`agents/${one.id}/messages`, message('one', 't1'));
    await two.page.collect(`agents/${two.id}/messages`, message('two', 't1'));
    await two.page.requestJson('conversations', undefined, 'DELETE');
    expect(await one.page.requestJson('conversations')).toMatchObject([{ title: 'one' }]);
    const folders = await Promise.all([one, two].map(({ page }) => page.requestJson('info')));
    expect(folders.map(({ sessionFolder }) => sessionFolder)).toEqual([join(folder, '1'), join(folder, '2')]);
  });

  it('takes over the folder of a console that was killed', async () => {
    const first = await open();
    await first.running.stop();
    // No process has this ID.
    const content = JSON.stringify({ pid: 2 ** 30, host: (await import('node:os')).hostname(), key: 'x' });
    writeFileSync(join(folder, '1', 'lock'), content);
    const { page } = await open();
    expect(await page.requestJson('info')).toMatchObject({ sessionFolder: join(folder, '1') });
  });

  it('reports damaged files in words and reads the others', async () => {
    const first = await open();
    await first.page.collect(`agents/${first.id}/messages`, message('good', 't1'));
    await first.running.stop();
    writeFileSync(join(folder, '1', 'conversations', 'broken.json'), '{"format":"dragoman-conv');
    writeFileSync(join(folder, '1', 'conversations', 'other.json'), '{"format":"other"}');
    writeFileSync(join(folder, '1', 'agents.json'), '[]');
    writeFileSync(join(folder, '1', 'recordings', 'broken.tap.jsonl'), 'nothing');
    const { page } = await open();
    expect(await page.requestJson('conversations')).toMatchObject([{ title: 'good' }]);
    const { sessionNotes } = await page.requestJson('info');
    expect(sessionNotes).toEqual([
      expect.stringMatching(/^agents\.json is damaged and not shown: its form is unknown/),
      expect.stringMatching(/^conversations\/broken\.json is damaged and not shown: it is not JSON/),
      expect.stringMatching(/^conversations\/other\.json is damaged and not shown: its form is unknown/),
    ]);
    expect(await page.requestJson('recordings/broken')).toMatchObject({
      error: { message: expect.stringContaining('not the header of a traffic file') },
    });
  });

  it('keeps working without a folder that it can write', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const running = await serveConsole({ agents: [{ url: served.url }], sessions: join(file, 'below') });
    consoles.push(running);
    const page = new ConsolePage(running);
    const { sessionFolder, sessionNotes } = await page.requestJson('info');
    expect(sessionFolder).toBeUndefined();
    expect(sessionNotes).toEqual([expect.stringMatching(/^Conversations and recordings are not kept: /)]);
  });

  it('renames and deletes recordings, and rejects paths as IDs', async () => {
    const { page, id } = await open();
    await page.collect(`agents/${id}/messages`, message('hello', 't1'));
    const [recording] = await page.requestJson('recordings');
    await page.requestJson(`recordings/${recording.id}`, { name: '<b>mine</b>' });
    expect(await page.requestJson('recordings')).toMatchObject([{ name: '<b>mine</b>', isLive: true }]);
    for (const path of ['..%2F..%2Fagents', '%2Fetc%2Fpasswd', '..'])
      expect((await page.request(`recordings/${path}`)).status).toBe(404);
    await page.requestJson('recordings', undefined, 'DELETE');
    expect(await page.requestJson('recordings')).toEqual([]);
    await page.collect(`agents/${id}/messages`, message('again', 't2'));
    expect(await page.requestJson('recordings')).toHaveLength(1);
  });
});
