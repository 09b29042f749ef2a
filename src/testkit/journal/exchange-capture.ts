import type { IncomingMessage, ServerResponse } from 'node:http';
import { SseParser } from '../../primitives/formats/sse.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import type { Fault } from '../faults/fault.ts';
import type { NearMiss, ResponsePlan } from '../agent/response-plan.ts';
import type { TestClock } from '../clock/test-clock.ts';
import type {
  ResponseOrigin,
  CapturedResponse,
  CapturedCall,
  CapturedHeaders,
  CapturedRequest,
  CaptureEnd,
  JournalEntry,
} from './journal-entry.ts';
import { captureRequest, captureResponse } from './capture-http.ts';
import { ByteCapture } from './byte-capture.ts';

/** How much is kept of one request and its answer. */
export interface CaptureLimits {
  readonly maxBodyBytes: number;
}

/** How many rules are kept that came close. */
const maxMisses = 3;

/** Who wants to hear of a recording. */
interface Listener {
  grew(bytes: number): void;
  changed(): void;
  closed(): void;
}

/** A request and its answer while they pass. */
export class ExchangeCapture {
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
  readonly #requestTape: ByteCapture;
  readonly #answerTape: ByteCapture;
  #method = '';
  #url = '/';
  #headers: CapturedHeaders = {};
  #response: ServerResponse | undefined = undefined;
  #answerHeaders: CapturedHeaders = {};
  #answeredBy: ResponseOrigin = 'agent';
  #origin: string | undefined = undefined;
  #call: CapturedCall | undefined = undefined;
  #isUnmatched = false;
  #nearMisses: readonly NearMiss[] | undefined = undefined;
  #answer: CapturedResponse | undefined = undefined;
  #request: CapturedRequest | undefined = undefined;
  #tellClosed: () => void = () => {};
  /** Resolves when the connection is done with the answer. */
  readonly closed: Promise<void>;

  constructor(id: number, clock: TestClock, { maxBodyBytes }: CaptureLimits, listener: Listener) {
    this.id = id;
    this.#clock = clock;
    this.#listener = listener;
    this.#startedAt = clock.now();
    this.#requestTape = new ByteCapture(maxBodyBytes);
    this.#answerTape = new ByteCapture(maxBodyBytes);
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
    captureRequest(request, (chunk) => this.#grow(this.#requestTape.take(chunk)));
    let isOurs = false;
    captureResponse(response, {
      head: (headers) => {
        this.#answerHeaders = headers;
      },
      body: (chunk, encoding) => this.#grow(this.#answerTape.take(chunk, encoding)),
      destroyed: () => {
        isOurs = true;
      },
    });
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
  plays({ origin, nearMisses }: ResponsePlan, faults: readonly Fault[]): void {
    this.#origin = origin;
    this.#nearMisses ??= nearMisses?.slice(0, maxMisses);
    this.faults = faults;
  }

  /** No rule matched. */
  missed(nearMisses: readonly NearMiss[]): void {
    this.#isUnmatched = true;
    this.#nearMisses = nearMisses.slice(0, maxMisses);
    this.#listener.changed();
  }

  /** The door answered, not the agent. */
  markIntercepted(by: ResponseOrigin): void {
    this.#answeredBy = by;
  }

  /** Ends the answer where it is, without another word. */
  async hangUp(): Promise<void> {
    const response = this.#response;
    // What was gathered in this turn goes out first.
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (response && !response.writableEnded) {
      // A stream without an event is a stream all the same.
      if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.end();
    }
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
    const body = this.#requestTape.bytes().toString('utf8');
    const request: CapturedRequest = {
      method: this.#method,
      path: mark < 0 ? this.#url : this.#url.slice(0, mark),
      query: Object.fromEntries(new URLSearchParams(mark < 0 ? '' : this.#url.slice(mark + 1))),
      headers: this.#headers,
      body,
      json: parseJsonOrUndefined(body),
      isCut: this.#requestTape.isCut,
    };
    if (this.#call ?? this.#answer) {
      this.#request = request;
      this.#requestTape.clear();
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
      responseOrigin: this.#answeredBy,
      origin: this.#origin,
      unmatched: this.#isUnmatched ? this.#nearMisses : undefined,
      nearMisses: this.#nearMisses,
      response: this.#answer,
    };
  }

  #grow(bytes: number): void {
    if (this.isForgotten || bytes === 0) return;
    this.size += bytes;
    this.#listener.grew(bytes);
  }

  #close(response: ServerResponse, end: CaptureEnd): void {
    const headers = this.#answerHeaders;
    const isStream = /^text\/event-stream/i.test(String(headers['content-type']));
    this.#answer = {
      status: response.statusCode,
      headers,
      body: isStream ? '' : this.#answerTape.bytes().toString('utf8'),
      frames: isStream ? framesOf(this.#answerTape.bytes()) : undefined,
      isCut: this.#answerTape.isCut,
      end,
      duration: this.#clock.now() - this.#startedAt,
    };
    this.#answerTape.clear();
    this.#response = undefined;
    this.#listener.closed();
    this.#listener.changed();
    this.#tellClosed();
  }
}

function framesOf(bytes: Buffer): unknown[] {
  const frames: unknown[] = [];
  const parser = new SseParser({ event: ({ data }) => frames.push(parseJsonOrUndefined(data) ?? data) });
  parser.push(bytes);
  return frames;
}
