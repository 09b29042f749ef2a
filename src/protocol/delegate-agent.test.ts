import { describe, expect, it } from 'vitest';
import type { Agent } from './agent.ts';
import { delegateAgent } from './delegate-agent.ts';

class CountingAgent {
  #calls = 0;
  readonly name = 'counter';
  async getTask(): Promise<number> {
    return ++this.#calls;
  }
  async close(): Promise<void> {}
}

describe('delegateAgent', () => {
  it('calls overrides, and the agent with its own `this` for other members', async () => {
    const agent = new CountingAgent() as unknown as Agent;
    const delegate = delegateAgent(agent, { getTask: async (request) => ({ ...request }) as never });
    expect(await delegate.getTask({ id: 'task-1' })).toEqual({ id: 'task-1' });
    expect(await delegateAgent(agent, {}).getTask({ id: 'task-1' })).toBe(1);
    expect(await delegate.close?.()).toBeUndefined();
    expect(delegate).not.toHaveProperty('ready');
    expect((delegate as unknown as CountingAgent).name).toBe('counter');
  });
});
