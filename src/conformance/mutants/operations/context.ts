import type { JsonObject } from '../../../primitives/json.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { type Task, isTask } from '../../../protocol/task.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import { mutateResult } from '../harness/mutations.ts';
import { since0_3, inAllVersions, in1_0, versionsSince0_3 } from '../harness/operation-mutants.ts';

/** Mutants of contexts and follow-up messages. */
export const contextMutants: readonly MutantAgent[] = [
  mutant('context.made:one', 'All tasks have the same context.', {
    versions: versionsSince0_3,
    wire: () =>
      mutateResult(/SendMessage|message[:/]send/, (result) => {
        const task = (result.task ?? result) as JsonObject;
        if ('status' in task) task.contextId = 'the-context';
        return result;
      }),
  }),
  since0_3(
    'context.kept:replaces',
    'The context of a message is replaced.',
    (agent) => ({
      send(request, call) {
        const { contextId: _context, ...message } = request.message;
        return agent.send(
          { ...request, message: message.taskId === undefined ? message : request.message },
          call,
        );
      },
    }),
    ['task.asked-context'],
  ),
  since0_3('turn.goes-on:needs-context', 'A message to a task must contain its contextId.', (agent) => ({
    send(request, call) {
      const { taskId, contextId } = request.message;
      if (taskId !== undefined && contextId === undefined)
        return Promise.reject(new A2AError('INVALID_PARAMS', 'contextId is missing'));
      return agent.send(request, call);
    },
  })),
  since0_3('turn.goes-on:new-task', 'A follow-up message creates another task.', (agent) => ({
    send(request, call) {
      const { taskId: _taskId, ...message } = request.message;
      return agent.send({ ...request, message }, call);
    },
  })),
  inAllVersions('turn.question:silent', 'An interrupted task has no status message.', (agent) => ({
    send: async (request, call) => withoutStatusMessage(await agent.send(request, call)),
    getTask: async (request, call) => withoutStatusMessage(await agent.getTask(request, call)),
  })),
  in1_0('turn.mismatch:takes-mismatch', 'A message with the wrong context is accepted.', (agent) => ({
    send(request, call) {
      const { contextId: _context, ...message } = request.message;
      return agent.send(
        { ...request, message: message.taskId === undefined ? request.message : message },
        call,
      );
    },
  })),
  since0_3('turn.history:twice', 'Messages occur twice in the history.', (agent) => ({
    async getTask(request, call) {
      const task = await agent.getTask(request, call);
      return { ...task, history: (task.history ?? []).flatMap((message) => [message, message]) };
    },
  })),
];

function withoutStatusMessage<T extends object>(result: T): T {
  if (!isTask(result as never)) return result;
  const task = result as unknown as Task;
  const { message: _message, ...status } = task.status;
  return { ...task, status } as unknown as T;
}
