/** The bytes of each fault, and its ways below HTTP. */
import { connect as dial, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../src/testkit/clock/virtual-clock.ts';
import { TestAgentServer } from '../../../src/testkit/test-agent-server.ts';
import type { Fault } from '../../../src/testkit/faults/fault.ts';
import { RawConnection, rawRequest } from '../../support/http/raw-http.ts';
import { streamSseFrames } from '../../support/http/sse-frames.ts';
import { startFaultyServer } from '../../support/testkit/faulty-server.ts';

const modern = { 'A2A-Version': '1.0' };

const ask = (method: string): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] } },
  });

const stream = (connection = 'keep-alive'): Buffer =>
  rawRequest('POST', '/', ask('SendStreamingMessage'), { ...modern, Connection: connection });
const send = (): Buffer => rawRequest('POST', '/', ask('SendMessage'), modern);

/** Everything that comes over a connection until it ends, and how it ends. */
function bytesFrom(
  port: number,
  request: Buffer,
): Promise<{ text: string; bytes: Buffer; error: string | undefined }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let error: string | undefined;
    const socket: Socket = dial(port, '127.0.0.1', () => socket.write(request));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', (thrown: NodeJS.ErrnoException) => (error = thrown.code));
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      const bytes = Buffer.concat(chunks);
      resolve({ bytes, text: bytes.toString('utf8'), error });
    });
  });
}

describe('replacement responses', () => {
  it.each<[Fault, number, Record<string, string>, string]>([
    [
      { kind: 'http', status: 503, headers: { 'x-why': 'night' }, body: 'asleep' },
      503,
      { 'x-why': 'night', 'content-type': 'text/plain; charset=utf-8' },
      'asleep',
    ],
    [
      { kind: 'http', status: 418, body: { tea: true } },
      418,
      { 'content-type': 'application/json' },
      '{"tea":true}',
    ],
    [
      { kind: 'http', status: 502, headers: { 'Content-Type': 'text/html' }, body: '<p>' },
      502,
      { 'content-type': 'text/html' },
      '<p>',
    ],
    [{ kind: 'unauthorized' }, 401, { 'www-authenticate': 'Bearer' }, ''],
    [
      { kind: 'unauthorized', challenge: 'Basic realm="x"' },
      401,
      { 'www-authenticate': 'Basic realm="x"' },
      '',
    ],
    [{ kind: 'rate-limit', retryAfter: 3 }, 429, { 'retry-after': '3' }, ''],
    [
      { kind: 'redirect', status: 308, location: 'http://127.0.0.1:1/x' },
      308,
      { location: 'http://127.0.0.1:1/x' },
      '',
    ],
  ])('%j', async (fault, status, headers, body) => {
    await using server = await startFaultyServer([fault]);
    const line = new RawConnection(server.port);
    for (const request of [send(), stream()]) {
      line.write(request);
      const reply = await line.nextResponse();
      expect(reply).toMatchObject({ status, body });
      for (const [name, value] of Object.entries(headers)) expect(reply?.headers.get(name)).toBe(value);
    }
    server.faults = [];
    // The connection is as good as before.
    line.write(send());
    expect((await line.nextResponse())?.status).toBe(200);
    line.destroy();
  });

  it('can be a redirect without a Location header', async () => {
    await using server = await startFaultyServer([{ kind: 'redirect', status: 307 }]);
    const line = new RawConnection(server.port);
    line.write(send());
    const reply = await line.nextResponse();
    expect(reply?.status).toBe(307);
    expect(reply?.headers.has('location')).toBe(false);
    line.destroy();
  });
});

describe('delay fault', () => {
  it('delays the response by the clock of the agent', async () => {
    const clock = new VirtualClock();
    await using server = await startFaultyServer([{ kind: 'delay', duration: 5_000 }], { clock });
    const line = new RawConnection(server.port);
    let isHere = false;
    line.socket.once('data', () => (isHere = true));
    line.write(stream());
    await clock.advance(4_999);
    expect(isHere).toBe(false);
    await clock.advance(1);
    expect((await line.nextResponse())?.body.match(/^data:/gm)).toHaveLength(6);
    line.destroy();
  });

  it('discards the response if the client disconnects', async () => {
    const clock = new VirtualClock();
    await using server = await startFaultyServer([{ kind: 'delay', duration: 5_000 }], { clock });
    const line = new RawConnection(server.port);
    line.write(send());
    await clock.advance(1);
    expect(clock.pending).toBe(1);
    line.destroy();
    await clock.advance(1);
    expect(clock.pending).toBe(0);
  });
});

describe('stream faults', () => {
  it('end the stream within a frame (truncate)', async () => {
    await using server = await startFaultyServer([{ kind: 'half-frame', after: 2 }]);
    const { text, error } = await bytesFrom(server.port, stream('close'));
    expect(error).toBeUndefined();
    const body = text.slice(text.indexOf('\r\n\r\n'));
    expect(body.match(/^data:/gm)).toHaveLength(3);
    expect(body).not.toMatch(/}\n\n\r\n0\r\n\r\n$/);
    // The end of the body is said properly.
    expect(body).toMatch(/\r\n0\r\n\r\n$/);
  });

  it('close the connection without ending the body (disconnect)', async () => {
    await using server = await startFaultyServer([{ kind: 'disconnect', after: 2 }]);
    const { text, error } = await bytesFrom(server.port, stream());
    expect(error).toBeUndefined();
    expect(text.match(/^data:/gm)).toHaveLength(2);
    expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  it('reset the connection', async () => {
    await using server = await startFaultyServer([{ kind: 'reset', after: 2 }]);
    const { error } = await bytesFrom(server.port, stream());
    expect(error).toBe('ECONNRESET');
  });

  it.each<Fault>([{ kind: 'reset' }, { kind: 'refuse' }])(
    'reset the connection before the response: %j',
    async (fault) => {
      await using server = await startFaultyServer([fault]);
      expect(await bytesFrom(server.port, stream())).toMatchObject({ text: '', error: 'ECONNRESET' });
    },
  );

  it('insert invalid UTF-8 into a frame', async () => {
    await using server = await startFaultyServer([
      { kind: 'bad-utf8', after: 3 },
      { kind: 'disconnect', after: 5 },
    ]);
    const { bytes } = await bytesFrom(server.port, stream());
    expect(bytes.includes(Buffer.from([0xc3, 0x28]))).toBe(true);
    expect(bytes.toString('latin1')).toContain('"text":"\u00c3(one"');
  });

  it('pad a frame to the given size', async () => {
    await using server = await startFaultyServer([{ kind: 'oversize', bytes: 300_000, after: 1 }]);
    const line = new RawConnection(server.port);
    line.write(stream());
    const sizes = (await line.nextResponse())?.body.split('\n\n').map(({ length }) => length) ?? [];
    expect(sizes[1]).toBe(300_000);
    expect(sizes.filter((size) => size > 10_000)).toHaveLength(1);
    line.destroy();
  });

  it('send only heartbeats at the given interval', async () => {
    const clock = new VirtualClock();
    await using server = await startFaultyServer([{ kind: 'heartbeats', after: 2, every: 10_000 }], {
      clock,
    });
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { ...modern, 'Content-Type': 'application/json' },
      body: ask('SendStreamingMessage'),
    });
    const frames = streamSseFrames(response);
    const next = async () => ((await frames.next()).value?.data ? 'event' : 'comment');
    expect([await next(), await next(), await next()]).toEqual(['event', 'event', 'comment']);
    await clock.advance(30_000);
    expect([await next(), await next(), await next()]).toEqual(['comment', 'comment', 'comment']);
    const more = next();
    expect(await Promise.race([more, clock.advance(9_999).then(() => 'nothing')])).toBe('nothing');
    await clock.advance(1);
    expect(await more).toBe('comment');
    await frames.return(undefined);
    await clock.advance(10_000);
    expect(clock.pending).toBe(0);
  });
});

describe('response faults', () => {
  const bodyOf = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4);

  it('truncate the body with a matching Content-Length', async () => {
    await using server = await startFaultyServer([{ kind: 'half-frame' }]);
    const line = new RawConnection(server.port);
    line.write(send());
    const body = (await line.nextResponse())?.body ?? '';
    expect(body).toMatch(/^\{"jsonrpc":"2\.0"/);
    expect(() => JSON.parse(body)).toThrow(SyntaxError);
    line.destroy();
  });

  it('close the connection within the body', async () => {
    await using server = await startFaultyServer([{ kind: 'disconnect' }]);
    const { text } = await bytesFrom(server.port, send());
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
    expect(bodyOf(text)).toHaveLength(Math.ceil(length / 2));
  });

  it('pad the body to the given size and keep it valid', async () => {
    await using server = await startFaultyServer([{ kind: 'oversize', bytes: 200_000 }]);
    const line = new RawConnection(server.port);
    line.write(send());
    const reply = await line.nextResponse();
    expect(reply?.headers.get('content-length')).toBe('200000');
    expect(JSON.parse(reply?.body ?? '')).toMatchObject({
      result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } },
    });
    line.destroy();
  });
});

describe('port outage', () => {
  it('refuses connections for the given time, then listens on the same port', async () => {
    const clock = new VirtualClock();
    await using server = await startFaultyServer([{ kind: 'refuse', duration: 2_000, times: 1 }], { clock });
    const other = new RawConnection(server.port);
    other.write(stream());
    expect((await bytesFrom(server.port, send())).error).toBe('ECONNRESET');
    // All connections are closed, as when a process ends.
    await other.waitForEnd();
    expect((await bytesFrom(server.port, send())).error).toBe('ECONNREFUSED');
    await clock.advance(1_999);
    expect((await bytesFrom(server.port, send())).error).toBe('ECONNREFUSED');
    await clock.advance(1);
    const line = new RawConnection(server.port);
    line.write(send());
    expect((await line.nextResponse())?.status).toBe(200);
    line.destroy();
    other.destroy();
  });

  it('refuses connections until it is ended, also if started twice', async () => {
    await using server = await startFaultyServer();
    server.outage.start();
    server.outage.start();
    expect((await bytesFrom(server.port, send())).error).toBe('ECONNREFUSED');
    await Promise.all([server.outage.end(), server.outage.end()]);
    await server.outage.end();
    const line = new RawConnection(server.port);
    line.write(send());
    expect((await line.nextResponse())?.status).toBe(200);
    line.destroy();
  });
});

describe('faults of a script', () => {
  it.each<[string, (bytes: Awaited<ReturnType<typeof bytesFrom>>) => void]>([
    [
      '{ http: { status: 503, body: asleep } }',
      ({ text }) => expect(text).toMatch(/^HTTP\/1\.1 503 [^]*asleep$/),
    ],
    ['{ disconnect: { after: 1 } }', ({ text }) => expect(text.match(/^data:/gm)).toHaveLength(1)],
    ['{ reset: { after: 1 } }', ({ error }) => expect(error).toBe('ECONNRESET')],
    ['{ refuse: { for: 1h } }', ({ error }) => expect(error).toBe('ECONNRESET')],
  ])('are injected: %s', async (fault, check) => {
    const script = `rules:\n  - when: { text: go }\n    then:\n      - complete: done\n    fault: ${fault}\n`;
    await using server = await TestAgentServer.start({ script, clock: 'system' });
    check(await bytesFrom(server.port, stream('close')));
  });
});
