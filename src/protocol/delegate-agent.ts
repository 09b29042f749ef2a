import type { Agent } from './agent.ts';

/** Returns an agent with some operations overridden; all other members are those of `agent`. */
export function delegateAgent(agent: Agent, overrides: Partial<Agent>): Agent {
  return new Proxy(agent, {
    get(target, name) {
      const override = overrides[name as keyof Agent];
      if (override !== undefined) return override;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}
