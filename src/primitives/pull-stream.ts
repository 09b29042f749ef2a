/** Receiver of wake-up calls of a {@link PullStream}. */
export interface Waiter {
  /** Called when an item is available or the stream has ended. */
  wake(): void;
}

/**
 * A stream that can also be read synchronously, without a promise per item. This makes many idle subscribers and bursts
 * of events cheap.
 */
export interface PullStream<T> extends AsyncIterableIterator<T> {
  /** True if the stream has ended and all items were read. */
  readonly isOver: boolean;
  /** Returns the next available item, or undefined. */
  pull(): T | undefined;
  /**
   * Wakes the waiter once, when `pull` is worth calling again.
   *
   * @returns false if the stream cannot do that; the next item must be awaited then
   */
  park(waiter: Waiter): boolean;
}

export function isPullStream<T>(stream: AsyncIterator<T>): stream is PullStream<T> {
  return 'pull' in stream && 'park' in stream;
}
