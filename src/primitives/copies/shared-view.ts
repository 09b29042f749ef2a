/** Views by the object that is published for them. Keyed by identity, so that a proxy or subclass never inherits one. */
const views = new WeakMap<object, { readonly shared: object; readonly members: object }>();

/**
 * Publishes an object that copies what it accepts and returns, so that callers cannot change what is stored.
 *
 * @param shared - the same object without copies, for callers that neither modify nor retain what they pass and get.
 */
export function publishCopying<T extends object>(copying: T, shared: T): T {
  views.set(copying, { shared, members: { ...copying } });
  return copying;
}

/** Returns the object without copies, or the object itself if it has no such view or its members were replaced. */
export function sharedViewOf<T extends object>(object: T): T {
  const view = views.get(object);
  return view && hasSameMembers(object, view.members) ? (view.shared as T) : object;
}

function hasSameMembers(object: object, members: object): boolean {
  const expected = Object.entries(members);
  return (
    Object.keys(object).length === expected.length &&
    expected.every(([name, value]) => Reflect.get(object, name) === value)
  );
}
