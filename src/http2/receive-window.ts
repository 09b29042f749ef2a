/** Bytes that a peer may send before it receives a WINDOW_UPDATE for earlier ones. */
export class ReceiveWindow {
  readonly #size: number;
  /** Received bytes of which the peer has not been told. */
  #received = 0;
  /** Consumed bytes of which the peer has not been told. */
  #consumed = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Counts received bytes. @returns false if the peer was not allowed to send them */
  receive(length: number): boolean {
    this.#received += length;
    return this.#received <= this.#size;
  }

  /** Counts consumed bytes. @returns the bytes of which the peer must be told now; 0 if there is time */
  consume(length: number): number {
    this.#consumed += length;
    if (this.#consumed * 2 < this.#size) return 0;
    const increment = this.#consumed;
    this.#consumed = 0;
    this.#received -= increment;
    return increment;
  }
}
