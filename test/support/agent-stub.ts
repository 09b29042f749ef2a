import type { Agent } from '../../src/protocol/agent.ts';

/** Overrides some members of an agent; all other members delegate to it. */
export function stubAgent(agent: Agent, overrides: Partial<Agent>): Agent {
  return new Proxy(agent, {
    get(target, name) {
      const value: unknown = Reflect.get(overrides, name) ?? Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
