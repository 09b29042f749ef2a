import { isPublished } from '../../primitives/copies/shared-view.ts';
import type { Agent } from '../agent.ts';

/**
 * Returns a plain object with all members of an agent, bound to it, so that it can be spread, destructured and wrapped.
 * Methods of its classes are included.
 */
export function bindAgent<A extends Agent>(agent: A): A {
  const bound: { [name: PropertyKey]: unknown } = {};
  for (let owner: object = agent; isAgentClass(owner); owner = Object.getPrototypeOf(owner) as object)
    for (const name of Reflect.ownKeys(owner)) {
      if (name === 'constructor' || Object.hasOwn(bound, name)) continue;
      const member: unknown = Reflect.get(agent, name);
      bound[name] = typeof member === 'function' && !isPublished(member) ? member.bind(agent) : member;
    }
  return bound as unknown as A;
}

function isAgentClass(owner: object | null): boolean {
  return owner !== null && owner !== Object.prototype;
}
