/** Signal of one connection, which aborts with the whole stream or alone. */
export class StreamConnection {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    if (outer.aborted) this.#onAbort();
    outer.addEventListener('abort', this.#onAbort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  close(): void {
    this.#controller.abort(new Error('The task has ended'));
  }

  release(): void {
    this.#outer.removeEventListener('abort', this.#onAbort);
  }

  #onAbort = (): void => {
    this.#controller.abort(this.#outer.reason);
  };
}
