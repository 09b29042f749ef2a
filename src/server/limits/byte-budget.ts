/** Sizes below this many bytes are not counted. */
export const minCountedBytes = 64 * 1_024;

/** Limits of a {@link ByteBudget}, in bytes. */
interface ByteBudgetLimits {
  readonly total: number;
  readonly perClient: number;
}

/** Limits the bytes that a server holds for its clients, in total and per client. */
export class ByteBudget {
  readonly #limits: ByteBudgetLimits;
  readonly #clients = new Map<string, number>();
  #total = 0;

  constructor(limits: ByteBudgetLimits) {
    this.#limits = limits;
  }

  /** Bytes that are held at present. */
  get used(): number {
    return this.#total;
  }

  /** Creates an empty reservation of a client. */
  open(client: string): ByteReservation {
    return new ByteReservation(this, client);
  }

  /**
   * Adds bytes of a client, unless a limit would be exceeded. One reservation above a limit is possible if nothing else is
   * held: a single large message is limited by other options.
   *
   * @param own - bytes that the same reservation holds.
   */
  add(client: string, bytes: number, own: number): boolean {
    const held = this.#clients.get(client) ?? 0;
    if (held > own && held + bytes > this.#limits.perClient) return false;
    if (this.#total > own && this.#total + bytes > this.#limits.total) return false;
    this.#clients.set(client, held + bytes);
    this.#total += bytes;
    return true;
  }

  remove(client: string, bytes: number): void {
    const left = (this.#clients.get(client) ?? 0) - bytes;
    if (left > 0) this.#clients.set(client, left);
    else this.#clients.delete(client);
    this.#total -= bytes;
  }
}

/** Bytes that a server holds for one request or response. */
export class ByteReservation {
  readonly #budget: ByteBudget;
  readonly #client: string;
  #bytes = 0;

  constructor(budget: ByteBudget, client: string) {
    this.#budget = budget;
    this.#client = client;
  }

  /** Adds bytes. @returns false if a limit would be exceeded. */
  grow(bytes: number): boolean {
    if (!this.#budget.add(this.#client, bytes, this.#bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Adds bytes up to a total. @returns false if a limit would be exceeded. */
  growTo(total: number): boolean {
    return total <= this.#bytes || this.grow(total - this.#bytes);
  }

  /** Returns all bytes to the budget. May be called twice. */
  release(): void {
    if (this.#bytes > 0) this.#budget.remove(this.#client, this.#bytes);
    this.#bytes = 0;
  }
}
