import type { Agent } from '../../../protocol/agent.ts';
import type { ErrorReason } from '../../../protocol/errors.ts';
import type { CheckedVersion } from '../../rule-model.ts';
import type { MutantAgent } from './mutant-agent.ts';
import { replaceError, overrideAgent } from './override-agent.ts';

/** Every version. */
export const allVersions: readonly CheckedVersion[] = ['1.0', '0.3', '0.1'];
/** The versions in which servers make the ids of tasks. */
export const versionsSince0_3: readonly CheckedVersion[] = ['1.0', '0.3'];

/** An agent that does some operations otherwise. */
export function operationMutant(
  id: string,
  breaks: string | readonly string[],
  what: string,
  others: (agent: Agent) => Partial<Agent>,
  versions: readonly CheckedVersion[] = ['1.0'],
): MutantAgent {
  const [first = ''] = [breaks].flat();
  return {
    id: `${first}:${id}`,
    violates: breaks,
    description: what,
    versions,
    agent: (agent) => overrideAgent(agent, others(agent)),
  };
}

/** Answers the errors of some operations with another one. */
export const replaceErrors =
  (operation: 'send' | 'getTask' | 'cancelTask', from: ErrorReason, to: ErrorReason) =>
  (agent: Agent): Partial<Agent> => ({
    [operation]: (request: never, call: never) =>
      replaceError((agent[operation] as (r: never, c: never) => Promise<unknown>)(request, call), from, to),
  });

/** Shows every task that is asked for as it began. */
export const returnStaleTasks = (agent: Agent): Partial<Agent> => ({
  getTask: async (request, call) => ({
    ...(await agent.getTask(request, call)),
    status: { state: 'working', timestamp: new Date().toISOString() },
  }),
});
