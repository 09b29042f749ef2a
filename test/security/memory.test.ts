/** Clients that use the memory of a server: unread responses, unfinished bodies, large pages. */
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import type { Task } from '../../src/protocol/task.ts';
import { userMessage } from '../../src/protocol/user-message.ts';
import { type RunningServer, type ServeOptions, serve } from '../../src/server/node/serve.ts';
import { callRpc, httpPost } from '../support/http/http-calls.ts';
import { RawConnection, rawRequest } from '../support/http/raw-http.ts';

const v1 = { 'A2A-Version': '1.0' };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(
  options: ServeOptions,
): Promise<{ server: RunningServer; metrics: Metrics; id: string }> {
  const agent = defineAgent({
    name: 'Large',
    description: 'Returns as many letters as requested',
    process: ({ text }) => 'x'.repeat(Number(text)),
  });
  const metrics = new Metrics();
  const server = await serve(agent, { ...options, metrics: { metrics } });
  closers.push(
    () => agent.close(),
    () => server.stop(0),
  );
  // Not over HTTP, because a slow machine may not read the response within the timeouts of a test.
  const { id } = (await agent.send({ message: userMessage('8000000') })) as Task;
  return { server, metrics, id };
}

const send = (url: string, letters: number) =>
  callRpc(
    url,
    'SendMessage',
    { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: String(letters) }] } },
    '1.0',
  );

const getTask = (id: string): Buffer =>
  rawRequest('POST', '/', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } }), v1);

/** A client that sends a request and never reads. */
function sendWithoutReading(port: number, bytes: Buffer): { socket: Socket; closed: Promise<unknown> } {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(bytes);
  closers.push(() => socket.destroy());
  return { socket, closed: new Promise((resolve) => socket.once('close', resolve)) };
}

const counted = (metrics: Metrics, name: string): number =>
  Number(
    new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\d+)$`, 'm').exec(metrics.registry.text())?.[1] ?? 0,
  );

describe.each([true, false])('unread responses (fastPath: %s)', (fastPath) => {
  it('are closed after stallTimeout', async () => {
    const { server, metrics, id } = await start({ fastPath, stallTimeout: 1_000 });
    const { socket, closed } = sendWithoutReading(server.port, getTask(id));
    await expect.poll(() => counted(metrics, 'dragoman_unsent_bytes')).toBeGreaterThan(8_000_000);
    await expect.poll(() => counted(metrics, 'dragoman_limits_hit_total{limit="stallTimeout"}')).toBe(1);
    socket.resume();
    await closed;
    expect(counted(metrics, 'dragoman_unsent_bytes')).toBe(0);
  });

  it('are limited in bytes per client and get 429', async () => {
    const { server, metrics, id } = await start({ fastPath, limits: { outputBytesPerClient: 20_000_000 } });
    const idle = [1, 2].map(() => sendWithoutReading(server.port, getTask(id)));
    await expect.poll(() => counted(metrics, 'dragoman_unsent_bytes')).toBeGreaterThan(16_000_000);
    const late = await httpPost(
      server.url,
      { jsonrpc: '2.0', id: 'late', method: 'GetTask', params: { id } },
      v1,
    );
    expect(late.status).toBe(429);
    expect(late.headers.get('retry-after')).toBe('1');
    expect(late.json).toMatchObject({ id: 'late', error: { code: -32_603 } });
    expect(counted(metrics, 'dragoman_limits_hit_total{limit="outputBytes"}')).toBe(1);
    for (const { socket } of idle) socket.destroy();
    await expect.poll(() => counted(metrics, 'dragoman_unsent_bytes')).toBe(0);
    expect(
      (await httpPost(server.url, { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } }, v1)).status,
    ).toBe(200);
  });

  it('are read completely by a slow client', async () => {
    const { server, id } = await start({ fastPath, stallTimeout: 1_500 });
    const connection = new RawConnection(server.port);
    closers.push(() => connection.destroy());
    connection.write(getTask(id));
    // Pauses for a fraction of the timeout each time, and for longer than the timeout in total.
    const { socket } = connection;
    for (let received = 200_000; received <= 7_000_000; received += 400_000) {
      await expect.poll(() => socket.bytesRead, { interval: 5 }).toBeGreaterThan(received);
      socket.pause();
      await new Promise((resolve) => setTimeout(resolve, 100));
      socket.resume();
    }
    expect((await connection.nextResponse())?.body.length).toBeGreaterThan(8_000_000);
  });

  it('of streams are limited as well', async () => {
    const { server, metrics, id } = await start({ fastPath, limits: { outputBytesPerClient: 20_000_000 } });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/resubscribe', params: { id } });
    const streams = [1, 2, 3].map(() => sendWithoutReading(server.port, rawRequest('POST', '/', body)));
    await expect.poll(() => counted(metrics, 'dragoman_limits_hit_total{limit="outputBytes"}')).toBe(1);
    for (const { socket } of streams) socket.destroy();
    await expect.poll(() => counted(metrics, 'dragoman_unsent_bytes')).toBe(0);
  });
});

describe('request bodies', () => {
  it('in transit are limited in bytes per client', async () => {
    const { server, metrics } = await start({ limits: { bodyBytesPerClient: 6_000_000 } });
    const body = Buffer.alloc(5_000_000, 0x20);
    const unfinished = rawRequest('POST', '/', body, { 'Content-Length': '6000000' });
    const first = sendWithoutReading(server.port, unfinished);
    await expect.poll(() => counted(metrics, 'dragoman_body_bytes')).toBeGreaterThan(4_000_000);
    const late = await httpPost(`${server.url}/message:send`, ' '.repeat(4_000_000), v1);
    expect(late.status).toBe(429);
    expect(counted(metrics, 'dragoman_limits_hit_total{limit="bodyBytes"}')).toBe(1);
    first.socket.destroy();
    await expect.poll(() => counted(metrics, 'dragoman_body_bytes')).toBe(0);
    expect((await send(server.url, 5)).result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('pages of tasks', () => {
  it('are shortened to pageBytes and continue with the page token', async () => {
    const { server } = await start({ limits: { pageBytes: 100_000 } });
    for (let i = 0; i < 5; i++) await send(server.url, 40_000);
    const ids = new Set<string>();
    let pageToken = '';
    let pages = 0;
    do {
      const { result } = await callRpc(server.url, 'ListTasks', { includeArtifacts: true, pageToken }, '1.0');
      expect(result.totalSize).toBe(6);
      expect(JSON.stringify(result).length < 100_000 || result.tasks.length === 1).toBe(true);
      for (const { id } of result.tasks) ids.add(id);
      pageToken = result.nextPageToken;
      pages++;
    } while (pageToken !== '');
    expect(ids.size).toBe(6);
    expect(pages).toBe(4);
  });
});
