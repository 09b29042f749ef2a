import type { Agent } from '../../src/protocol/agent.ts';

/** An agent that does some things differently from another and asks it for the rest. */
export function stubAgent(agent: Agent, own: Partial<Agent>): Agent {
  return new Proxy(agent, {
    get(target, name) {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
