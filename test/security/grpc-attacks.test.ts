/** Clients of gRPC that break rules of HTTP/2 or use the memory of a server. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AttackedServer, startAttackedServer } from '../support/grpc/attacked-server.ts';
import { sendMutatedCalls } from '../support/grpc/mutated-calls.ts';
import { send, service } from '../support/grpc/raw-calls.ts';
import {
  callHeaders,
  connectionStart,
  frameTypes,
  headerBlock,
  http2Frame,
  prefixInteger,
  type RawFrame,
  setting,
} from '../support/grpc/raw-http2.ts';

const path = `${service}SendMessage`;
const calm = 0xb;
let attacked: AttackedServer;
beforeAll(async () => {
  attacked = await startAttackedServer({ stallTimeout: 200, heartbeat: 50 });
});
afterAll(() => attacked.close());
afterEach(async () => {
  // Whatever a client did, others are served, and nothing failed inside.
  expect(await attacked.sendText('hello')).toBe('hello');
  expect(attacked.faults).toEqual([]);
});

const opened = (): number =>
  Number(/^dragoman_streams_open (\d+)$/m.exec(attacked.metrics.registry.text())?.[1]);

describe('a client that opens no window', () => {
  it.each([
    ['SendMessage', 'x'],
    ['SendStreamingMessage', 'x'],
    ['SendMessage', '300000'],
    ['SendStreamingMessage', '300000'],
  ])('is reset after the stall timeout in %s (%s)', async (method, text) => {
    const connection = attacked.connect();
    connection.write(connectionStart(setting(4, 0)));
    connection.write(callHeaders(1, `${service}${method}`), http2Frame(frameTypes.data, 1, 1, send(text)));
    const reset = await connection.next(({ type }) => type === frameTypes.reset);
    expect(reset?.payload.readUInt32BE(0)).toBe(calm);
    await expect.poll(opened).toBe(0);
  });
});

describe('floods', () => {
  it.each([
    ['pings', http2Frame(frameTypes.ping, 0, 0, Buffer.alloc(8))],
    ['settings', http2Frame(frameTypes.settings, 0, 0)],
  ])('of %s close the connection', async (_what, flood) => {
    const connection = attacked.connect();
    connection.write(connectionStart());
    for (let n = 0; n < 20; n++) connection.write(...Array.from({ length: 100 }, () => flood));
    await connection.closed;
  });

  it('of continuations close the connection', async () => {
    const connection = attacked.connect();
    connection.write(connectionStart(), callHeaders(1, path, 0));
    for (let n = 0; n < 100; n++)
      connection.write(
        http2Frame(frameTypes.continuation, 0, 1, headerBlock({ [`x-${n}`]: 'y'.repeat(100) })),
      );
    await connection.closed;
  });

  it('of resets leave no calls', async () => {
    const connection = attacked.connect();
    connection.write(connectionStart());
    for (let n = 0; n < 2_000; n++)
      connection.write(
        callHeaders(1 + 2 * n, path),
        http2Frame(frameTypes.reset, 0, 1 + 2 * n, Buffer.from([0, 0, 0, 8])),
      );
    connection.socket.end();
    await connection.next(({ type }) => type === frameTypes.goaway);
    connection.socket.destroy();
    await expect.poll(opened).toBe(0);
  });
});

describe('malformed input', () => {
  it('is refused if headers expand to many bytes', async () => {
    const connection = attacked.connect();
    const value = 'v'.repeat(3_900);
    // A literal with incremental indexing, then references to it of one byte each.
    const first = Buffer.concat([
      Buffer.from([0x40]),
      prefixInteger(1),
      Buffer.from('x'),
      prefixInteger(value.length),
      Buffer.from(value),
    ]);
    const block = Buffer.concat([first, Buffer.alloc(10_000, 0x80 | 62)]);
    connection.write(connectionStart(), http2Frame(frameTypes.headers, 5, 1, block));
    const refusal = ({ type }: RawFrame): boolean => type === frameTypes.reset || type === frameTypes.goaway;
    expect(await connection.next(refusal)).toBeDefined();
    expect(connection.frames.some(({ type }) => type === frameTypes.headers)).toBe(false);
  });

  it.each<[string, Buffer]>([
    ['data without a stream', http2Frame(frameTypes.data, 0, 0, Buffer.from('x'))],
    ['a stream with an even number', callHeaders(2, path)],
    ['settings of a wrong length', http2Frame(frameTypes.settings, 0, 0, Buffer.alloc(5))],
    ['a ping of a wrong length', http2Frame(frameTypes.ping, 0, 0, Buffer.alloc(7))],
    ['a frame above the limit', http2Frame(frameTypes.data, 0, 1, Buffer.alloc(20_000))],
    ['a window update of zero', http2Frame(frameTypes.windowUpdate, 0, 0, Buffer.alloc(4))],
  ])('closes the connection after %s', async (_what, bytes) => {
    // The client answers no ping after the error.
    const strict = await startAttackedServer({ grpc: { keepAliveInterval: 50, keepAliveTimeout: 50 } });
    const connection = strict.connect();
    connection.write(connectionStart(), bytes);
    await connection.closed;
    expect(strict.faults).toEqual([]);
    await strict.close();
  });

  it('is survived at any byte where a connection ends', async () => {
    const bytes = Buffer.concat([
      connectionStart(),
      callHeaders(1, path),
      http2Frame(frameTypes.data, 1, 1, send('x')),
    ]);
    for (let end = 1; end <= bytes.length; end += 5) {
      const connection = attacked.connect();
      connection.write(bytes.subarray(0, end));
      if (end % 2 === 0) connection.socket.end();
      else connection.socket.resetAndDestroy();
      await connection.closed;
    }
  });

  it('is survived in 300 mutated calls', async () => {
    await sendMutatedCalls(attacked, 300, Number(process.env.DRAGOMAN_SEED ?? 1));
  });
});
