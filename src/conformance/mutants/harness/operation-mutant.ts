import type { Agent } from '../../../protocol/agent.ts';
import type { Reason } from '../../../protocol/errors.ts';
import type { Version } from '../../rule-model.ts';
import type { BrokenAgent } from './mutant-agent.ts';
import { otherwise, wrap } from './override-agent.ts';

/** Every version. */
export const all: readonly Version[] = ['1.0', '0.3', '0.1'];
/** The versions in which servers make the ids of tasks. */
export const newer: readonly Version[] = ['1.0', '0.3'];

/** An agent that does some operations otherwise. */
export function done(
  id: string,
  breaks: string | readonly string[],
  what: string,
  others: (agent: Agent) => Partial<Agent>,
  versions: readonly Version[] = ['1.0'],
): BrokenAgent {
  const [first = ''] = [breaks].flat();
  return { id: `${first}:${id}`, breaks, what, versions, agent: (agent) => wrap(agent, others(agent)) };
}

/** Answers the errors of some operations with another one. */
export const errs =
  (operation: 'send' | 'getTask' | 'cancelTask', from: Reason, to: Reason) =>
  (agent: Agent): Partial<Agent> => ({
    [operation]: (request: never, call: never) =>
      otherwise((agent[operation] as (r: never, c: never) => Promise<unknown>)(request, call), from, to),
  });

/** Shows every task that is asked for as it began. */
export const stale = (agent: Agent): Partial<Agent> => ({
  getTask: async (request, call) => ({
    ...(await agent.getTask(request, call)),
    status: { state: 'working', timestamp: new Date().toISOString() },
  }),
});
