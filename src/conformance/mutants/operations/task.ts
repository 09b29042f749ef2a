import { isJsonObject } from '../../../primitives/json.ts';
import type { Task } from '../../../protocol/task.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import { mutateEvery } from '../harness/mutations.ts';
import {
  allVersions,
  since0_3,
  inAllVersions,
  in1_0,
  returnStaleTasks,
} from '../harness/operation-mutants.ts';

/** Mutants of the task object. */
export const taskMutants: readonly MutantAgent[] = [
  since0_3('task.history-limit:too-much', 'More messages than historyLength are returned.', (agent) => ({
    getTask: ({ id }, call) => agent.getTask({ id }, call),
  })),
  inAllVersions(
    'task.terminal:revives',
    'A task in a terminal state is returned as working.',
    returnStaleTasks,
  ),
  inAllVersions(
    'task.context:other-context',
    'A task is returned with a different context each time.',
    (agent) => ({
      getTask: async (request, call) => ({
        ...(await agent.getTask(request, call)),
        contextId: crypto.randomUUID(),
      }),
    }),
  ),
  inAllVersions(
    'task.asked-id:other-task',
    'A different task than the requested one is returned.',
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
  ),
  inAllVersions('task.artifacts:loses', 'A returned task has lost its artifacts.', (agent) => ({
    async getTask(request, call) {
      const { artifacts: _artifacts, ...task } = await agent.getTask(request, call);
      return task;
    },
  })),
  inAllVersions('task.artifacts:changes', 'A returned task has truncated artifacts.', (agent) => ({
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
  })),
  in1_0('task.agent-message:anonymous', 'Messages of the agent have no taskId and contextId.', (agent) => ({
    send: async (request, call) => anonymous(await agent.send(request, call)),
    getTask: async (request, call) => anonymous(await agent.getTask(request, call)),
  })),
  mutant('task.agent-role:status', 'The status message has the role of the user.', {
    versions: allVersions,
    wire: () =>
      mutateEvery('status', ({ message, state }) => {
        if (isJsonObject(message))
          message.role = String(state).startsWith('TASK_STATE_') ? 'ROLE_USER' : 'user';
      }),
  }),
];

function anonymous<T extends object>(answer: T): T {
  const { status } = answer as unknown as Task;
  if (!status?.message) return answer;
  const { taskId: _task, contextId: _context, ...message } = status.message;
  return { ...answer, status: { ...status, message } };
}
