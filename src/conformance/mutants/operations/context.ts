import { A2AError } from '../../../protocol/errors.ts';
import { isTask, type Task } from '../../../protocol/task.ts';
import { mutateResult, type MutableJson } from '../harness/mutations.ts';
import { defineMutants } from '../harness/mutant-agent.ts';
import { allVersions, operationMutant, versionsSince0_3 } from '../harness/operation-mutant.ts';

/** Agents that lose the thread of a conversation. */
export const contextMutants = defineMutants([
  {
    id: 'context.made:one',
    violates: 'context.made',
    description: 'All conversations are in one context.',
    versions: versionsSince0_3,
    wire: () =>
      mutateResult(/SendMessage|message[:/]send/, (result) => {
        const task = (result.task ?? result) as MutableJson;
        if ('status' in task) task.contextId = 'the-context';
        return result;
      }),
  },
  operationMutant(
    'replaces',
    ['context.kept', 'task.asked-context'],
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
    versionsSince0_3,
  ),
  operationMutant(
    'needs-context',
    'turn.goes-on',
    'A message to a task must name its context.',
    (agent) => ({
      send(request, call) {
        const { taskId, contextId } = request.message;
        if (taskId !== undefined && contextId === undefined)
          return Promise.reject(new A2AError('INVALID_PARAMS', 'contextId is missing'));
        return agent.send(request, call);
      },
    }),
    versionsSince0_3,
  ),
  operationMutant(
    'new-task',
    'turn.goes-on',
    'The answer to a question begins another task.',
    (agent) => ({
      send(request, call) {
        const { taskId: _taskId, ...message } = request.message;
        return agent.send({ ...request, message }, call);
      },
    }),
    versionsSince0_3,
  ),
  operationMutant(
    'silent',
    'turn.question',
    'A task that waits does not say what for.',
    (agent) => ({
      send: async (request, call) => mute(await agent.send(request, call)),
      getTask: async (request, call) => mute(await agent.getTask(request, call)),
    }),
    allVersions,
  ),
  operationMutant(
    'takes-mismatch',
    'turn.mismatch',
    'A message with the wrong context is taken.',
    (agent) => ({
      send(request, call) {
        const { contextId: _context, ...message } = request.message;
        return agent.send(
          { ...request, message: message.taskId === undefined ? request.message : message },
          call,
        );
      },
    }),
  ),
  operationMutant(
    'twice',
    'turn.history',
    'Messages are in the history twice.',
    (agent) => ({
      async getTask(request, call) {
        const task = await agent.getTask(request, call);
        return { ...task, history: (task.history ?? []).flatMap((message) => [message, message]) };
      },
    }),
    versionsSince0_3,
  ),
]);

function mute<T extends object>(answer: T): T {
  if (!isTask(answer as never)) return answer;
  const task = answer as unknown as Task;
  const { message: _message, ...status } = task.status;
  return { ...task, status } as unknown as T;
}
