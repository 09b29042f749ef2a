import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import {
  flattenHeaders,
  type HttpExchange,
  type RawFrame,
  type ResponseEnd,
  suiteUserAgent,
} from '../http-exchange.ts';
import type { RawRequest, ResolvedClientOptions } from '../raw-http-client.ts';
import type { GrpcCallSetup, GrpcMessage } from './grpc-facts.ts';
import { GrpcMessageReader } from './grpc-message-reader.ts';
import { readStatus, statusToJson } from './grpc-status.ts';

/** Flag of a frame that ends its stream. */
const endStreamFlag = 1;

/** Connections of HTTP/2, one for each origin. */
export class GrpcConnections {
  readonly #sessions = new Map<string, ClientHttp2Session>();
  readonly #insecure: boolean;

  constructor(insecure: boolean) {
    this.#insecure = insecure;
  }

  /** Returns an open connection. @throws Error if the URL is invalid. */
  open(origin: string): ClientHttp2Session {
    const known = this.#sessions.get(origin);
    if (known && !known.closed && !known.destroyed) return known;
    const session = connect(origin, {
      rejectUnauthorized: !this.#insecure,
      settings: { enablePush: false, initialWindowSize: 1 << 20 },
      // In megabytes. A large request, which the server rejects, must not block the others.
      maxSessionMemory: 256,
    });
    // The calls of the connection report its errors.
    session.on('error', () => {});
    this.#sessions.set(origin, session);
    return session;
  }

  close(): void {
    for (const session of this.#sessions.values()) session.destroy();
    this.#sessions.clear();
  }
}

/** A call in progress: records headers, messages and trailers unchanged. It never rejects. */
export class GrpcCall {
  readonly #raw: RawRequest & { readonly grpc: GrpcCallSetup };
  readonly #number: number;
  readonly #options: ResolvedClientOptions;
  readonly #onEnd: (exchange: HttpExchange) => void;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #reader = new GrpcMessageReader();
  readonly #messages: GrpcMessage[] = [];
  readonly #frames: RawFrame[] = [];
  #stream: ClientHttp2Stream | undefined;
  #headers: Record<string, string> | undefined;
  #trailers: Record<string, string> | undefined;
  #isTrailersOnly = false;
  #status = 0;
  #headersMs = 0;
  #bytes = 0;
  #isFinished = false;
  #isRetry = false;

  constructor(
    raw: RawRequest & { readonly grpc: GrpcCallSetup },
    number: number,
    options: ResolvedClientOptions,
    onEnd: (exchange: HttpExchange) => void,
  ) {
    this.#raw = raw;
    this.#number = number;
    this.#options = options;
    this.#onEnd = onEnd;
    this.#timer = setTimeout(() => this.#end('timeout'), raw.deadline ?? options.deadline);
    raw.signal?.addEventListener('abort', () => this.#end('aborted'), { once: true });
  }

  start(connections: GrpcConnections): void {
    const { url, headers, body = '' } = this.#raw;
    try {
      const { origin, pathname } = new URL(url);
      const stream = connections.open(origin).request({
        ':method': this.#raw.method,
        ':path': pathname,
        te: 'trailers',
        'content-type': 'application/grpc+proto',
        'user-agent': suiteUserAgent,
        ...headers,
      });
      this.#stream = stream;
      let error: Error | undefined;
      stream.on('error', (each: Error) => (error ??= each));
      stream.on('response', (received, flags) => this.#onHeaders(received, flags));
      stream.on('trailers', (received) => (this.#trailers = flattenHeaders(received)));
      stream.on('data', (chunk: Buffer) => this.#read(chunk));
      stream.on('close', () => {
        const wasRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || isGoaway(error);
        // The server may close an idle connection just before its reuse; it has not processed the call then.
        if (wasRefused && !this.#headers && !this.#isRetry && !this.#isFinished) {
          this.#isRetry = true;
          this.start(connections);
        } else this.#onClose(stream.rstCode ?? 0, error);
      });
      stream.end(body);
    } catch (error) {
      queueMicrotask(() => this.#end('failed', (error as Error).message));
    }
  }

  #onHeaders(received: IncomingHttpHeaders, flags: number): void {
    this.#headersMs = performance.now() - this.#startedAt;
    const { ':status': status, ...headers } = received;
    this.#status = Number(status ?? 0);
    this.#headers = flattenHeaders(headers);
    this.#isTrailersOnly = (flags & endStreamFlag) !== 0;
  }

  #read(chunk: Buffer): void {
    if (this.#isFinished) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) {
      this.#end('too-large');
      return;
    }
    for (const { flag, length, bytes } of this.#reader.push(chunk)) {
      const { json, problems } = this.#raw.grpc.decode(bytes);
      this.#messages.push({ flag, length, problems });
      const data = JSON.stringify(json);
      const at = performance.now() - this.#startedAt;
      const frame: RawFrame = { fields: [['message', data]], data, id: undefined, event: undefined, at };
      if (this.#frames.push(frame) > this.#options.maxFrames) {
        this.#end('too-large');
        return;
      }
      if (this.#raw.onFrame?.(frame) === true) {
        this.#end('aborted');
        return;
      }
    }
  }

  #onClose(code: number, error: Error | undefined): void {
    if (!this.#headers) this.#end('failed', error?.message ?? 'The stream was closed without headers');
    else if (code !== 0 || error)
      this.#end('truncated', error?.message ?? `The stream was reset with code ${code}`);
    else this.#end('complete');
  }

  #end(end: ResponseEnd, transportError?: string): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#timer);
    const stream = this.#stream;
    if (end !== 'complete' && stream && !stream.closed) stream.close(constants.NGHTTP2_CANCEL);
    const { method, url, headers = {}, body = '', grpc } = this.#raw;
    const trailers = this.#trailers ?? (this.#isTrailersOnly ? this.#headers : undefined) ?? {};
    const status = readStatus(trailers);
    const [first] = this.#frames;
    const isError = status.name !== 'OK' && trailers['grpc-status'] !== undefined;
    this.#onEnd({
      number: this.#number,
      method,
      url,
      requestHeaders: { ...headers },
      requestBody: grpc.requestText,
      status: this.#status,
      headers: this.#headers ?? {},
      body: isError ? JSON.stringify(statusToJson(status)) : grpc.isStreaming ? '' : (first?.data ?? ''),
      hasInvalidUtf8: this.#messages.some(({ problems }) => problems.some(({ kind }) => kind === 'utf8')),
      frames: grpc.isStreaming ? this.#frames : [],
      end,
      transportError,
      headersMs: this.#headersMs,
      totalMs: performance.now() - this.#startedAt,
      grpc: {
        status,
        trailers,
        isTrailersOnly: this.#isTrailersOnly,
        messages: this.#messages,
        incompleteBytes: this.#reader.incompleteBytes,
        resetCode: end === 'complete' || end === 'truncated' ? (stream?.rstCode ?? 0) : 0,
        requestBytes: Buffer.from(body.slice(0, maxRecordedBytes))
          .subarray(0, maxRecordedBytes)
          .toString('base64'),
      },
    });
  }
}

/** Bytes of a request that are recorded. */
const maxRecordedBytes = 64 * 1_024;

function isGoaway(error: (Error & { code?: string }) | undefined): boolean {
  return error?.code === 'ERR_HTTP2_GOAWAY_SESSION' || error?.code === 'ERR_HTTP2_INVALID_SESSION';
}
