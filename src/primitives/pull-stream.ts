/** Somebody who waits for more. */
export interface Waiter {
  /** There is more, or there will never be. */
  wake(): void;
}

/**
 * A stream that can also be read without a promise for each step: what is there is taken, and for what is not there
 * yet one leaves word. Many idle readers of such a stream cost little, and many events at once cost no waiting.
 */
export interface PullStream<T> extends AsyncIterableIterator<T> {
  /** True when nothing is left to take. */
  readonly isOver: boolean;
  /** Takes what is there, or undefined. */
  pull(): T | undefined;
  /**
   * Has somebody woken, once, when it is worth pulling again.
   *
   * @returns false when that cannot be promised: the next step must then be awaited.
   */
  park(waiter: Waiter): boolean;
}

/** Tells whether a stream can be pulled. */
export function isPullStream<T>(stream: AsyncIterator<T>): stream is PullStream<T> {
  return 'pull' in stream && 'park' in stream;
}
