import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeMemoryCurve } from '../support/memory-curve.ts';

let server: ChildProcess;
let url: string;

beforeEach(async () => {
  server = fork(join(import.meta.dirname, 'fixtures/counter-server.mjs'), { execArgv: [] });
  const ended = once(server, 'exit').then(([code]) => Promise.reject(new Error(`The server ended: ${code}`)));
  [{ url }] = (await Promise.race([once(server, 'message'), ended])) as [{ url: string }];
  ended.catch(() => {});
});

afterEach(async () => {
  if (server.exitCode !== null) return;
  server.kill('SIGKILL');
  await once(server, 'exit');
});

/** Each request has its own connection: a slow machine would use one that the server closes because it is idle. */
function call(client: string, method: string, params: object): Promise<{ status: number; body: string }> {
  const headers = {
    'Content-Type': 'application/json',
    'A2A-Version': '1.0',
    Authorization: `Bearer token-of-${client}`,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', headers, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  });
}

const sendRequest = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
  configuration: { historyLength: 0 },
});

async function readMemory(): Promise<{ peak: number; resident: number }> {
  server.send('memory');
  const [memory] = (await once(server, 'message')) as [{ peak: number; resident: number }];
  return memory;
}

it('stays below 1 GB while one client sends 500 messages of 9.9 MB, and keeps the tasks of others', async () => {
  const theirs = JSON.parse((await call('bob', 'SendMessage', sendRequest('hello'))).body) as unknown;
  const text = 'x'.repeat(9_900_000);
  const outcomes = new Set<number>();
  const curve: [messages: number, megabytes: number][] = [
    [0, Math.round((await readMemory()).resident / 1e6)],
  ];
  for (let n = 0; n < 500; n++) {
    outcomes.add((await call('ann', 'SendMessage', sendRequest(text))).status);
    if ((n + 1) % 25 === 0) curve.push([n + 1, Math.round((await readMemory()).resident / 1e6)]);
  }
  const { peak } = await readMemory();
  writeMemoryCurve('messages', curve);
  expect([...outcomes]).toEqual([200]);
  expect(peak).toBeLessThan(1_000_000_000);
  const { id } = (theirs as { result: { task: { id: string } } }).result.task;
  expect(JSON.parse((await call('bob', 'GetTask', { id })).body)).toMatchObject({ result: { id } });
}, 600_000);
