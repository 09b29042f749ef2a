import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { harSchema } from '../../../src/tap/har/har-schema.ts';
import { runDragoman, type RunningCommand } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-replay-'));
const file = join(folder, 'talk.jsonl');
const open: { close(): Promise<unknown> }[] = [{ close: () => rm(folder, { recursive: true }) }];

const say = (text: string) => ({
  message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }] },
});
const send = (url: string, text: string, headers = {}) =>
  httpPost(url, { jsonrpc: '2.0', id: 1, method: 'message/send', params: say(text) }, headers);

function run(args: string[]): RunningCommand {
  const running = runDragoman(args, { env: { NO_COLOR: '1' } });
  open.push({ close: () => running.stop('SIGKILL') });
  return running;
}

beforeAll(async () => {
  const agent = defineAgent({
    name: 'Keyed',
    description: 'Needs a key',
    securitySchemes: { key: { type: 'apiKey', location: 'header', name: 'X-Team' } },
    process: async ({ text }) => `heard ${text}`,
  });
  const server = await serve(agent);
  open.push({ close: () => agent.close() }, { close: () => server.stop(0) });
  const tap = run(['tap', '--to', server.url, '--record', file]);
  const [, url = ''] = await tap.prints(/^listening on (\S+)\n/);
  // The client does not fetch the card, which declares the key.
  await send(url, 'hello', { 'x-team': 'blue-4711-whale' });
  await send(url, 'my key is sk-proj-0123456789abcdef');
  await tap.stop('SIGINT');
});
afterAll(async () => {
  for (const each of open.toReversed()) await each.close();
});

describe('dragoman tap --record', () => {
  it('stores the card, and no secrets', () => {
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('card of Keyed');
    expect(text).toContain('my key is [redacted]');
    expect(text).not.toContain('blue-4711-whale');
    expect(text).not.toContain('sk-proj-0123456789abcdef');
  });
});

describe('dragoman tap -o har', () => {
  it('writes an HTTP archive that can be read and replayed', async () => {
    const { stdout, code } = await runInProcess(['tap', '--read', file, '-o', 'har']);
    expect(code).toBe(0);
    const { log } = harSchema.parse(JSON.parse(stdout));
    expect(log).toMatchObject({ version: '1.2', creator: { name: 'dragoman' } });
    const posted = log.entries.filter(({ request }) => request.method === 'POST');
    expect(posted.map(({ response }) => response.status)).toEqual([200, 200]);
    expect(posted[0]?.request.postData?.text).toContain('message/send');
    expect(stdout).not.toContain('blue-4711-whale');

    const archive = join(folder, 'talk.har');
    writeFileSync(archive, stdout);
    const texts = async (path: string): Promise<string[]> => {
      const { stdout: lines } = await runInProcess(['tap', '--read', path, '-o', 'json']);
      const records = lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { decoded?: { operation?: string } });
      return records.flatMap(({ decoded }) => decoded?.operation ?? []);
    };
    const operations = await texts(archive);
    expect(operations).toContain('send');
    expect(operations).toEqual(await texts(file));

    const mock = run(['mock', '--replay', archive, '-o', 'json']);
    const [line] = await mock.prints(/^\{.*\}\n/);
    await using client = connect((JSON.parse(line) as { url: string }).url);
    expect(await client.send('hello')).toMatchObject({ artifacts: [{ parts: [{ text: 'heard hello' }] }] });
    await expect(client.send('hallo')).rejects.toThrow('recorded "hello", received "hallo"');
  });
});

describe('dragoman mock --replay', () => {
  it('answers in the given version and reports near misses', async () => {
    const mock = run(['mock', '--replay', file, '--speaks', '1.0', '-o', 'json']);
    const [line] = await mock.prints(/^\{.*\}\n/);
    const { url, requests } = JSON.parse(line);
    expect(requests).toBe(2);
    const { json } = await httpGet(`${url}/.well-known/agent-card.json`);
    const listed = ['JSONRPC', 'HTTP+JSON', 'GRPC'].map((protocolBinding) => ({
      protocolBinding,
      protocolVersion: '1.0',
    }));
    expect(json).toMatchObject({ name: 'Keyed', supportedInterfaces: listed });
    await using client = connect(url);
    expect(await client.send('hello')).toMatchObject({ artifacts: [{ parts: [{ text: 'heard hello' }] }] });
    await client.send('my key is sk-proj-ffffffffffffffff');
    await expect(client.send('hallo')).rejects.toThrow('recorded "hello", received "hallo"');
    await mock.prints(/warning: The message matches no recorded request\. Nearest: request 1 /, 'stderr');
    const journal = await httpGet(`${url}/__admin/journal?unmatched=true`);
    expect(JSON.stringify(journal.json)).toContain('recorded \\"hello\\", received \\"hallo\\"');
  });

  it('explains what it cannot replay', async () => {
    writeFileSync(join(folder, 'other.txt'), 'hello\n');
    const results = await Promise.all(
      [
        ['--replay', join(folder, 'other.txt')],
        ['script.yaml', '--replay', file],
        ['--replay', file, '--replay-agent', 'Nobody'],
      ].map((args) => runInProcess(['mock', ...args])),
    );
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(results[0]?.stderr).toContain('Line 1 is not the header of a traffic file');
    expect(results[1]?.stderr).toContain('--replay cannot be used with a script');
    expect(results[2]?.stderr).toContain('Recorded agents: Keyed.');
  });
});
