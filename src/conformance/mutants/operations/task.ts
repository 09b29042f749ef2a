import { type Task } from '../../../protocol/task.ts';
import { mutateEvery, isMutableJson } from '../harness/mutations.ts';
import { defineMutants } from '../harness/mutant-agent.ts';
import {
  allVersions,
  operationMutant,
  versionsSince0_3,
  returnStaleTasks,
} from '../harness/operation-mutant.ts';

/** Agents that show a task otherwise than it is. */
export const taskMutants = defineMutants([
  operationMutant(
    'too-much',
    'task.history-limit',
    'More history is given than was asked for.',
    (agent) => ({ getTask: ({ id }, call) => agent.getTask({ id }, call) }),
    versionsSince0_3,
  ),
  operationMutant(
    'revives',
    'task.terminal',
    'A task that has ended is shown as working.',
    returnStaleTasks,
    allVersions,
  ),
  operationMutant(
    'other-context',
    'task.context',
    'A task is shown in another context each time.',
    (agent) => ({
      getTask: async (request, call) => ({
        ...(await agent.getTask(request, call)),
        contextId: crypto.randomUUID(),
      }),
    }),
    allVersions,
  ),
  operationMutant(
    'other-task',
    'task.asked-id',
    'Another task is given than the one asked for.',
    (agent) => {
      let first: string | undefined;
      return {
        async getTask(request, call) {
          const asked = await agent.getTask(request, call);
          first ??= asked.id;
          return agent.getTask({ ...request, id: first }, call);
        },
      };
    },
    allVersions,
  ),
  operationMutant(
    'loses',
    'task.artifacts',
    'Artifacts are gone when a task is asked for.',
    (agent) => ({
      async getTask(request, call) {
        const { artifacts: _artifacts, ...task } = await agent.getTask(request, call);
        return task;
      },
    }),
    allVersions,
  ),
  operationMutant(
    'changes',
    'task.artifacts',
    'Artifacts are cut when a task is asked for.',
    (agent) => ({
      async getTask(request, call) {
        const task = await agent.getTask(request, call);
        return {
          ...task,
          artifacts: (task.artifacts ?? []).map((each) => ({
            ...each,
            parts: each.parts.map((part) => ('text' in part ? { text: part.text.slice(0, 3) } : part)),
          })),
        };
      },
    }),
    allVersions,
  ),
  operationMutant(
    'anonymous',
    'task.agent-message',
    'What an agent says names neither task nor context.',
    (agent) => ({
      send: async (request, call) => anonymous(await agent.send(request, call)),
      getTask: async (request, call) => anonymous(await agent.getTask(request, call)),
    }),
  ),
  {
    id: 'task.agent-role:status',
    violates: 'task.agent-role',
    description: 'The message of a status is said by the user.',
    versions: allVersions,
    wire: () =>
      mutateEvery('status', ({ message, state }) => {
        if (isMutableJson(message))
          message.role = String(state).startsWith('TASK_STATE_') ? 'ROLE_USER' : 'user';
      }),
  },
]);

function anonymous<T extends object>(answer: T): T {
  const { status } = answer as unknown as Task;
  if (!status?.message) return answer;
  const { taskId: _task, contextId: _context, ...message } = status.message;
  return { ...answer, status: { ...status, message } };
}
