/** Servers that break rules of RFC 9113: a client resets the stream or closes the connection, and every request ends. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { frameTypes, headerBlock, http2Frame, setting } from '../../test/support/grpc/raw-http2.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { http2Codes, Http2Error } from './http2-error.ts';
import { Http2Session } from './http2-session.ts';
import { listFields } from './message-head.ts';

const { data, headers, reset, settings, ping, goaway } = frameTypes;
const pushPromise = 5;
const endStream = 1;
const endHeaders = 4;
const requestHead = listFields({ ':method': 'POST', ':scheme': 'http', ':path': '/', ':authority': 'a' });

let server: Server;
let answer: Buffer;
/** True if the server closes the connection after its answer. */
let isClosing = false;
const sockets: (Socket | Http2Session)[] = [];
const faults: unknown[] = [];
const noteFault = (fault: unknown): void => void faults.push(fault);
beforeAll(async () => {
  // Sends its answer at once, whatever the client does.
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.resume();
    socket.write(Buffer.concat([http2Frame(settings, 0, 0), answer]));
    if (isClosing) socket.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('uncaughtExceptionMonitor', noteFault);
});
afterAll(() => {
  process.off('uncaughtExceptionMonitor', noteFault);
  server.close();
});
afterEach(() => {
  for (const each of sockets.splice(0)) each.destroy();
  expect(faults).toEqual([]);
});

interface Result {
  readonly status: number;
  readonly body: string;
  readonly trailers: object | undefined;
  readonly code: number;
  readonly error: Error | undefined;
  readonly session: Http2Session;
}

/** Sends a request to a server with the given answer. Resolves when the stream is closed. */
async function request(...frames: readonly Buffer[]): Promise<Result> {
  answer = Buffer.concat(frames);
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const session = new Http2Session(
    socket,
    {
      isServer: false,
      initialWindowSize: 65_535,
      sessionWindow: 65_535,
      maxHeaderListSize: 8_000,
      maxHeaderFields: 50,
    },
    { closed() {} },
  );
  sockets.push(session);
  return new Promise((resolve) => {
    const stream = session.open(requestHead);
    let status = 0;
    let body = '';
    let trailers: object | undefined;
    stream.handler = {
      headReceived: (head) => void (status = head.status),
      dataReceived: (bytes) => void (body += bytes.toString()),
      endReceived: (received) => void (trailers = received?.fields),
      drained() {},
      closed: (code, error) => resolve({ status, body, trailers, code, error, session }),
    };
    stream.read();
    stream.end();
  });
}

const head = (fields: { [name: string]: string }, flags = endHeaders, id = 1): Buffer =>
  http2Frame(headers, flags, id, headerBlock(fields));
const ok = head({ ':status': '200' });
const last = head({ 'grpc-status': '0' }, endHeaders | endStream);
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

describe('a response', () => {
  it('has headers, a body and trailers', async () => {
    const result = await request(ok, http2Frame(data, 0, 1, Buffer.from('abc')), last);
    expect(result).toMatchObject({ status: 200, body: 'abc', trailers: { 'grpc-status': '0' }, code: 0 });
  });

  it('follows interim responses', async () => {
    const result = await request(head({ ':status': '100' }), head({ ':status': '103', link: 'x' }), ok, last);
    expect(result).toMatchObject({ status: 200, code: 0 });
  });

  it('is complete before a reset without an error', async () => {
    const result = await request(ok, last, http2Frame(reset, 0, 1, number(0)));
    expect(result).toMatchObject({
      status: 200,
      trailers: { 'grpc-status': '0' },
      code: 0,
      error: undefined,
    });
  });

  it.each([
    ['a reset', http2Frame(reset, 0, 1, number(http2Codes.internalError)), http2Codes.internalError],
    ['a reset without an error', http2Frame(reset, 0, 1, number(0)), 0],
    ['a refusal', http2Frame(reset, 0, 1, number(http2Codes.refusedStream)), http2Codes.refusedStream],
    [
      'an end of the connection before it',
      http2Frame(goaway, 0, 0, Buffer.alloc(8)),
      http2Codes.refusedStream,
    ],
  ])('ends with %s', async (_title, frame, code) => {
    const result = await request(ok, frame);
    expect(result).toMatchObject({ code, trailers: undefined, error: undefined });
  });
});

describe('a stream is reset after', () => {
  const { protocolError, flowControlError, enhanceYourCalm } = http2Codes;
  it.each<[string, number, Buffer[]]>([
    ['data without headers', protocolError, [http2Frame(data, 0, 1, Buffer.from('x'))]],
    ['headers without a status', protocolError, [head({ a: 'b' })]],
    ['a status that is no number', protocolError, [head({ ':status': 'x' })]],
    ['the pseudo-header of a request', protocolError, [head({ ':status': '200', ':path': '/' })]],
    ['a header of the connection', protocolError, [head({ ':status': '200', connection: 'close' })]],
    ['an interim response that ends', protocolError, [head({ ':status': '100' }, 5)]],
    ['trailers that do not end', protocolError, [ok, head({ a: 'b' })]],
    ['trailers with a status', protocolError, [ok, head({ ':status': '200' }, 5)]],
    [
      'less data than announced',
      protocolError,
      [head({ ':status': '200', 'content-length': '5' }), http2Frame(data, 1, 1, Buffer.from('abc'))],
    ],
    ['long headers', enhanceYourCalm, [head({ ':status': '200', 'x-long': 'x'.repeat(8_000) })]],
    ['a window update of zero', protocolError, [http2Frame(frameTypes.windowUpdate, 0, 1, number(0))]],
    [
      'a window beyond 2^31 - 1',
      flowControlError,
      [http2Frame(frameTypes.windowUpdate, 0, 1, number(2 ** 31 - 1))],
    ],
  ])('%s', async (_title, code, frames) => {
    const result = await request(...frames);
    expect(result).toMatchObject({ code, error: undefined });
    expect(result.session.canOpen).toBe(true);
  });
});

describe('the connection is closed after', () => {
  const { protocolError, compressionError, streamClosed, flowControlError } = http2Codes;
  const push = Buffer.concat([number(2), headerBlock({ ':method': 'GET' })]);
  it.each<[string, number, Buffer[]]>([
    ['a push', protocolError, [http2Frame(pushPromise, endHeaders, 1, push)]],
    ['a stream of the server', streamClosed, [head({ ':status': '200' }, endHeaders, 2)]],
    ['headers of an idle stream', streamClosed, [head({ ':status': '200' }, endHeaders, 3)]],
    ['data of an idle stream', protocolError, [http2Frame(data, 0, 3, Buffer.from('x'))]],
    [
      'a block that cannot be decoded',
      compressionError,
      [http2Frame(headers, endHeaders, 1, Buffer.from([0x80]))],
    ],
    ['a window of 2^31', flowControlError, [http2Frame(settings, 0, 0, setting(4, 2 ** 31))]],
    ['a ping of a wrong size', http2Codes.frameSizeError, [http2Frame(ping, 0, 0, Buffer.alloc(7))]],
  ])('%s', async (_title, code, frames) => {
    const { error, session } = await request(...frames);
    expect(error).toBeInstanceOf(Http2Error);
    expect((error as Http2Error).http2Code).toBe(code);
    expect(session.canOpen).toBe(false);
  });
});

it('ends every request, whatever bytes the server sends', async () => {
  const random = seededRandom(Number(process.env.DRAGOMAN_SEED ?? 1));
  const pick = (end: number): number => Math.floor(random() * end);
  const whole = Buffer.concat([
    head({ ':status': '103' }),
    ok,
    http2Frame(data, 0, 1, Buffer.from('abc')),
    http2Frame(settings, 0, 0, setting(4, 100)),
    last,
  ]);
  isClosing = true;
  for (let n = 0; n < 300; n++) {
    const mutant = Buffer.from(whole);
    for (let count = pick(4); count >= 0; count--) mutant[pick(mutant.length)] = pick(256);
    await request(mutant);
    for (const each of sockets.splice(0)) each.destroy();
  }
});
