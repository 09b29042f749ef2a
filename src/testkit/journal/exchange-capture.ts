import type { IncomingMessage, ServerResponse } from 'node:http';
import { SseParser } from '../../primitives/formats/sse.ts';
import { isJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
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

/** Size limits of one capture. */
export interface CaptureLimits {
  readonly maxBodyBytes: number;
}

/** Maximum number of near misses in an entry. */
const maxNearMisses = 3;

interface CaptureListener {
  grown(bytes: number): void;
  changed(): void;
  closed(): void;
}

/** Captures one HTTP exchange: a request and its response. */
export class ExchangeCapture {
  readonly id: number;
  /** Injected faults; undefined until the plan is created. */
  faults: readonly Fault[] | undefined = undefined;
  /** True after the journal has evicted the entry. */
  isEvicted = false;
  /** Stored bytes of headers and bodies. */
  size = 0;
  readonly #clock: TestClock;
  readonly #listener: CaptureListener;
  readonly #startedAt: number;
  readonly #requestBytes: ByteCapture;
  readonly #responseBytes: ByteCapture;
  #method = '';
  #url = '/';
  #headers: CapturedHeaders = {};
  #openResponse: ServerResponse | undefined = undefined;
  #responseHeaders: CapturedHeaders = {};
  #responseOrigin: ResponseOrigin = 'agent';
  #origin: string | undefined = undefined;
  #call: CapturedCall | undefined = undefined;
  #isUnmatched = false;
  #nearMisses: readonly NearMiss[] | undefined = undefined;
  #capturedResponse: CapturedResponse | undefined = undefined;
  #capturedRequest: CapturedRequest | undefined = undefined;
  #resolveClosed: () => void = () => {};
  /** Resolves when the response is closed. */
  readonly closed: Promise<void>;

  constructor(id: number, clock: TestClock, { maxBodyBytes }: CaptureLimits, listener: CaptureListener) {
    this.id = id;
    this.#clock = clock;
    this.#listener = listener;
    this.#startedAt = clock.now();
    this.#requestBytes = new ByteCapture(maxBodyBytes);
    this.#responseBytes = new ByteCapture(maxBodyBytes);
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** Starts to observe a request and its response. */
  attach(request: IncomingMessage, response: ServerResponse): void {
    this.#method = request.method ?? 'GET';
    this.#url = request.url ?? '/';
    this.#headers = { ...request.headers };
    this.#openResponse = response;
    this.#grow(JSON.stringify(this.#headers).length + this.#url.length);
    captureRequest(request, (chunk) => this.#grow(this.#requestBytes.append(chunk)));
    let isDestroyedByServer = false;
    captureResponse(response, {
      head: (headers) => {
        this.#responseHeaders = headers;
      },
      body: (chunk, encoding) => this.#grow(this.#responseBytes.append(chunk, encoding)),
      destroyed: () => {
        isDestroyedByServer = true;
      },
    });
    response.once('close', () => {
      this.#close(
        response,
        response.writableFinished
          ? 'finished'
          : isDestroyedByServer || this.#isFaulty
            ? 'aborted'
            : 'client-disconnected',
      );
    });
  }

  get isRpc(): boolean {
    const { json } = this.request;
    return isJsonObject(json) && 'method' in json;
  }

  /** Records the decoded call. */
  setCall(call: CapturedCall): void {
    this.#call = call;
    this.#listener.changed();
  }

  /** Records the ids that the engine assigned. */
  setTaskIds(ids: { taskId: string; contextId: string }): void {
    if (this.#call) this.#call = { ...this.#call, ...ids };
    this.#listener.changed();
  }

  /** Records the response plan. */
  setPlan({ origin, nearMisses }: ResponsePlan, faults: readonly Fault[]): void {
    this.#origin = origin;
    this.#nearMisses ??= nearMisses?.slice(0, maxNearMisses);
    this.faults = faults;
  }

  /** Records that no rule matched. */
  setUnmatched(nearMisses: readonly NearMiss[]): void {
    this.#isUnmatched = true;
    this.#nearMisses = nearMisses.slice(0, maxNearMisses);
    this.#listener.changed();
  }

  /** Records that the request interceptor responded. */
  setResponseOrigin(origin: ResponseOrigin): void {
    this.#responseOrigin = origin;
  }

  /** Ends the response without a further event. */
  async endResponse(): Promise<void> {
    const response = this.#openResponse;
    // Events of the current event-loop turn are sent first.
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (response && !response.writableEnded) {
      // A stream without events still needs a response head.
      if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.end();
    }
    await this.closed;
  }

  evict(): void {
    this.isEvicted = true;
  }

  /** The request, with the part of the body that has been read. */
  get request(): CapturedRequest {
    if (this.#capturedRequest) return this.#capturedRequest;
    const queryStart = this.#url.indexOf('?');
    const body = this.#requestBytes.bytes().toString('utf8');
    const request: CapturedRequest = {
      method: this.#method,
      path: queryStart < 0 ? this.#url : this.#url.slice(0, queryStart),
      query: Object.fromEntries(new URLSearchParams(queryStart < 0 ? '' : this.#url.slice(queryStart + 1))),
      headers: this.#headers,
      body,
      json: parseJsonOrUndefined(body),
      isTruncated: this.#requestBytes.isTruncated,
    };
    if (this.#call ?? this.#capturedResponse) {
      this.#capturedRequest = request;
      this.#requestBytes.clear();
    }
    return request;
  }

  /** With faults, a closed connection is attributed to the server. */
  get #isFaulty(): boolean {
    return this.faults !== undefined && this.faults.length > 0;
  }

  /** Returns the current journal entry. */
  entry(): JournalEntry {
    return {
      id: this.id,
      time: new Date(this.#startedAt).toISOString(),
      request: this.request,
      call: this.#call,
      responseOrigin: this.#responseOrigin,
      origin: this.#origin,
      unmatched: this.#isUnmatched ? this.#nearMisses : undefined,
      nearMisses: this.#nearMisses,
      response: this.#capturedResponse,
    };
  }

  #grow(bytes: number): void {
    if (this.isEvicted || bytes === 0) return;
    this.size += bytes;
    this.#listener.grown(bytes);
  }

  #close(response: ServerResponse, end: CaptureEnd): void {
    const headers = this.#responseHeaders;
    const isStream = /^text\/event-stream/i.test(String(headers['content-type']));
    this.#capturedResponse = {
      status: response.statusCode,
      headers,
      body: isStream ? '' : this.#responseBytes.bytes().toString('utf8'),
      frames: isStream ? parseFrames(this.#responseBytes.bytes()) : undefined,
      isTruncated: this.#responseBytes.isTruncated,
      end,
      duration: this.#clock.now() - this.#startedAt,
    };
    this.#responseBytes.clear();
    this.#openResponse = undefined;
    this.#listener.closed();
    this.#listener.changed();
    this.#resolveClosed();
  }
}

function parseFrames(bytes: Buffer): unknown[] {
  const frames: unknown[] = [];
  const parser = new SseParser({ event: ({ data }) => frames.push(parseJsonOrUndefined(data) ?? data) });
  parser.push(bytes);
  return frames;
}
