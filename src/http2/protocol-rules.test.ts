/** Rules of RFC 9113 that a peer may break, and rules that a receiver must follow, byte by byte. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  connectionStart,
  frameTypes,
  headerBlock,
  http2Frame,
  type RawFrame,
  RawHttp2Connection,
  setting,
} from '../../test/support/grpc/raw-http2.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { http2Codes } from './http2-error.ts';
import { Http2Session } from './http2-session.ts';
import type { Http2Stream } from './http2-stream.ts';
import type { MessageHead } from './message-head.ts';

const { data, headers, reset, settings, ping, goaway, windowUpdate, continuation } = frameTypes;
const priority = 2;
const pushPromise = 5;
const endStream = 1;
const endHeaders = 4;
const padded = 8;
const hasPriority = 32;
const windowSize = 65_536;

let server: Server;
let faults: unknown[];
const sessions: Http2Session[] = [];
const connections: RawHttp2Connection[] = [];
const heads: MessageHead[] = [];

/** Answers `/echo` with its body, `/early` at once, and `/large` with 200,000 bytes. */
function respond(stream: Http2Stream, head: MessageHead): void {
  heads.push(head);
  const chunks: Buffer[] = [];
  stream.handler = {
    dataReceived: (bytes) => void chunks.push(bytes),
    endReceived() {
      const body = head.path === '/large' ? 'l'.repeat(200_000) : Buffer.concat(chunks);
      stream.sendHead([':status', '200'], false);
      stream.end(body, ['x-trailer', 'last']);
    },
    drained() {},
    closed() {},
  };
  if (head.path === '/early') stream.sendHead([':status', '200'], true);
  else stream.read();
}

beforeAll(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    let counted = 0;
    const count = (): void => {
      if (++counted > 100) session.fail(http2Codes.enhanceYourCalm, 'useless');
    };
    const session: Http2Session = new Http2Session(
      socket,
      {
        isServer: true,
        maxConcurrentStreams: 5,
        initialWindowSize: windowSize,
        sessionWindow: 2 * windowSize,
        maxHeaderListSize: 8_000,
        maxHeaderFields: 50,
      },
      {
        requestReceived: respond,
        uselessFrameReceived: count,
        resetReceived: count,
        endReceived() {
          for (const stream of session.streams.values()) stream.reset(http2Codes.cancel);
          session.close();
        },
        closed() {},
      },
    );
    sessions.push(session);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  faults = [];
  process.on('uncaughtExceptionMonitor', (fault) => faults.push(fault));
});
afterAll(() => server.close());
afterEach(() => {
  expect(faults).toEqual([]);
  for (const each of sessions.splice(0)) each.destroy();
  for (const { socket } of connections.splice(0)) socket.destroy();
  heads.length = 0;
});

function open(...bytes: readonly Uint8Array[]): RawHttp2Connection {
  const connection = new RawHttp2Connection((server.address() as AddressInfo).port);
  connections.push(connection);
  connection.write(connectionStart(), ...bytes);
  return connection;
}

const block = (path = '/echo', more: object = {}): Buffer =>
  headerBlock({ ':method': 'POST', ':scheme': 'http', ':path': path, ':authority': 'a', ...more });
const request = (id: number, path = '/echo', flags = endHeaders): Buffer =>
  http2Frame(headers, flags, id, block(path));
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const codeOf = ({ type, payload }: RawFrame): number => payload.readUInt32BE(type === goaway ? 4 : 0);
const isAnswer =
  (id: number) =>
  ({ type, stream, flags }: RawFrame): boolean =>
    stream === id && type === headers && (flags & endStream) === 1;

/** Returns the code with which the server closes the connection. */
async function goawayAfter(...bytes: readonly Uint8Array[]): Promise<number> {
  const connection = open(...bytes);
  const frame = await connection.next(({ type }) => type === goaway);
  await connection.closed;
  return frame ? codeOf(frame) : -1;
}

/** Returns the code with which the server resets a stream; the connection remains usable. */
async function resetAfter(id: number, ...bytes: readonly Uint8Array[]): Promise<number> {
  const connection = open(...bytes);
  const frame = await connection.next(({ type, stream }) => type === reset && stream === id);
  connection.write(request(id + 100, '/echo', endHeaders | endStream));
  expect(await connection.next(isAnswer(id + 100))).toBeDefined();
  return frame ? codeOf(frame) : -1;
}

const bodyOf = ({ frames }: RawHttp2Connection, id: number): string =>
  Buffer.concat(
    frames.filter((each) => each.type === data && each.stream === id).map(({ payload }) => payload),
  ).toString();

describe('frames that are allowed', () => {
  it.each<[string, Buffer[], string]>([
    ['one frame', [request(1), http2Frame(data, endStream, 1, Buffer.from('abc'))], 'abc'],
    [
      'padding',
      [
        http2Frame(
          headers,
          endHeaders | padded,
          1,
          Buffer.concat([Buffer.from([3]), block(), Buffer.alloc(3)]),
        ),
        http2Frame(
          data,
          endStream | padded,
          1,
          Buffer.concat([Buffer.from([200]), Buffer.from('abc'), Buffer.alloc(200)]),
        ),
      ],
      'abc',
    ],
    [
      'priorities',
      [
        http2Frame(priority, 0, 1, Buffer.alloc(5)),
        http2Frame(headers, endHeaders | hasPriority, 1, Buffer.concat([Buffer.alloc(5), block()])),
        http2Frame(priority, 0, 1, Buffer.alloc(5)),
        http2Frame(data, endStream, 1, Buffer.from('abc')),
      ],
      'abc',
    ],
    [
      'continuations',
      [
        http2Frame(headers, 0, 1, block().subarray(0, 10)),
        http2Frame(continuation, 0, 1, block().subarray(10, 20)),
        http2Frame(continuation, endHeaders, 1, block().subarray(20)),
        http2Frame(data, endStream, 1, Buffer.from('abc')),
      ],
      'abc',
    ],
    [
      'unknown types and flags',
      [http2Frame(99, 255, 7), request(1), http2Frame(data, 0xf7, 1, Buffer.from('abc'))],
      'abc',
    ],
    [
      'trailers',
      [
        request(1),
        http2Frame(data, 0, 1, Buffer.from('abc')),
        http2Frame(headers, endHeaders | endStream, 1, headerBlock({ 'x-sent': '1' })),
      ],
      'abc',
    ],
    ['an empty body', [request(1, '/echo', endHeaders | endStream)], ''],
    ['an empty last frame', [request(1), http2Frame(data, endStream, 1)], ''],
    [
      'a content length',
      [
        http2Frame(headers, endHeaders, 1, block('/echo', { 'content-length': '3' })),
        http2Frame(data, endStream, 1, Buffer.from('abc')),
      ],
      'abc',
    ],
  ])('are answered: %s', async (_title, bytes, body) => {
    const connection = open(...bytes);
    expect(await connection.next(isAnswer(1))).toBeDefined();
    expect(bodyOf(connection, 1)).toBe(body);
  });

  it('are answered byte by byte', async () => {
    const connection = new RawHttp2Connection((server.address() as AddressInfo).port);
    connections.push(connection);
    connection.socket.setNoDelay(true);
    const whole = Buffer.concat([
      connectionStart(),
      request(1),
      http2Frame(data, endStream, 1, Buffer.from('abc')),
    ]);
    for (const byte of whole) {
      connection.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await connection.next(isAnswer(1))).toBeDefined();
    expect(bodyOf(connection, 1)).toBe('abc');
  });

  it('are acknowledged: settings and pings', async () => {
    const connection = open(http2Frame(ping, 0, 0, Buffer.from('12345678')));
    const pong = await connection.next(({ type, flags }) => type === ping && flags === 1);
    expect(pong?.payload.toString()).toBe('12345678');
    expect(await connection.next(({ type, flags }) => type === settings && flags === 1)).toBeDefined();
  });

  it('cross the end of their stream without effect', async () => {
    const connection = open(request(1, '/echo', endHeaders | endStream));
    await connection.next(isAnswer(1));
    for (let n = 0; n < 300; n++)
      connection.write(http2Frame(windowUpdate, 0, 1, number(1)), http2Frame(reset, 0, 1, number(8)));
    connection.write(request(3, '/echo', endHeaders | endStream));
    expect(await connection.next(isAnswer(3))).toBeDefined();
    expect(connection.frames.some(({ type }) => type === goaway)).toBe(false);
  });

  it('follow a reset of the server without effect', async () => {
    const connection = open(request(1, '/early'));
    await connection.next(isAnswer(1));
    sessions[0]?.streams.get(1)?.reset(http2Codes.noError);
    for (let n = 0; n < 7; n++) connection.write(http2Frame(data, 0, 1, Buffer.alloc(10_000)));
    connection.write(request(3, '/echo', endHeaders | endStream));
    expect(await connection.next(isAnswer(3))).toBeDefined();
    expect(connection.frames.filter(({ type }) => type === reset)).toHaveLength(1);
  });
});

describe('windows', () => {
  it('limit what is sent, and continue it', async () => {
    const connection = open(
      http2Frame(settings, 0, 0, setting(4, 10)),
      request(1, '/large', endHeaders | endStream),
    );
    await connection.next(({ type, stream }) => type === data && stream === 1);
    expect(bodyOf(connection, 1)).toHaveLength(10);
    // A larger window of the settings adds to that of open streams.
    connection.write(http2Frame(settings, 0, 0, setting(4, 30)));
    await expect.poll(() => bodyOf(connection, 1).length).toBe(30);
    // A smaller one may make it negative.
    connection.write(http2Frame(settings, 0, 0, setting(4, 0)), http2Frame(windowUpdate, 0, 1, number(30)));
    connection.write(http2Frame(windowUpdate, 0, 1, number(5)), http2Frame(ping, 0, 0, Buffer.alloc(8)));
    await connection.next(({ type }) => type === ping);
    expect(bodyOf(connection, 1)).toHaveLength(35);
    // The window of the connection has 65,535 bytes.
    connection.write(http2Frame(windowUpdate, 0, 1, number(1 << 20)));
    await expect.poll(() => bodyOf(connection, 1).length).toBe(65_535);
    connection.write(http2Frame(windowUpdate, 0, 0, number(1 << 20)));
    expect(await connection.next(isAnswer(1))).toBeDefined();
    expect(bodyOf(connection, 1)).toHaveLength(200_000);
  });

  it('let streams send by turns', async () => {
    const both = [1, 3].map((id) => request(id, '/large', endHeaders | endStream));
    const connection = open(http2Frame(settings, 0, 0, setting(4, 1 << 20)), ...both);
    await expect.poll(() => bodyOf(connection, 1).length).toBe(65_535);
    connection.write(http2Frame(windowUpdate, 0, 0, number(1 << 20)));
    await connection.next(isAnswer(1));
    await connection.next(isAnswer(3));
    const order = connection.frames.filter(({ type }) => type === data).map(({ stream }) => stream);
    // The second stream does not wait for the end of the first.
    expect(order.lastIndexOf(1)).toBeGreaterThan(order.indexOf(3));
  });

  it('are renewed for what is read, in few frames', async () => {
    const connection = open(request(1));
    const chunk = Buffer.alloc(16_000, 'x');
    for (let n = 0; n < 40; n++) {
      connection.write(http2Frame(data, n === 39 ? endStream : 0, 1, chunk));
      if (n % 4 === 3) {
        const opaque = Buffer.alloc(8, n);
        connection.write(http2Frame(ping, 0, 0, opaque));
        await connection.next(({ type, payload }) => type === ping && payload.equals(opaque));
      }
    }
    const updates = connection.frames.filter(({ type, stream }) => type === windowUpdate && stream === 1);
    expect(updates.length).toBeGreaterThan(5);
    expect(updates.length).toBeLessThan(21);
  });
});

describe('the connection is closed after', () => {
  const { protocolError, frameSizeError, flowControlError, compressionError, streamClosed, enhanceYourCalm } =
    http2Codes;
  it.each<[string, number, Buffer[]]>([
    ['data without a stream', protocolError, [http2Frame(data, 0, 0, Buffer.from('x'))]],
    ['data of an idle stream', protocolError, [http2Frame(data, 0, 1, Buffer.from('x'))]],
    ['headers without a stream', protocolError, [http2Frame(headers, endHeaders, 0, block())]],
    ['an even stream', protocolError, [request(2)]],
    ['a stream below the last one', streamClosed, [request(5, '/echo', 5), request(3, '/echo', 5)]],
    ['a header block within another', protocolError, [request(1, '/echo', 0), request(3)]],
    ['data within a header block', protocolError, [request(1, '/echo', 0), http2Frame(data, 0, 1)]],
    ['an unknown frame within a header block', protocolError, [request(1, '/echo', 0), http2Frame(99, 0, 1)]],
    [
      'a continuation of another stream',
      protocolError,
      [request(1, '/echo', 0), http2Frame(continuation, 4, 3)],
    ],
    ['a continuation of nothing', protocolError, [http2Frame(continuation, 4, 1)]],
    ['a continuation of a complete block', protocolError, [request(1), http2Frame(continuation, 4, 1)]],
    [
      'too many continuations',
      enhanceYourCalm,
      [request(1, '/echo', 0), ...Array.from({ length: 20 }, () => http2Frame(continuation, 0, 1))],
    ],
    [
      'padding that is too long',
      protocolError,
      [request(1), http2Frame(data, padded, 1, Buffer.from([3, 1, 1]))],
    ],
    ['padding of nothing', protocolError, [request(1), http2Frame(data, padded, 1)]],
    [
      'headers with padding that is too long',
      protocolError,
      [http2Frame(headers, endHeaders | padded, 1, Buffer.from([9, 1]))],
    ],
    [
      'headers without their priority',
      frameSizeError,
      [http2Frame(headers, endHeaders | hasPriority, 1, Buffer.alloc(4))],
    ],
    [
      'a header block that cannot be decoded',
      compressionError,
      [http2Frame(headers, endHeaders, 1, Buffer.from([0x80]))],
    ],
    ['a frame above the limit', frameSizeError, [http2Frame(data, 0, 1, Buffer.alloc(16_385))]],
    ['a priority without a stream', protocolError, [http2Frame(priority, 0, 0, Buffer.alloc(5))]],
    ['a priority of a wrong size', frameSizeError, [http2Frame(priority, 0, 1, Buffer.alloc(4))]],
    ['a reset without a stream', protocolError, [http2Frame(reset, 0, 0, number(8))]],
    ['a reset of an idle stream', protocolError, [http2Frame(reset, 0, 1, number(8))]],
    ['a reset of a wrong size', frameSizeError, [request(1), http2Frame(reset, 0, 1, Buffer.alloc(3))]],
    ['settings with a stream', protocolError, [http2Frame(settings, 0, 1)]],
    ['settings of a wrong size', frameSizeError, [http2Frame(settings, 0, 0, Buffer.alloc(5))]],
    ['an acknowledgment with settings', frameSizeError, [http2Frame(settings, 1, 0, Buffer.alloc(6))]],
    ['ENABLE_PUSH of 2', protocolError, [http2Frame(settings, 0, 0, setting(2, 2))]],
    ['a window of 2^31', flowControlError, [http2Frame(settings, 0, 0, setting(4, 2 ** 31))]],
    ['MAX_FRAME_SIZE of 16,383', protocolError, [http2Frame(settings, 0, 0, setting(5, 16_383))]],
    ['MAX_FRAME_SIZE of 2^24', protocolError, [http2Frame(settings, 0, 0, setting(5, 2 ** 24))]],
    ['a push of a client', protocolError, [http2Frame(pushPromise, endHeaders, 1, Buffer.alloc(8))]],
    ['a ping with a stream', protocolError, [http2Frame(ping, 0, 1, Buffer.alloc(8))]],
    ['a ping of a wrong size', frameSizeError, [http2Frame(ping, 0, 0, Buffer.alloc(6))]],
    ['an end of the connection with a stream', protocolError, [http2Frame(goaway, 0, 1, Buffer.alloc(8))]],
    ['an end of the connection of a wrong size', frameSizeError, [http2Frame(goaway, 0, 0, Buffer.alloc(7))]],
    ['a window update of a wrong size', frameSizeError, [http2Frame(windowUpdate, 0, 0, Buffer.alloc(3))]],
    ['a window update of zero', protocolError, [http2Frame(windowUpdate, 0, 0, number(0))]],
    ['a window update of an idle stream', protocolError, [http2Frame(windowUpdate, 0, 1, number(1))]],
    [
      'a window of the connection beyond 2^31 - 1',
      flowControlError,
      [http2Frame(windowUpdate, 0, 0, number(2 ** 31 - 1))],
    ],
    [
      'settings that make a window too large',
      flowControlError,
      [
        request(1),
        http2Frame(windowUpdate, 0, 1, number(2 ** 31 - 1 - 65_535)),
        http2Frame(settings, 0, 0, setting(4, 65_536)),
      ],
    ],
    [
      'many empty frames',
      enhanceYourCalm,
      [request(1), ...Array.from({ length: 200 }, () => http2Frame(data, 0, 1))],
    ],
  ])('%s', async (_title, expected, bytes) => {
    expect(await goawayAfter(...bytes)).toBe(expected);
  });

  it.each([
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a wrong preface', Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n')],
    [
      'a preface without settings',
      Buffer.concat([
        Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
        http2Frame(ping, 0, 0, Buffer.alloc(8)),
      ]),
    ],
  ])('%s', async (_title, bytes) => {
    const connection = new RawHttp2Connection((server.address() as AddressInfo).port);
    connections.push(connection);
    connection.write(bytes);
    const frame = await connection.next(({ type }) => type === goaway);
    expect(frame && codeOf(frame)).toBe(protocolError);
    await connection.closed;
  });

  it('more data than its window allows', async () => {
    const connection = open();
    for (const id of [1, 3, 5]) {
      // Nothing is read: the streams have no window left.
      connection.write(request(id, '/early'));
      await connection.next(isAnswer(id));
      for (let n = 0; n < 4; n++) connection.write(http2Frame(data, 0, id, Buffer.alloc(16_000)));
    }
    const frame = await connection.next(({ type }) => type === goaway);
    expect(frame && codeOf(frame)).toBe(flowControlError);
  });
});

describe('a stream is reset after', () => {
  const { protocolError, flowControlError, streamClosed, refusedStream, enhanceYourCalm } = http2Codes;
  const withHeaders = (list: Buffer): Buffer[] => [http2Frame(headers, endHeaders | endStream, 1, list)];
  const malformed = (more: object): Buffer[] => withHeaders(block('/echo', more));
  it.each<[string, number, Buffer[]]>([
    ['data after its end', streamClosed, [request(1, '/early', 5), http2Frame(data, 0, 1, Buffer.from('x'))]],
    [
      'data after its answer',
      streamClosed,
      [request(1, '/echo', 5), http2Frame(data, 0, 1, Buffer.from('x'))],
    ],
    ['a window update of zero', protocolError, [request(1), http2Frame(windowUpdate, 0, 1, number(0))]],
    [
      'a window beyond 2^31 - 1',
      flowControlError,
      [request(1), http2Frame(windowUpdate, 0, 1, number(2 ** 31 - 1))],
    ],
    [
      'trailers without the end',
      protocolError,
      [request(1), http2Frame(headers, endHeaders, 1, headerBlock({ a: 'b' }))],
    ],
    [
      'trailers with a pseudo-header',
      protocolError,
      [request(1), http2Frame(headers, 5, 1, headerBlock({ ':path': '/' }))],
    ],
    [
      'more data than announced',
      protocolError,
      [
        http2Frame(headers, endHeaders, 1, block('/echo', { 'content-length': '1' })),
        http2Frame(data, 1, 1, Buffer.from('ab')),
      ],
    ],
    [
      'less data than announced',
      protocolError,
      [
        http2Frame(headers, endHeaders, 1, block('/echo', { 'content-length': '3' })),
        http2Frame(data, 1, 1, Buffer.from('ab')),
      ],
    ],
    ['a content length without data', protocolError, malformed({ 'content-length': '3' })],
    ['a content length that is no number', protocolError, malformed({ 'content-length': 'x' })],
    ['a name in upper case', protocolError, malformed({ 'X-A': '1' })],
    ['a name with a space', protocolError, malformed({ 'x a': '1' })],
    ['an empty name', protocolError, malformed({ '': '1' })],
    ['a value with a line break', protocolError, malformed({ 'x-a': 'a\nb' })],
    ['a value with a zero', protocolError, malformed({ 'x-a': 'a\0' })],
    ['a value that begins with a space', protocolError, malformed({ 'x-a': ' a' })],
    ['a header of the connection', protocolError, malformed({ connection: 'keep-alive' })],
    ['transfer-encoding', protocolError, malformed({ 'transfer-encoding': 'chunked' })],
    ['te without trailers', protocolError, malformed({ te: 'gzip' })],
    ['an unknown pseudo-header', protocolError, malformed({ ':other': 'x' })],
    ['the pseudo-header of a response', protocolError, malformed({ ':status': '200' })],
    [
      'a pseudo-header after others',
      protocolError,
      withHeaders(Buffer.concat([headerBlock({ a: 'b' }), block()])),
    ],
    [
      'a pseudo-header twice',
      protocolError,
      withHeaders(Buffer.concat([block(), headerBlock({ ':path': '/' })])),
    ],
    ['no method', protocolError, withHeaders(headerBlock({ ':scheme': 'http', ':path': '/' }))],
    ['no scheme', protocolError, withHeaders(headerBlock({ ':method': 'GET', ':path': '/' }))],
    ['no path', protocolError, withHeaders(headerBlock({ ':method': 'GET', ':scheme': 'http' }))],
    ['an empty path', protocolError, withHeaders(block(''))],
    [
      'many headers',
      enhanceYourCalm,
      malformed(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`x-${n}`, '']))),
    ],
    ['long headers', enhanceYourCalm, malformed({ 'x-long': 'x'.repeat(8_000) })],
  ])('%s', async (_title, expected, bytes) => {
    expect(await resetAfter(1, ...bytes)).toBe(expected);
  });

  it('more data than its window allows', async () => {
    const frames = Array.from({ length: 5 }, () => http2Frame(data, 0, 1, Buffer.alloc(16_000)));
    const connection = open(request(1, '/early'), ...frames);
    const frame = await connection.next(({ type }) => type === reset);
    expect(frame && codeOf(frame)).toBe(flowControlError);
  });

  it('more streams than announced, which then are answered', async () => {
    const ids = [1, 3, 5, 7, 9, 11];
    const connection = open(...ids.map((id) => request(id)));
    const frame = await connection.next(({ type }) => type === reset);
    expect(frame).toMatchObject({ stream: 11 });
    expect(frame && codeOf(frame)).toBe(refusedStream);
    for (const id of ids.slice(0, 5)) connection.write(http2Frame(data, endStream, id, Buffer.from('x')));
    connection.write(request(13, '/echo', endHeaders | endStream));
    for (const id of [...ids.slice(0, 5), 13]) expect(await connection.next(isAnswer(id))).toBeDefined();
  });
});

describe('mutated frames', () => {
  it('leave no fault and no stream', async () => {
    const seed = Number(process.env.DRAGOMAN_SEED ?? 1);
    const random = seededRandom(seed);
    const pick = (end: number): number => Math.floor(random() * end);
    const whole = Buffer.concat([
      request(1),
      http2Frame(data, 0, 1, Buffer.from('abc')),
      http2Frame(windowUpdate, 0, 1, number(100)),
      http2Frame(headers, endHeaders | endStream, 1, headerBlock({ a: 'b' })),
      http2Frame(settings, 0, 0, setting(4, 100)),
      request(3, '/large', endHeaders | endStream),
      http2Frame(reset, 0, 3, number(8)),
    ]);
    for (let n = 0; n < 300; n++) {
      const mutant = Buffer.from(whole);
      for (let count = pick(4); count >= 0; count--) mutant[pick(mutant.length)] = pick(256);
      const connection = open(mutant.subarray(pick(3) === 0 ? pick(mutant.length) : 0));
      // The answer to this ping follows what the server says about the rest, unless it has closed the connection.
      connection.write(http2Frame(ping, 0, 0, Buffer.alloc(8)));
      connection.socket.end();
      await connection.next(({ type }) => type === ping || type === goaway);
      connection.socket.destroy();
    }
    await expect.poll(() => sessions.reduce((sum, { streams }) => sum + streams.size, 0)).toBe(0);
  });
});
