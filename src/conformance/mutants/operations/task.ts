import { type Task } from '../../../protocol/task.ts';
import { bendEvery, isLoose } from '../harness/mutations.ts';
import { defineBroken } from '../harness/mutant-agent.ts';
import { all, done, newer, stale } from '../harness/operation-mutant.ts';

/** Agents that show a task otherwise than it is. */
export const brokenTasks = defineBroken([
  done(
    'too-much',
    'task.history-limit',
    'More history is given than was asked for.',
    (agent) => ({ getTask: ({ id }, call) => agent.getTask({ id }, call) }),
    newer,
  ),
  done('revives', 'task.terminal', 'A task that has ended is shown as working.', stale, all),
  done(
    'other-context',
    'task.context',
    'A task is shown in another context each time.',
    (agent) => ({
      getTask: async (request, call) => ({
        ...(await agent.getTask(request, call)),
        contextId: crypto.randomUUID(),
      }),
    }),
    all,
  ),
  done(
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
    all,
  ),
  done(
    'loses',
    'task.artifacts',
    'Artifacts are gone when a task is asked for.',
    (agent) => ({
      async getTask(request, call) {
        const { artifacts: _artifacts, ...task } = await agent.getTask(request, call);
        return task;
      },
    }),
    all,
  ),
  done(
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
    all,
  ),
  done('anonymous', 'task.agent-message', 'What an agent says names neither task nor context.', (agent) => ({
    send: async (request, call) => anonymous(await agent.send(request, call)),
    getTask: async (request, call) => anonymous(await agent.getTask(request, call)),
  })),
  {
    id: 'task.agent-role:status',
    breaks: 'task.agent-role',
    what: 'The message of a status is said by the user.',
    versions: all,
    wire: () =>
      bendEvery('status', ({ message, state }) => {
        if (isLoose(message)) message.role = String(state).startsWith('TASK_STATE_') ? 'ROLE_USER' : 'user';
      }),
  },
]);

function anonymous<T extends object>(answer: T): T {
  const { status } = answer as unknown as Task;
  if (!status?.message) return answer;
  const { taskId: _task, contextId: _context, ...message } = status.message;
  return { ...answer, status: { ...status, message } };
}
