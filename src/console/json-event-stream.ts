import type { ServerResponse } from 'node:http';
import { formatSseEvent } from '../primitives/formats/sse.ts';

/** Sends JSON documents to the page as server-sent events, with backpressure. */
export class JsonEventStream {
  readonly #response: ServerResponse;
  /** Aborts when the page disconnects. */
  readonly signal: AbortSignal;

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.signal = signal;
  }

  /**
   * Sends documents in one write and waits while the page reads too slowly.
   *
   * @returns false if the page has disconnected.
   */
  async send(...documents: readonly unknown[]): Promise<boolean> {
    if (this.signal.aborted) return false;
    const text = documents.map((each) => formatSseEvent({ data: JSON.stringify(each) })).join('');
    if (!this.#response.write(text)) await this.#drained();
    return !this.signal.aborted;
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#response.off('drain', done);
        this.signal.removeEventListener('abort', done);
        resolve();
      };
      this.#response.on('drain', done);
      this.signal.addEventListener('abort', done);
    });
  }
}
