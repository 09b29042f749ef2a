import { A2AError } from '../../../protocol/errors.ts';
import { type Task } from '../../../protocol/task.ts';
import { defineMutants } from '../harness/mutant-agent.ts';
import {
  allVersions,
  operationMutant,
  replaceErrors,
  versionsSince0_3,
} from '../harness/operation-mutant.ts';

/** Agents that break the rules of CancelTask. */
export const cancelMutants = defineMutants([
  operationMutant(
    'ignores',
    ['cancel.running', 'cancel.waiting'],
    'A cancellation changes nothing.',
    (agent) => ({ cancelTask: ({ id }, call) => agent.getTask({ id }, call) }),
    versionsSince0_3,
  ),
  operationMutant(
    'as-failed',
    'cancel.running',
    'A canceled task is shown as failed.',
    (agent) => ({
      cancelTask: async (request, call) => failed(await agent.cancelTask(request, call)),
      getTask: async (request, call) => failed(await agent.getTask(request, call)),
    }),
    allVersions,
  ),
  operationMutant(
    'old-answer',
    'cancel.running',
    'The answer to a cancellation shows the task as it was.',
    (agent) => ({
      async cancelTask(request, call) {
        const before = await agent.getTask({ id: request.id }, call);
        await agent.cancelTask(request, call);
        return before;
      },
    }),
    versionsSince0_3,
  ),
  operationMutant(
    'cancels',
    ['cancel.completed', 'cancel.failed', 'cancel.rejected'],
    'A task that has ended is canceled all the same.',
    (agent) => ({
      cancelTask: (request, call) =>
        agent.cancelTask(request, call).catch(() => agent.getTask({ id: request.id }, call)),
    }),
  ),
  operationMutant(
    'wrong-error',
    ['cancel.completed', 'cancel.failed'],
    'Canceling a finished task is an unsupported operation.',
    replaceErrors('cancelTask', 'TASK_NOT_CANCELABLE', 'UNSUPPORTED_OPERATION'),
  ),
  operationMutant(
    'invents',
    'cancel.unknown',
    'An unknown task is canceled.',
    (agent) => ({
      cancelTask: (request, call) =>
        agent.cancelTask(request, call).catch((error: unknown) => {
          if ((error as A2AError).reason !== 'TASK_NOT_FOUND') throw error;
          return {
            id: request.id,
            contextId: 'c',
            status: { state: 'canceled', timestamp: new Date().toISOString() },
          };
        }),
    }),
    allVersions,
  ),
  operationMutant(
    'breaks-twice',
    'cancel.twice',
    'The second cancellation breaks the server.',
    (agent) => {
      const canceled = new Set<string>();
      return {
        cancelTask(request, call) {
          if (canceled.has(request.id)) return Promise.reject(new A2AError('INTERNAL_ERROR'));
          canceled.add(request.id);
          return agent.cancelTask(request, call);
        },
      };
    },
    versionsSince0_3,
  ),
  operationMutant(
    'refuses-waiting',
    'cancel.waiting',
    'A task that waits cannot be canceled.',
    (agent) => ({
      async cancelTask(request, call) {
        const task = await agent.getTask({ id: request.id }, call);
        if (task.status.state === 'input-required') throw new A2AError('TASK_NOT_CANCELABLE');
        return agent.cancelTask(request, call);
      },
    }),
    allVersions,
  ),
  operationMutant(
    'goes-on',
    'cancel.quiet',
    'A canceled task goes on.',
    (agent) => {
      const canceled = new Map<string, number>();
      return {
        async cancelTask(request, call) {
          canceled.set(request.id, Date.now());
          return agent.cancelTask(request, call);
        },
        async getTask(request, call) {
          const task = await agent.getTask(request, call);
          const at = canceled.get(request.id);
          return at !== undefined && Date.now() - at > 400
            ? { ...task, status: { ...task.status, state: 'completed' } }
            : task;
        },
      };
    },
    allVersions,
  ),
]);

function failed(task: Task): Task {
  return task.status.state === 'canceled' ? { ...task, status: { ...task.status, state: 'failed' } } : task;
}
