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
import { ByteCapture } from './byte-capture.ts';

/** Size limits of one capture. */
export interface CaptureLimits {
  readonly maxBodyBytes: number;
}

/** A request whose response is captured, and how to read its bytes. */
export interface CapturedExchange {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: CapturedHeaders;
  readRequest(body: Buffer): Pick<CapturedRequest, 'body' | 'json'>;
  readResponse(body: Buffer, headers: CapturedHeaders): Pick<CapturedResponse, 'body' | 'frames'>;
  /** Returns the transport of a call. */
  transportOf(request: CapturedRequest): CapturedCall['transport'];
  /** Ends the response without a further event. */
  endResponse(): void;
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
  readonly #exchange: CapturedExchange;
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

  constructor(
    id: number,
    exchange: CapturedExchange,
    clock: TestClock,
    { maxBodyBytes, ...listener }: CaptureLimits & CaptureListener,
  ) {
    this.id = id;
    this.#exchange = exchange;
    this.#clock = clock;
    this.#listener = listener;
    this.#startedAt = clock.now();
    this.#requestBytes = new ByteCapture(maxBodyBytes);
    this.#responseBytes = new ByteCapture(maxBodyBytes);
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** Counts the size of the request without its body. */
  start(): void {
    const { headers, url } = this.#exchange;
    this.#grow(JSON.stringify(headers).length + url.length);
  }

  /** Records bytes of the request. */
  requestReceived(chunk: unknown): void {
    this.#grow(this.#requestBytes.append(chunk));
  }

  /** Records the headers of the response; trailers are added to them. */
  headSent(headers: CapturedHeaders): void {
    this.#responseHeaders = { ...this.#responseHeaders, ...headers };
  }

  /** Records bytes of the response. */
  bodySent(chunk: unknown, encoding?: unknown): void {
    this.#grow(this.#responseBytes.append(chunk, encoding));
  }

  get transport(): CapturedCall['transport'] {
    return this.#exchange.transportOf(this.request);
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
    // Events of the current event-loop turn are sent first.
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (!this.#capturedResponse) this.#exchange.endResponse();
    await this.closed;
  }

  evict(): void {
    this.isEvicted = true;
  }

  /** The request, with the part of the body that has been read. */
  get request(): CapturedRequest {
    if (this.#capturedRequest) return this.#capturedRequest;
    const { method, url, headers } = this.#exchange;
    const queryStart = url.indexOf('?');
    const request: CapturedRequest = {
      method,
      path: queryStart < 0 ? url : url.slice(0, queryStart),
      query: Object.fromEntries(new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1))),
      headers,
      ...this.#exchange.readRequest(this.#requestBytes.bytes()),
      isTruncated: this.#requestBytes.isTruncated,
    };
    if (this.#call ?? this.#capturedResponse) {
      this.#capturedRequest = request;
      this.#requestBytes.clear();
    }
    return request;
  }

  /** With faults, a closed connection is attributed to the server. */
  get isFaulty(): boolean {
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

  /** Records the end of the response. */
  close(status: number, end: CaptureEnd): void {
    if (this.#capturedResponse) return;
    const headers = this.#responseHeaders;
    this.#capturedResponse = {
      status,
      headers,
      ...this.#exchange.readResponse(this.#responseBytes.bytes(), headers),
      isTruncated: this.#responseBytes.isTruncated,
      end,
      duration: this.#clock.now() - this.#startedAt,
    };
    this.#responseBytes.clear();
    this.#listener.closed();
    this.#listener.changed();
    this.#resolveClosed();
  }
}
