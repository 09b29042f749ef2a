type Member = (...args: never[]) => unknown;

/** Views by the object that is published for them. Keyed by identity, so that a proxy or subclass never inherits one. */
const views = new WeakMap<object, { readonly shared: object; readonly members: object }>();
/** Functions without copies, by the published function. A copy of the object (`{ ...object }`) has the same functions. */
const memberViews = new WeakMap<Member, Member>();

/**
 * Publishes an object that copies what it accepts and returns, so that callers cannot change what is stored.
 *
 * @param shared - the same object without copies, for callers that neither modify nor retain what they pass and get.
 */
export function publishCopying<T extends object>(copying: T, shared: T): T {
  views.set(copying, { shared, members: { ...copying } });
  for (const [name, member] of Object.entries(copying)) {
    const direct: unknown = Reflect.get(shared, name);
    if (isMember(member) && isMember(direct)) memberViews.set(member, direct.bind(shared));
  }
  return copying;
}

/**
 * Returns the object without copies. Of a plain object with members of a published one, only those members are replaced;
 * any other object is returned unchanged.
 */
export function sharedViewOf<T extends object>(object: T): T {
  if (isUnmodified(object)) return views.get(object)?.shared as T;
  if (Object.getPrototypeOf(object) !== Object.prototype) return object;
  const members = Object.entries(object);
  if (!members.some(([, member]) => isPublished(member))) return object;
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      isMember(member) ? (memberViews.get(member) ?? member.bind(object)) : member,
    ]),
  ) as T;
}

/** Returns true for a published object whose members were neither replaced nor extended. */
export function isUnmodified(object: object): boolean {
  const view = views.get(object);
  if (!view) return false;
  const expected = Object.entries(view.members);
  return (
    Object.keys(object).length === expected.length &&
    expected.every(([name, value]) => Reflect.get(object, name) === value)
  );
}

/** Returns true for a function of a published object. It needs no `this`. */
export function isPublished(member: unknown): boolean {
  return isMember(member) && memberViews.has(member);
}

function isMember(member: unknown): member is Member {
  return typeof member === 'function';
}
