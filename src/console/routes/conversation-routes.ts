import { A2AError } from '../../protocol/errors.ts';
import { isTerminal } from '../../protocol/task.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import { emptyResponse, type ApiRoutes } from '../api-routes.ts';
import type { ChatEvent } from '../console-api.ts';
import type { ConversationTurn } from '../sessions/conversation-turn.ts';
import type { Conversations } from '../sessions/conversations.ts';
import { answerSafely, forwardEvents } from './chat-routes.ts';
import { parseRequestBody, renameSchema } from './request-schemas.ts';

/** Routes of conversations. */
export function conversationRoutes(agents: AgentRegistry, conversations: Conversations): ApiRoutes {
  return {
    'GET conversations': () => ({ json: conversations.list() }),
    'DELETE conversations': async () => {
      await conversations.clear();
      return emptyResponse;
    },
    'GET conversations/{}': (_request, id = '') => {
      for (const turn of conversations.interruptedTurns(id)) resumeTurn(agents, conversations, id, turn);
      return { json: conversations.get(id) };
    },
    'POST conversations/{}': ({ body }, id = '') => {
      conversations.rename(id, parseRequestBody(renameSchema, body).name);
      return emptyResponse;
    },
    'DELETE conversations/{}': async (_request, id = '') => {
      await conversations.remove(id);
      return emptyResponse;
    },
    'GET conversations/{}/turns/{}/events': (_request, id = '', turnId = '') => {
      const turn = conversations.turn(id, turnId);
      return { stream: (stream) => turn.follow(stream) };
    },
    'DELETE conversations/{}/turns/{}': (_request, id = '', turnId = '') => {
      conversations.turn(id, turnId).stop.abort();
      return emptyResponse;
    },
  };
}

/** Attaches to the task of a turn that an earlier run of the console did not finish. */
function resumeTurn(
  agents: AgentRegistry,
  conversations: Conversations,
  id: string,
  turn: ConversationTurn,
): void {
  const { agentId } = conversations.get(id);
  const add = async (event: ChatEvent): Promise<boolean> => {
    await conversations.add(id, turn, event);
    return !turn.stop.signal.aborted;
  };
  const taskId = turn.taskId ?? turn.continuedTask;
  conversations.run(id, turn, () =>
    answerSafely(add, turn.stop.signal, async () => {
      if (taskId === undefined)
        throw new A2AError('UNAVAILABLE', 'The console was stopped before the agent named a task', {
          hint: 'Send the message again.',
        });
      const agent = await agents.get(agentId).connect(undefined);
      const call = { signal: turn.stop.signal };
      const task = await agent.getTask({ id: taskId }, call);
      await add({ kind: 'result', result: task });
      if (isTerminal(task.status.state) || turn.stop.signal.aborted) return [];
      return forwardEvents(agent.subscribe({ id: taskId }, call), add);
    }),
  );
}
