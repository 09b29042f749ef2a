import { A2AError } from '../../../protocol/errors.ts';
import type { Task } from '../../../protocol/task.ts';
import type { MutantAgent } from '../harness/mutant-agent.ts';
import { since0_3, inAllVersions, in1_0, replaceErrors } from '../harness/operation-mutants.ts';

/** Mutants of CancelTask. */
export const cancelMutants: readonly MutantAgent[] = [
  since0_3(
    'cancel.running:ignores',
    'A cancellation has no effect.',
    (agent) => ({ cancelTask: ({ id }, call) => agent.getTask({ id }, call) }),
    ['cancel.waiting'],
  ),
  inAllVersions('cancel.running:as-failed', 'A canceled task is returned as failed.', (agent) => ({
    cancelTask: async (request, call) => failed(await agent.cancelTask(request, call)),
    getTask: async (request, call) => failed(await agent.getTask(request, call)),
  })),
  since0_3('cancel.running:old-answer', 'The result of a cancellation is the task before it.', (agent) => ({
    async cancelTask(request, call) {
      const before = await agent.getTask({ id: request.id }, call);
      await agent.cancelTask(request, call);
      return before;
    },
  })),
  in1_0(
    'cancel.completed:cancels',
    'Canceling a finished task succeeds.',
    (agent) => ({
      cancelTask: (request, call) =>
        agent.cancelTask(request, call).catch(() => agent.getTask({ id: request.id }, call)),
    }),
    ['cancel.failed', 'cancel.rejected'],
  ),
  in1_0(
    'cancel.completed:wrong-error',
    'Canceling a finished task is rejected as an unsupported operation.',
    replaceErrors('cancelTask', 'TASK_NOT_CANCELABLE', 'UNSUPPORTED_OPERATION'),
    ['cancel.failed'],
  ),
  inAllVersions('cancel.unknown:invents', 'Canceling an unknown task succeeds.', (agent) => ({
    cancelTask: (request, call) =>
      agent.cancelTask(request, call).catch((error: unknown) => {
        if ((error as A2AError).reason !== 'TASK_NOT_FOUND') throw error;
        return {
          id: request.id,
          contextId: 'c',
          status: { state: 'canceled', timestamp: new Date().toISOString() },
        };
      }),
  })),
  since0_3('cancel.twice:breaks-twice', 'The second cancellation causes an internal error.', (agent) => {
    const canceled = new Set<string>();
    return {
      cancelTask(request, call) {
        if (canceled.has(request.id)) return Promise.reject(new A2AError('INTERNAL_ERROR'));
        canceled.add(request.id);
        return agent.cancelTask(request, call);
      },
    };
  }),
  inAllVersions('cancel.waiting:refuses-waiting', 'Canceling an interrupted task is rejected.', (agent) => ({
    async cancelTask(request, call) {
      const task = await agent.getTask({ id: request.id }, call);
      if (task.status.state === 'input-required') throw new A2AError('TASK_NOT_CANCELABLE');
      return agent.cancelTask(request, call);
    },
  })),
  inAllVersions('cancel.quiet:goes-on', 'A canceled task continues.', (agent) => {
    const seenAsCanceled = new Set<string>();
    return {
      async getTask(request, call) {
        const task = await agent.getTask(request, call);
        if (task.status.state !== 'canceled') return task;
        if (seenAsCanceled.has(task.id)) return { ...task, status: { ...task.status, state: 'completed' } };
        seenAsCanceled.add(task.id);
        return task;
      },
    };
  }),
];

function failed(task: Task): Task {
  return task.status.state === 'canceled' ? { ...task, status: { ...task.status, state: 'failed' } } : task;
}
