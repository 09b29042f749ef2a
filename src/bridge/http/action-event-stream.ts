import type { ServerResponse } from 'node:http';

/**
 * A call that is told as it goes, as server-sent events. What a reader that does not keep up has missed is not kept:
 * only the result matters.
 */
export class ActionEventStream {
  readonly #response: ServerResponse;
  #isFull = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.writeHead(200, [
      'Content-Type',
      'text/event-stream',
      'Cache-Control',
      'no-cache, no-transform',
      'X-Accel-Buffering',
      'no',
    ]);
    response.flushHeaders();
    response.on('drain', () => {
      this.#isFull = false;
    });
  }

  /** Tells something, if the reader has room for it. */
  sendProgress(event: string, value: unknown): void {
    if (!this.#isFull) this.#write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
  }

  /** A comment, which keeps the connection alive and means nothing. */
  sendHeartbeat(): void {
    if (!this.#isFull) this.#write(':\n\n');
  }

  /** Tells the last thing. */
  end(event: string, value: unknown): void {
    if (this.#response.destroyed) return;
    this.#response.end(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
  }

  #write(frame: string): void {
    if (!this.#response.destroyed) this.#isFull = !this.#response.write(frame);
  }
}
