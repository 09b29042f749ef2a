import type { Agent } from '../../../protocol/agent.ts';
import { delegateAgent } from '../../../protocol/delegate-agent.ts';
import { A2AError, type ErrorReason } from '../../../protocol/errors.ts';
import type { CheckedVersion } from '../../rule-model.ts';
import { mutant, type MutantAgent } from './mutant-agent.ts';

/** All checked versions. */
export const allVersions: readonly CheckedVersion[] = ['1.0', '0.3', '0.1'];
/** Versions in which the server creates the task ids. */
export const versionsSince0_3: readonly CheckedVersion[] = ['1.0', '0.3'];

/** Creates a mutant that overrides operations of the agent. `alsoViolates` lists rules besides the one in the id. */
export function operationMutant(
  id: string,
  description: string,
  overrides: (agent: Agent) => Partial<Agent>,
  versions: readonly CheckedVersion[] = ['1.0'],
  alsoViolates: readonly string[] = [],
): MutantAgent {
  const { violates, ...others } = mutant(id, description, {
    versions,
    agent: (agent) => delegateAgent(agent, overrides(agent)),
  });
  return { ...others, violates: alsoViolates.length === 0 ? violates : [violates, alsoViolates].flat(2) };
}

/** Rejects with the error `to` if the work fails with `from`. */
export function replaceError<T>(work: Promise<T>, from: ErrorReason, to: ErrorReason): Promise<T> {
  return work.catch((error: unknown) => {
    if (error instanceof A2AError && error.reason === from) throw new A2AError(to, error.message);
    throw error;
  });
}

/** Replaces one error of an operation with another one. */
export const replaceErrors =
  (operation: 'send' | 'getTask' | 'cancelTask', from: ErrorReason, to: ErrorReason) =>
  (agent: Agent): Partial<Agent> => ({
    [operation]: (request: never, call: never) =>
      replaceError((agent[operation] as (r: never, c: never) => Promise<unknown>)(request, call), from, to),
  });

/** Returns every task in the state working. */
export const returnStaleTasks = (agent: Agent): Partial<Agent> => ({
  getTask: async (request, call) => ({
    ...(await agent.getTask(request, call)),
    status: { state: 'working', timestamp: new Date().toISOString() },
  }),
});
