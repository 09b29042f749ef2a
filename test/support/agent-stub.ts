import type { Agent } from '../../src/protocol/agent.ts';

/** Overrides some members of an agent. */
export function stubAgent(agent: Agent, overrides: Partial<Agent>): Agent {
  return { ...agent, ...overrides };
}
