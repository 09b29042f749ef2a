import type { ServerResponse } from 'node:http';

/** JSON documents that go to the page as they come. */
export class JsonEventStream {
  readonly #response: ServerResponse;
  /** Aborts when the page is gone. */
  readonly signal: AbortSignal;

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.signal = signal;
  }

  /**
   * Sends documents in one piece, and waits while the page does not read.
   *
   * @returns false when there is nobody any more.
   */
  async send(...documents: readonly unknown[]): Promise<boolean> {
    if (this.signal.aborted) return false;
    const text = documents.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('');
    if (!this.#response.write(text)) await this.#room();
    return !this.signal.aborted;
  }

  #room(): Promise<void> {
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
