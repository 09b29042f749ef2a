import type { IncomingMessage, ServerResponse } from 'node:http';
import { SseParser } from '../../client/bindings/sse.ts';
import type { Fault } from '../faults/fault.ts';
import type { NearMiss, Plan } from '../plan.ts';
import type { TestClock } from '../clock/test-clock.ts';
import type {
  AnsweredBy,
  CapturedAnswer,
  CapturedCall,
  CapturedHeaders,
  CapturedRequest,
  EndReason,
  JournalEntry,
} from './entry.ts';

/** How much is kept of one request and its answer. */
export interface RecordingLimits {
  readonly maxBodyBytes: number;
}

/** Who wants to hear of a recording. */
interface Listener {
  grew(bytes: number): void;
  changed(): void;
  closed(): void;
}

/** Bytes as they pass, up to a limit. */
class Tape {
  readonly chunks: Buffer[] = [];
  size = 0;
  isCut = false;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns how many bytes were kept. */
  take(chunk: unknown, encoding?: unknown): number {
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : chunk instanceof Uint8Array
          ? Buffer.from(chunk)
          : undefined;
    if (!bytes) return 0;
    const kept = bytes.subarray(0, this.#limit - this.size);
    if (kept.length < bytes.length) this.isCut = true;
    if (kept.length > 0) this.chunks.push(kept);
    this.size += kept.length;
    return kept.length;
  }

  text(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }
}

/** A request and its answer while they pass. */
export class Recording {
  readonly id: number;
  /** What goes wrong with the answer; undefined until the agent has decided. */
  faults: readonly Fault[] | undefined = undefined;
  /** True once the journal has let go of it. */
  isForgotten = false;
  /** In bytes. */
  size = 0;
  readonly #clock: TestClock;
  readonly #listener: Listener;
  readonly #startedAt: number;
  readonly #requestTape: Tape;
  readonly #answerTape: Tape;
  #method = '';
  #url = '/';
  #headers: CapturedHeaders = {};
  #response: ServerResponse | undefined = undefined;
  #answerHeaders: CapturedHeaders = {};
  #answeredBy: AnsweredBy = 'agent';
  #origin: string | undefined = undefined;
  #call: CapturedCall | undefined = undefined;
  #unmatched: readonly NearMiss[] | undefined = undefined;
  #answer: CapturedAnswer | undefined = undefined;
  #request: CapturedRequest | undefined = undefined;
  #tellClosed: () => void = () => {};
  /** Resolves when the connection is done with the answer. */
  readonly closed: Promise<void>;

  constructor(id: number, clock: TestClock, { maxBodyBytes }: RecordingLimits, listener: Listener) {
    this.id = id;
    this.#clock = clock;
    this.#listener = listener;
    this.#startedAt = clock.now();
    this.#requestTape = new Tape(maxBodyBytes);
    this.#answerTape = new Tape(maxBodyBytes);
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve;
    });
  }

  /** Listens to a request and its answer without taking part. */
  attach(request: IncomingMessage, response: ServerResponse): void {
    this.#method = request.method ?? 'GET';
    this.#url = request.url ?? '/';
    this.#headers = { ...request.headers };
    this.#response = response;
    this.#grow(JSON.stringify(this.#headers).length + this.#url.length);
    listen(request, (chunk) => this.#grow(this.#requestTape.take(chunk)));
    // Closest to the wire, so that what faults make of the answer is what is kept.
    const { write, end, writeHead } = response;
    response.writeHead = ((...args: unknown[]) => {
      this.#answerHeaders = { ...response.getHeaders(), ...headersOf(args.at(-1)) } as CapturedHeaders;
      return (writeHead as (...args: unknown[]) => ServerResponse).apply(response, args);
    }) as typeof writeHead;
    response.write = ((...args: Parameters<typeof write>) => {
      this.#grow(this.#answerTape.take(args[0], args[1]));
      return write.apply(response, args);
    }) as typeof write;
    response.end = ((...args: Parameters<typeof end>) => {
      const [chunk, encoding] = args as unknown[];
      this.#grow(this.#answerTape.take(chunk, encoding));
      return end.apply(response, args);
    }) as typeof end;
    let isOurs = false;
    const { destroy } = response;
    response.destroy = ((...args: Parameters<typeof destroy>) => {
      isOurs = true;
      return destroy.apply(response, args);
    }) as typeof destroy;
    response.once('close', () => {
      this.#close(
        response,
        response.writableFinished ? 'finished' : isOurs || this.#isFaulty ? 'cut' : 'peer-left',
      );
    });
  }

  /** True for a request that came as JSON-RPC. */
  get isRpc(): boolean {
    const { json } = this.request;
    return typeof json === 'object' && json !== null && 'method' in json && !Array.isArray(json);
  }

  /** It is clear what is asked for. */
  understood(call: CapturedCall): void {
    this.#call = call;
    this.#listener.changed();
  }

  /** It is clear which task a message belongs to. */
  belongsTo(ids: { taskId: string; contextId: string }): void {
    if (this.#call) this.#call = { ...this.#call, ...ids };
    this.#listener.changed();
  }

  /** It is decided what is played. */
  plays({ origin }: Plan, faults: readonly Fault[]): void {
    this.#origin = origin;
    this.faults = faults;
  }

  /** No rule matched. */
  missed(nearMisses: readonly NearMiss[]): void {
    this.#unmatched = nearMisses.slice(0, 3);
    this.#listener.changed();
  }

  /** The door answered, not the agent. */
  answeredAtDoor(by: AnsweredBy): void {
    this.#answeredBy = by;
  }

  /** Ends the answer where it is, without another word. */
  async hangUp(): Promise<void> {
    const response = this.#response;
    // What was gathered in this turn goes out first.
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (response && !response.writableEnded) response.end();
    await this.closed;
  }

  /** The journal lets go of it. */
  forget(): void {
    this.isForgotten = true;
  }

  /** The request as far as it was read. */
  get request(): CapturedRequest {
    if (this.#request) return this.#request;
    const mark = this.#url.indexOf('?');
    const body = this.#requestTape.text();
    const request: CapturedRequest = {
      method: this.#method,
      path: mark < 0 ? this.#url : this.#url.slice(0, mark),
      query: Object.fromEntries(new URLSearchParams(mark < 0 ? '' : this.#url.slice(mark + 1))),
      headers: this.#headers,
      body,
      json: parsed(body),
      isCut: this.#requestTape.isCut,
    };
    if (this.#call ?? this.#answer) {
      this.#request = request;
      this.#requestTape.chunks.length = 0;
    }
    return request;
  }

  /** True when the answer is meant to go wrong, so that whatever happens to the connection is our doing. */
  get #isFaulty(): boolean {
    return this.faults !== undefined && this.faults.length > 0;
  }

  /** What is known by now. */
  entry(): JournalEntry {
    return {
      id: this.id,
      time: new Date(this.#startedAt).toISOString(),
      request: this.request,
      call: this.#call,
      answeredBy: this.#answeredBy,
      origin: this.#origin,
      unmatched: this.#unmatched,
      answer: this.#answer,
    };
  }

  #grow(bytes: number): void {
    if (this.isForgotten || bytes === 0) return;
    this.size += bytes;
    this.#listener.grew(bytes);
  }

  #close(response: ServerResponse, end: EndReason): void {
    const headers = this.#answerHeaders;
    const isStream = /^text\/event-stream/i.test(String(headers['content-type']));
    this.#answer = {
      status: response.statusCode,
      headers,
      body: isStream ? '' : this.#answerTape.text(),
      frames: isStream ? framesOf(this.#answerTape.chunks) : undefined,
      isCut: this.#answerTape.isCut,
      end,
      duration: this.#clock.now() - this.#startedAt,
    };
    this.#answerTape.chunks.length = 0;
    this.#response = undefined;
    this.#listener.closed();
    this.#listener.changed();
    this.#tellClosed();
  }
}

/** Hears the body of a request when somebody reads it, and does not make it flow. */
function listen(request: IncomingMessage, take: (chunk: unknown) => void): void {
  const { emit } = request;
  request.emit = ((event: string, ...args: unknown[]) => {
    if (event === 'data') take(args[0]);
    return emit.call(request, event, ...args);
  }) as typeof emit;
}

/** The headers that `writeHead` was given, in any of the forms it takes. */
function headersOf(given: unknown): Record<string, unknown> {
  if (typeof given !== 'object' || given === null) return {};
  const headers: Record<string, unknown> = {};
  const put = (name: unknown, value: unknown): void => {
    headers[String(name).toLowerCase()] = Array.isArray(value) ? value.map(String) : String(value);
  };
  if (!Array.isArray(given)) for (const [name, value] of Object.entries(given)) put(name, value);
  else if (Array.isArray(given[0])) for (const [name, value] of given as unknown[][]) put(name, value);
  else for (let at = 0; at + 1 < given.length; at += 2) put(given[at], given[at + 1]);
  return headers;
}

function framesOf(chunks: readonly Buffer[]): unknown[] {
  const frames: unknown[] = [];
  const parser = new SseParser({ event: ({ data }) => frames.push(parsed(data) ?? data) });
  for (const chunk of chunks) parser.push(chunk);
  return frames;
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
