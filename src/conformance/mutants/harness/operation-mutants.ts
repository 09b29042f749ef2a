import type { Agent } from '../../../protocol/agent.ts';
import { type AgentInterceptor, withInterceptor } from '../../../protocol/composition/with-interceptor.ts';
import { A2AError, type ErrorReason } from '../../../protocol/errors.ts';
import type { CheckedVersion } from '../../rule-model.ts';
import { mutant, type MutantAgent } from './mutant-agent.ts';

/** All checked versions. */
export const allVersions: readonly CheckedVersion[] = ['1.0', '0.3', '0.1'];
/** Versions in which the server creates the task ids. */
export const versionsSince0_3: readonly CheckedVersion[] = ['1.0', '0.3'];

/** Creates a mutant that overrides operations of the agent. `alsoViolates` lists rules besides the one in the id. */
type OperationMutantFactory = (
  id: string,
  description: string,
  overrides: (agent: Agent) => AgentInterceptor,
  alsoViolates?: readonly string[],
) => MutantAgent;

/** Returns a factory for mutants of some versions. */
export function operationMutants(versions: readonly CheckedVersion[]): OperationMutantFactory {
  return (id, description, overrides, alsoViolates) => {
    const agent = (correct: Agent): Agent => withInterceptor(correct, overrides(correct));
    const created = mutant(id, description, { versions, agent });
    return alsoViolates ? { ...created, violates: [created.violates, alsoViolates].flat(2) } : created;
  };
}

/** Creates an operation mutant of 1.0. */
export const in1_0 = operationMutants(['1.0']);
/** Creates an operation mutant of 1.0 and 0.3. */
export const since0_3 = operationMutants(versionsSince0_3);
/** Creates an operation mutant of all versions. */
export const inAllVersions = operationMutants(allVersions);

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
  (agent: Agent): AgentInterceptor => ({
    [operation]: (request: never, call: never) =>
      replaceError((agent[operation] as (r: never, c: never) => Promise<unknown>)(request, call), from, to),
  });

/** Returns every task in the state working. */
export const returnStaleTasks = (agent: Agent): AgentInterceptor => ({
  getTask: async (request, call) => ({
    ...(await agent.getTask(request, call)),
    status: { state: 'working', timestamp: new Date().toISOString() },
  }),
});
