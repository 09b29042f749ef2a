import type { Agent } from '../../protocol/agent.ts';

/** Returns the name of an agent as a prefix of actions: the name of its card in lower case, with underscores. */
export async function nameAfterCard(agent: Pick<Agent, 'card'>): Promise<string> {
  const { name } = await agent.card();
  const prefix = name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_|_$/g, '');
  return prefix || 'agent';
}
