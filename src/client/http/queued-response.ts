import { BodyTooLargeError, type HttpResponse, HttpTransportError } from './http-client.ts';
import { A2AError } from '../../protocol/errors.ts';

/** Number of unread bytes above which reading is paused (backpressure). */
const highWaterMark = 256 * 1024;

type Resolve = (response: HttpResponse) => void;
type Reject = (failure: unknown) => void;

/** One exchange of a driver: the driver passes on what it receives, the caller of the driver reads it. */
export abstract class QueuedResponse implements HttpResponse {
  status = 0;
  isOver = false;
  #headers: Readonly<Record<string, string | string[] | undefined>> = {};
  #resolve: Resolve | undefined;
  #reject: Reject | undefined;
  #signal: AbortSignal | undefined;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #error: unknown;
  #wake: (() => void) | undefined;
  /** Set while the complete body is read, which disables backpressure. */
  #limit: number | undefined;

  constructor(signal: AbortSignal | undefined, resolve: Resolve, reject: Reject) {
    this.#resolve = resolve;
    this.#reject = reject;
    if (!signal) return;
    this.#signal = signal;
    // Fields of the subclass do not exist yet.
    if (signal.aborted) this.finish(new HttpTransportError(signal.reason, false));
    else signal.addEventListener('abort', this.#onAbort);
  }

  /** True once a byte of the request may have reached the server. */
  protected abstract get wasSent(): boolean;
  protected abstract pause(): void;
  protected abstract resume(): void;
  /** Closes the connection or stream. */
  protected abstract cancel(reason: Error): void;

  #onAbort = (): void => {
    this.#abort(this.#signal?.reason ?? new Error('aborted'));
  };

  #abort(reason: unknown): void {
    if (this.isOver) return;
    this.finish(new HttpTransportError(reason, this.wasSent));
    this.cancel(reason instanceof Error ? reason : new Error('aborted'));
  }

  /** Passes on status and headers. */
  protected start(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.status = status;
    this.#headers = headers;
    this.#resolve?.(this);
    this.#resolve = undefined;
    this.#reject = undefined;
  }

  /** Passes on bytes of the body. */
  protected push(chunk: Buffer): void {
    if (this.isOver) return;
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#limit !== undefined) {
      if (this.#queuedBytes > this.#limit) this.#abort(new BodyTooLargeError());
      return;
    }
    if (this.#queuedBytes > highWaterMark) this.pause();
    this.#wake?.();
  }

  /** Ends the body, or the request if there is no response yet. */
  protected finish(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#error = error;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (error !== undefined) this.#reject?.(error);
    this.#resolve = undefined;
    this.#reject = undefined;
    this.#wake?.();
  }

  fail(thrown: unknown): void {
    // A denial of the egress policy is not a transport error.
    const isKnown = thrown instanceof A2AError || thrown instanceof HttpTransportError;
    this.finish(isKnown ? thrown : new HttpTransportError(thrown, this.wasSent));
  }

  header(name: string): string | undefined {
    return joinValues(this.#headers[name]);
  }

  headerNames(): readonly string[] {
    return Object.keys(this.#headers);
  }

  async text(limit: number): Promise<string> {
    if (this.#queuedBytes > limit) this.discard();
    this.#limit = limit;
    this.resume();
    if (!this.isOver) await this.#wait();
    if (this.#queuedBytes > limit) throw new BodyTooLargeError(`more than ${limit} bytes`);
    if (this.#error !== undefined) throw this.#error;
    const [first, ...more] = this.#queue;
    if (!first) return '';
    return more.length === 0 ? first.toString('utf8') : Buffer.concat(this.#queue).toString('utf8');
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        while (this.#queue.length > 0) {
          const queue = this.#queue;
          this.#queue = [];
          this.#queuedBytes = 0;
          this.resume();
          // Chunks that arrived together are passed on together, because each step of the consumers costs more than the copy.
          yield queue.length === 1 ? (queue[0] as Buffer) : Buffer.concat(queue);
        }
        if (this.isOver) break;
        await this.#wait();
      }
      if (this.#error !== undefined) throw this.#error;
    } finally {
      this.discard();
    }
  }

  discard(): void {
    if (!this.isOver) this.#abort(new Error('The response was discarded'));
  }

  /** Waits for bytes or, while the complete body is read, for its end. */
  #wait(): Promise<void> {
    return new Promise((wake) => {
      this.#wake = () => {
        this.#wake = undefined;
        wake();
      };
    });
  }
}

/** Returns the value of a header that may occur several times. */
export function joinValues(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
