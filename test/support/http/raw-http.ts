import { connect, type Socket } from 'node:net';

/** A parsed HTTP response. */
export interface RawHttpResponse {
  status: number;
  headers: Map<string, string>;
  body: string;
}

/** Parses one response. @returns undefined if it is not complete yet. */
function parseResponse(
  bytes: Buffer,
  from = 0,
  isComplete = false,
): { response: RawHttpResponse; end: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n', from);
  if (headEnd < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', from, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) throw new Error(`not an HTTP response: ${JSON.stringify(first.slice(0, 80))}`);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const start = headEnd + 4;
  if (status === 204 || status === 304 || status < 200)
    return { response: { status, headers, body: '' }, end: start };
  if (headers.get('transfer-encoding') === 'chunked') return readChunked(bytes, start, status, headers);
  const length = headers.get('content-length');
  if (length === undefined) {
    return isComplete
      ? { response: { status, headers, body: bytes.toString('utf8', start) }, end: bytes.length }
      : undefined;
  }
  const end = start + Number(length);
  // A response to HEAD has a Content-Length without a body.
  if (bytes.length < end)
    return isComplete ? { response: { status, headers, body: '' }, end: bytes.length } : undefined;
  return { response: { status, headers, body: bytes.toString('utf8', start, end) }, end };
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
    if (size === 0)
      return { response: { status, headers, body: Buffer.concat(chunks).toString('utf8') }, end };
    chunks.push(bytes.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}

/** A TCP connection that sends raw bytes and parses responses. */
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

  /** Returns the next response, or undefined if the connection ends without one. */
  async nextResponse(): Promise<RawHttpResponse | undefined> {
    for (;;) {
      const read = parseResponse(this.#bytes, 0, this.#isClosed);
      if (read) {
        this.#bytes = this.#bytes.subarray(read.end);
        return read.response;
      }
      if (this.#isClosed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Returns all responses until the connection ends. */
  async remainingResponses(): Promise<RawHttpResponse[]> {
    const responses: RawHttpResponse[] = [];
    for (let response = await this.nextResponse(); response; response = await this.nextResponse())
      responses.push(response);
    return responses;
  }

  /** Waits until the connection ends. */
  async waitForEnd(): Promise<void> {
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

/** Builds the bytes of a request. Content-Length is computed unless the headers contain it. */
export function rawRequest(
  verb: string,
  path: string,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const allHeaders: Record<string, string> = { Host: 'localhost', ...headers };
  if (bytes.length > 0 && allHeaders['Transfer-Encoding'] === undefined) {
    allHeaders['Content-Type'] ??= 'application/json';
    allHeaders['Content-Length'] ??= String(bytes.length);
  }
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${verb} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes]);
}

/** Sends one request on a new connection and returns its response. */
export async function sendRawRequest(port: number, request: Buffer): Promise<RawHttpResponse | undefined> {
  const connection = new RawConnection(port);
  connection.write(request);
  const response = await connection.nextResponse();
  connection.destroy();
  return response;
}
