import type { ServerResponse } from 'node:http';
import { formatSseEvent } from '../primitives/formats/sse.ts';
import type { StreamOutput } from '../server/node/exchange-limits.ts';

/** Sends JSON documents to the page as server-sent events, with backpressure. */
export class JsonEventStream {
  readonly #response: ServerResponse;
  readonly #output: StreamOutput;
  /** Aborts when the page disconnects. */
  readonly signal: AbortSignal;

  constructor(response: ServerResponse, output: StreamOutput, signal: AbortSignal) {
    this.#response = response;
    this.#output = output;
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
    if (!this.#output.write(text))
      await this.waitFor((drained) => {
        this.#response.on('drain', drained);
        return () => this.#response.off('drain', drained);
      });
    return !this.signal.aborted;
  }

  /** Waits until `subscribe` calls its argument or the page disconnects. `subscribe` returns a function that unsubscribes. */
  waitFor(subscribe: (notify: () => void) => () => void): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        unsubscribe();
        this.signal.removeEventListener('abort', done);
        resolve();
      };
      const unsubscribe = subscribe(done);
      this.signal.addEventListener('abort', done);
    });
  }
}
