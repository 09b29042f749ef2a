import type { Socket } from 'node:net';
import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { StringDecoder } from 'node:string_decoder';
import {
  type ResponseEnd,
  type HttpExchange,
  type RawFrame,
  authStatus,
  flattenHeaders,
  isEventStream,
  suiteUserAgent,
  toEvidence,
} from './http-exchange.ts';
import type { GrpcCallSetup } from './grpc/grpc-facts.ts';
import { GrpcCall, GrpcConnections } from './grpc/grpc-client.ts';
import { RawFrameReader } from './raw-frame-reader.ts';

/** A request of {@link RawHttpClient}. */
export interface RawRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Total time limit in milliseconds. @defaultValue the deadline of the client */
  readonly deadline?: number;
  /** Sends the request as a call of gRPC over HTTP/2; `body` is then a message with its prefix. */
  readonly grpc?: GrpcCallSetup;
  /** Called with each SSE frame or gRPC message; returning true aborts the response. */
  readonly onFrame?: (frame: RawFrame) => boolean | void;
  /** Aborts the response. */
  readonly signal?: AbortSignal;
}

/** Options of {@link RawHttpClient}. */
export interface RawHttpClientOptions {
  /** Time limit of one response, in milliseconds. */
  readonly deadline: number;
  /** Size limit of one response, in bytes. @defaultValue 4 MiB */
  readonly maxBytes?: number;
  /** Maximum number of frames of one stream. @defaultValue 5,000 */
  readonly maxFrames?: number;
  /** Disables the verification of TLS certificates. @defaultValue false */
  readonly insecure?: boolean;
}

/** Options with their defaults. */
export type ResolvedClientOptions = Required<RawHttpClientOptions>;

/** Consecutive timeouts without a response after which the agent counts as unresponsive. */
const maxConsecutiveTimeouts = 12;
/** Time limit of requests to an unresponsive agent, in milliseconds. */
const unresponsiveDeadline = 1_000;

/**
 * HTTP client of the suite. It knows HTTP, SSE and gRPC but not A2A and records responses unchanged. It never rejects: a
 * missing response is a result, too.
 */
export class RawHttpClient {
  /** The first exchange, to explain an unreachable agent. */
  firstExchange: HttpExchange | undefined;
  /** Number of requests that were rejected because of their credentials. */
  authRejections = 0;
  readonly #options: ResolvedClientOptions;
  readonly #http = new HttpAgent({ keepAlive: true, maxSockets: 32 });
  readonly #https: HttpsAgent;
  readonly #grpc: GrpcConnections;
  #count = 0;
  #consecutiveTimeouts = 0;

  constructor(options: RawHttpClientOptions) {
    this.#options = { maxBytes: 4 * 1_024 * 1_024, maxFrames: 5_000, insecure: false, ...options };
    this.#https = new HttpsAgent({
      keepAlive: true,
      maxSockets: 32,
      rejectUnauthorized: !this.#options.insecure,
    });
    this.#grpc = new GrpcConnections(this.#options.insecure);
  }

  get requestCount(): number {
    return this.#count;
  }

  /** Sends a request and reads the response until its end or the deadline. */
  send(raw: RawRequest): Promise<HttpExchange> {
    const number = ++this.#count;
    return new Promise((resolve) => {
      const done = (exchange: HttpExchange): void => {
        this.#consecutiveTimeouts =
          exchange.status === 0 && exchange.end === 'timeout' ? this.#consecutiveTimeouts + 1 : 0;
        this.firstExchange ??= toEvidence(exchange);
        if (authStatus(exchange) !== undefined) this.authRejections++;
        resolve(exchange);
      };
      const { deadline } = this.#options;
      // Waiting for the full deadline at every request to an unresponsive agent would take hours.
      const isUnresponsive = this.#consecutiveTimeouts >= maxConsecutiveTimeouts;
      const limit = isUnresponsive
        ? { deadline: Math.min(raw.deadline ?? deadline, unresponsiveDeadline) }
        : {};
      const { grpc } = raw;
      if (grpc) {
        new GrpcCall({ ...raw, grpc, ...limit }, number, this.#options, done).start(this.#grpc);
        return;
      }
      const agent = raw.url.startsWith('https:') ? this.#https : this.#http;
      new RawExchange({ ...raw, ...limit }, number, this.#options, done).start(agent);
    });
  }

  /** Closes all connections. */
  close(): void {
    this.#http.destroy();
    this.#https.destroy();
    this.#grpc.close();
  }
}

/** A request in progress. */
class RawExchange {
  readonly #raw: RawRequest;
  readonly #number: number;
  readonly #options: ResolvedClientOptions;
  readonly #onEnd: (exchange: HttpExchange) => void;
  readonly #startedAt = performance.now();
  readonly #frames: RawFrame[] = [];
  readonly #decoder = new StringDecoder('utf8');
  readonly #timer: NodeJS.Timeout;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  #reader: RawFrameReader | undefined;
  #body = '';
  #bytes = 0;
  #headersMs = 0;
  #hasInvalidUtf8 = false;
  #isFinished = false;
  /** Error of the first attempt. */
  #retriedError: string | undefined;

  constructor(
    raw: RawRequest,
    number: number,
    options: ResolvedClientOptions,
    onEnd: (exchange: HttpExchange) => void,
  ) {
    this.#raw = raw;
    this.#number = number;
    this.#options = options;
    this.#onEnd = onEnd;
    this.#timer = setTimeout(() => this.#end('timeout'), raw.deadline ?? options.deadline);
  }

  start(agent: HttpAgent | HttpsAgent): void {
    const raw = this.#raw;
    raw.signal?.addEventListener('abort', () => this.#end('aborted'), { once: true });
    try {
      const open = raw.url.startsWith('https:') ? httpsRequest : httpRequest;
      const headers: Record<string, string> = { 'user-agent': suiteUserAgent, ...raw.headers };
      if (raw.body !== undefined) headers['content-length'] = String(Buffer.byteLength(raw.body));
      this.#request = open(raw.url, { method: raw.method, headers, agent });
      this.#request.on('response', (response) => this.#onResponse(response));
      this.#request.on('socket', ignoreLateErrors);
      this.#request.on('error', (error) => {
        // The server may close a keep-alive connection just before its reuse; it has not received the request then.
        const isRetry = this.#retriedError !== undefined;
        if (!this.#response && !this.#isFinished && !isRetry && this.#request?.reusedSocket) {
          this.#retriedError = error.message;
          // Another idle connection of the pool may have been closed as well.
          this.start(this.#unpooledAgent());
        } else this.#end(this.#response ? 'truncated' : 'failed', this.#retriedError ?? error.message);
      });
      this.#request.end(raw.body);
    } catch (error) {
      // The URL is invalid.
      queueMicrotask(() => this.#end('failed', (error as Error).message));
    }
  }

  #unpooledAgent(): HttpAgent | HttpsAgent {
    if (!this.#raw.url.startsWith('https:')) return new HttpAgent();
    return new HttpsAgent({ rejectUnauthorized: !this.#options.insecure });
  }

  #onResponse(response: IncomingMessage): void {
    this.#response = response;
    this.#headersMs = performance.now() - this.#startedAt;
    if (isEventStream({ headers: flattenHeaders(response.headers) }))
      this.#reader = new RawFrameReader(() => performance.now() - this.#startedAt);
    response.on('data', (chunk: Buffer) => this.#read(chunk));
    response.on('end', () => this.#end(response.complete ? 'complete' : 'truncated'));
    response.on('error', (error) => this.#end('truncated', error.message));
    response.on('close', () =>
      this.#end('truncated', 'The connection was closed before the end of the response'),
    );
  }

  #read(chunk: Buffer): void {
    if (this.#isFinished) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) {
      this.#end('too-large');
      return;
    }
    const text = this.#decode(chunk);
    // The frames contain the whole stream; its text is only for reports.
    if (!this.#reader || this.#body.length < maxRecordedCharacters) this.#body += text;
    for (const frame of this.#reader?.push(text) ?? []) {
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

  #decode(chunk: Buffer): string {
    const text = this.#decoder.write(chunk);
    // Invalid UTF-8 is decoded to U+FFFD, which the agent may also have sent.
    if (text.includes('\ufffd') && !chunk.includes('\ufffd')) this.#hasInvalidUtf8 = true;
    return text;
  }

  #end(end: ResponseEnd, transportError?: string): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#timer);
    if (end !== 'complete') this.#request?.destroy();
    const { body } = this.#raw;
    this.#onEnd({
      number: this.#number,
      method: this.#raw.method,
      url: this.#raw.url,
      requestHeaders: { ...this.#raw.headers },
      requestBody: recordedBody(body),
      status: this.#response?.statusCode ?? 0,
      headers: this.#response ? flattenHeaders(this.#response.headers) : {},
      body: this.#body,
      hasInvalidUtf8: this.#hasInvalidUtf8,
      frames: this.#frames,
      end,
      transportError,
      headersMs: this.#headersMs,
      totalMs: performance.now() - this.#startedAt,
    });
  }
}

/** Characters of a request body or stream that are recorded. */
const maxRecordedCharacters = 256 * 1_024;

function recordedBody(body: string | Uint8Array | undefined): string | undefined {
  if (body === undefined) return undefined;
  if (typeof body === 'string') return body.slice(0, maxRecordedCharacters);
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, maxRecordedCharacters)).toString(
    'latin1',
  );
}

/**
 * Node removes its listener when the response has ended. If the server closes the connection before it has read the whole
 * request, an error that follows would end the process.
 */
function ignoreLateErrors(socket: Socket): void {
  if (!socket.listeners('error').includes(ignoreError)) socket.on('error', ignoreError);
}

function ignoreError(): void {}
