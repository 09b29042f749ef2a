import { connect, type Socket } from 'node:net';

/** A response as it came over the wire. */
export interface RawReply {
  status: number;
  headers: Map<string, string>;
  body: string;
}

/** Reads one response from bytes. @returns undefined while it is not all there. */
function readReply(bytes: Buffer, from = 0, isAll = false): { reply: RawReply; end: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n', from);
  if (headEnd < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', from, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) throw new Error(`no response begins with ${JSON.stringify(first.slice(0, 80))}`);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const start = headEnd + 4;
  if (status === 204 || status === 304 || status < 200)
    return { reply: { status, headers, body: '' }, end: start };
  if (headers.get('transfer-encoding') === 'chunked') return readChunked(bytes, start, status, headers);
  const length = headers.get('content-length');
  if (length === undefined) {
    return isAll
      ? { reply: { status, headers, body: bytes.toString('utf8', start) }, end: bytes.length }
      : undefined;
  }
  const end = start + Number(length);
  // A reply to HEAD says how long its body would be and then has none.
  if (bytes.length < end)
    return isAll ? { reply: { status, headers, body: '' }, end: bytes.length } : undefined;
  return { reply: { status, headers, body: bytes.toString('utf8', start, end) }, end };
}

function readChunked(bytes: Buffer, start: number, status: number, headers: Map<string, string>) {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (bytes.length < end) return undefined;
    if (size === 0) return { reply: { status, headers, body: Buffer.concat(chunks).toString('utf8') }, end };
    chunks.push(bytes.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}

/** A connection that sends bytes and hears responses, nothing more. */
export class RawConnection {
  readonly socket: Socket;
  readonly #port: number;
  #bytes: Buffer = Buffer.alloc(0);
  #isClosed = false;
  #wake: (() => void) | undefined;

  constructor(port: number, allowHalfOpen = true) {
    this.#port = port;
    this.socket = connect({ port: this.#port, host: '127.0.0.1', allowHalfOpen });
    this.socket.setNoDelay(true);
    this.socket.on('data', (chunk) => {
      this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
      this.#wake?.();
    });
    const close = (): void => {
      this.#isClosed = true;
      this.#wake?.();
    };
    this.socket.on('error', close);
    this.socket.on('end', close);
    this.socket.on('close', close);
  }

  /** The next response, or undefined when the connection ended without one. */
  async next(): Promise<RawReply | undefined> {
    for (;;) {
      const read = readReply(this.#bytes, 0, this.#isClosed);
      if (read) {
        this.#bytes = this.#bytes.subarray(read.end);
        return read.reply;
      }
      if (this.#isClosed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Every response until the connection ends. */
  async rest(): Promise<RawReply[]> {
    const replies: RawReply[] = [];
    for (let reply = await this.next(); reply; reply = await this.next()) replies.push(reply);
    return replies;
  }

  /** Waits for the connection to end. */
  async ended(): Promise<void> {
    while (!this.#isClosed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** The bytes of a request. The length is that of the body unless the headers say otherwise. */
export function rawRequest(
  verb: string,
  path: string,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const all: Record<string, string> = { Host: 'localhost', ...headers };
  if (bytes.length > 0 && all['Transfer-Encoding'] === undefined) {
    all['Content-Type'] ??= 'application/json';
    all['Content-Length'] ??= String(bytes.length);
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${verb} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes]);
}

/** Sends one request on a connection of its own and gives what came back. */
export async function exchangeRaw(port: number, request: Buffer): Promise<RawReply | undefined> {
  const connection = new RawConnection(port);
  connection.write(request);
  const reply = await connection.next();
  connection.destroy();
  return reply;
}
