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
  isEventStream,
  toEvidence,
} from './http-exchange.ts';
import { RawFrameReader } from './raw-frame-reader.ts';

/** What to send. */
export interface RawRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** How many milliseconds it may take in all. @defaultValue that of the line */
  readonly deadline?: number;
  /** Called with each frame of a stream; true ends the reading. */
  readonly onFrame?: (frame: RawFrame) => boolean | void;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

/** What a line may spend. */
export interface RawHttpClientOptions {
  /** Milliseconds for one answer. */
  readonly deadline: number;
  /** Bytes of one answer. @defaultValue 4 MiB */
  readonly maxBytes?: number;
  /** Events of one stream. @defaultValue 5,000 */
  readonly maxFrames?: number;
  /** Accepts certificates that nobody vouches for. */
  readonly insecure?: boolean;
}

/** After so many requests in a row without any answer, an agent is taken for mute. */
const mute = 12;

/**
 * The raw wire to the agent under test. It knows HTTP and frames and nothing of A2A: whatever comes back is written
 * down as it is. It never rejects: an agent that does not answer is a result as well.
 */
export class RawHttpClient {
  /** The first exchange, for those who want to know why nothing came of it. */
  firstExchange: HttpExchange | undefined;
  /** How many requests were refused with 401 or 403. */
  authRejections = 0;
  readonly #options: Required<RawHttpClientOptions>;
  readonly #http = new HttpAgent({ keepAlive: true, maxSockets: 32 });
  readonly #https: HttpsAgent;
  #count = 0;
  /** How many requests in a row got no answer at all. */
  #silent = 0;

  constructor(options: RawHttpClientOptions) {
    this.#options = {
      maxBytes: 4 * 1_024 * 1_024,
      maxFrames: 5_000,
      insecure: false,
      ...options,
    };
    this.#https = new HttpsAgent({
      keepAlive: true,
      maxSockets: 32,
      rejectUnauthorized: !this.#options.insecure,
    });
  }

  /** How many requests were sent. */
  get requestCount(): number {
    return this.#count;
  }

  /** Sends a request and reads the answer to its end, or to the deadline. */
  send(raw: RawRequest): Promise<HttpExchange> {
    const number = ++this.#count;
    return new Promise((resolve) => {
      const done = (exchange: HttpExchange): void => {
        this.#silent = exchange.status === 0 && exchange.end === 'timeout' ? this.#silent + 1 : 0;
        this.firstExchange ??= toEvidence(exchange);
        if (exchange.status === 401 || exchange.status === 403) this.authRejections++;
        resolve(exchange);
      };
      const { deadline } = this.#options;
      // Whoever has not answered so often will not answer now: waiting as long again would take hours.
      const patience = this.#silent >= mute ? { deadline: Math.min(raw.deadline ?? deadline, 1_000) } : {};
      new Reading({ ...raw, ...patience }, number, this.#options, done).begin(this.#agentFor(raw.url));
    });
  }

  #agentFor(url: string): HttpAgent | HttpsAgent {
    return url.startsWith('https:') ? this.#https : this.#http;
  }

  /** Lets go of connections. */
  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

/** One answer that is being read. */
class Reading {
  readonly #raw: RawRequest;
  readonly #number: number;
  readonly #options: Required<RawHttpClientOptions>;
  readonly #done: (exchange: HttpExchange) => void;
  readonly #began = performance.now();
  readonly #frames: RawFrame[] = [];
  readonly #decoder = new StringDecoder('utf8');
  readonly #timer: NodeJS.Timeout;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  #reader: RawFrameReader | undefined;
  #body = '';
  #bytes = 0;
  #headAfter = 0;
  #isBroken = false;
  #isOver = false;
  #isAgain = false;

  constructor(
    raw: RawRequest,
    number: number,
    options: Required<RawHttpClientOptions>,
    done: (exchange: HttpExchange) => void,
  ) {
    this.#raw = raw;
    this.#number = number;
    this.#options = options;
    this.#done = done;
    this.#timer = setTimeout(() => this.#end('timeout'), raw.deadline ?? options.deadline);
  }

  /** Sends the request. */
  begin(agent: HttpAgent | HttpsAgent): void {
    const raw = this.#raw;
    raw.signal?.addEventListener('abort', () => this.#end('aborted'), { once: true });
    try {
      const open = raw.url.startsWith('https:') ? httpsRequest : httpRequest;
      const headers = { ...raw.headers };
      if (raw.body !== undefined) headers['content-length'] = String(Buffer.byteLength(raw.body));
      this.#request = open(raw.url, { method: raw.method, headers, agent });
      this.#request.on('response', (response) => this.#answered(response));
      this.#request.on('error', (error) => {
        // A kept connection may have been closed just when it was to be used again; then nobody heard of the request.
        if (!this.#response && !this.#isOver && !this.#isAgain && this.#request?.reusedSocket) {
          this.#isAgain = true;
          this.begin(agent);
        } else this.#end(this.#response ? 'truncated' : 'failed', error.message);
      });
      this.#request.end(raw.body);
    } catch (error) {
      // An address that is none.
      queueMicrotask(() => this.#end('failed', (error as Error).message));
    }
  }

  #answered(response: IncomingMessage): void {
    this.#response = response;
    this.#headAfter = performance.now() - this.#began;
    if (isEventStream({ headers: headersOf(response) }))
      this.#reader = new RawFrameReader(() => performance.now() - this.#began);
    response.on('data', (chunk: Buffer) => this.#read(chunk));
    response.on('end', () => this.#end(response.complete ? 'complete' : 'truncated'));
    response.on('error', (error) => this.#end('truncated', error.message));
    response.on('close', () =>
      this.#end('truncated', 'The connection was closed in the middle of the answer'),
    );
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) {
      this.#end('too-large');
      return;
    }
    const text = this.#decode(chunk);
    // The frames of a stream hold all of it; its text is for people.
    if (!this.#reader || this.#body.length < keptCharacters) this.#body += text;
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
    // What is no UTF-8 becomes this character, which may also have been sent.
    if (text.includes('\ufffd') && !chunk.includes('\ufffd')) this.#isBroken = true;
    return text;
  }

  #end(end: ResponseEnd, trouble?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (end !== 'complete') this.#request?.destroy();
    const { body } = this.#raw;
    this.#done({
      number: this.#number,
      method: this.#raw.method,
      url: this.#raw.url,
      requestHeaders: { ...this.#raw.headers },
      requestBody: keptText(body),
      status: this.#response?.statusCode ?? 0,
      headers: this.#response ? headersOf(this.#response) : {},
      body: this.#body,
      hasInvalidUtf8: this.#isBroken,
      frames: this.#frames,
      end,
      transportError: trouble,
      headersMs: this.#headAfter,
      totalMs: performance.now() - this.#began,
    });
  }
}

/** How much of a body that was sent is remembered. */
const keptCharacters = 256 * 1_024;

function keptText(body: string | Uint8Array | undefined): string | undefined {
  if (body === undefined) return undefined;
  if (typeof body === 'string') return body.slice(0, keptCharacters);
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, keptCharacters)).toString(
    'latin1',
  );
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}
