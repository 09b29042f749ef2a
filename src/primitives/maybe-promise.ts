/** A value, a promise of it, or any other thenable. */
export type MaybePromise<T> = T | PromiseLike<T>;

/** Returns true for promises and other thenables, for example of another realm or library. */
export function isThenable<T>(value: MaybePromise<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** Maps a value: at once, or when its promise resolves. */
export function mapResolved<T, R>(value: MaybePromise<T>, map: (value: T) => R | Promise<R>): R | Promise<R> {
  return isThenable(value) ? Promise.resolve(value).then(map) : map(value);
}
