/** Views by the object that is published for them. Keyed by identity, so that a proxy or subclass never inherits one. */
const views = new WeakMap<object, object>();

/**
 * Publishes an object that copies what it accepts and returns, so that callers cannot change what is stored.
 *
 * @param shared - the same object without copies, for callers that neither modify nor retain what they pass and get.
 */
export function publishCopying<T extends object>(copying: T, shared: T): T {
  views.set(copying, shared);
  return copying;
}

/** Returns the object without copies, or the object itself if it has no such view. */
export function sharedViewOf<T extends object>(object: T): T {
  return (views.get(object) as T | undefined) ?? object;
}
