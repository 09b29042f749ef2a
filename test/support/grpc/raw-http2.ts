/** Frames of HTTP/2 written byte by byte, for what no client library sends. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Types of frames. */
export const frameTypes = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** A received frame. */
export interface RawFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Returns the bytes of a frame. */
export function http2Frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Encodes headers as literals without index, without Huffman codes. */
export function headerBlock(headers: { readonly [name: string]: string }): Buffer {
  const text = (value: string): Buffer => Buffer.concat([prefixInteger(value.length), Buffer.from(value)]);
  return Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]),
  );
}

/** Encodes an integer with a prefix of 7 bits. */
export function prefixInteger(value: number): Buffer {
  if (value < 127) return Buffer.from([value]);
  const bytes = [127];
  let rest = value - 127;
  for (; rest > 127; rest >>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

/** Returns the bytes of a setting. */
export function setting(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt32BE(value, 2);
  return bytes;
}

/** Returns the bytes with which a connection begins. */
export const connectionStart = (settings: Uint8Array = Buffer.alloc(0)): Buffer =>
  Buffer.concat([preface, http2Frame(frameTypes.settings, 0, 0, settings)]);

/** Returns the headers of a call, without the end of the stream. */
export const callHeaders = (stream: number, path: string, flags = 4): Buffer =>
  http2Frame(
    frameTypes.headers,
    flags,
    stream,
    headerBlock({
      ':method': 'POST',
      ':scheme': 'http',
      ':path': path,
      ':authority': 'localhost',
      'content-type': 'application/grpc',
      te: 'trailers',
    }),
  );

/** A connection that sends any bytes and collects the frames of the server. */
export class RawHttp2Connection {
  readonly socket: Socket;
  readonly frames: RawFrame[] = [];
  readonly closed: Promise<unknown>;
  #buffer = Buffer.alloc(0);
  #wake: () => void = () => {};

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('error', () => {});
    this.closed = once(this.socket, 'close').then(() => this.#wake());
    this.socket.on('data', (chunk) => this.#read(chunk));
  }

  write(...bytes: readonly Uint8Array[]): void {
    if (this.socket.writable) this.socket.write(Buffer.concat(bytes));
  }

  /** Waits for a frame. @returns undefined if the connection closes before it */
  async next(accept: (frame: RawFrame) => boolean): Promise<RawFrame | undefined> {
    for (;;) {
      const found = this.frames.find(accept);
      if (found || this.socket.closed) return found;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #read(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    while (this.#buffer.length >= 9) {
      const end = 9 + this.#buffer.readUIntBE(0, 3);
      if (this.#buffer.length < end) break;
      this.frames.push({
        type: this.#buffer[3] ?? 0,
        flags: this.#buffer[4] ?? 0,
        stream: this.#buffer.readUInt32BE(5) & 0x7f_ff_ff_ff,
        payload: this.#buffer.subarray(9, end),
      });
      this.#buffer = this.#buffer.subarray(end);
    }
    this.#wake();
  }
}
