import type { Agent } from '../../../protocol/agent.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { isTask } from '../../../protocol/task.ts';
import { mutateEvery, mutateResult, dropMember, type MutableJson } from '../harness/mutations.ts';
import { defineMutants } from '../harness/mutant-agent.ts';
import {
  allVersions,
  operationMutant,
  replaceErrors,
  versionsSince0_3,
} from '../harness/operation-mutant.ts';
import { overrideAgent } from '../harness/override-agent.ts';

/** Takes a message to a task that has ended as if it began another one. */
const restarts = (agent: Agent): Partial<Agent> => ({
  async send(request, call) {
    try {
      return await agent.send(request, call);
    } catch (error) {
      if (!(error instanceof A2AError) || error.reason !== 'UNSUPPORTED_OPERATION') throw error;
      const { taskId: _taskId, ...message } = request.message;
      return agent.send({ ...request, message }, call);
    }
  },
});

/** Agents that break the rules of SendMessage. */
export const sendMutants = defineMutants([
  operationMutant(
    'refuses',
    'send.answers',
    'A plain message is refused.',
    () => ({ send: () => Promise.reject(new A2AError('INVALID_PARAMS', 'No')) }),
    allVersions,
  ),
  operationMutant(
    'restarts',
    ['send.terminal-completed', 'send.terminal-failed', 'send.terminal-rejected', 'send.terminal-canceled'],
    'A message to a finished task begins another one.',
    restarts,
  ),
  operationMutant(
    'wrong-error',
    ['send.terminal-completed', 'send.terminal-failed'],
    'A message to a finished task is refused as invalid parameters.',
    replaceErrors('send', 'UNSUPPORTED_OPERATION', 'INVALID_PARAMS'),
  ),
  operationMutant(
    'restarts-0.3',
    'send.terminal-0.3',
    'A message to a finished task begins another one.',
    restarts,
    ['0.3'],
  ),
  operationMutant(
    'makes',
    'send.unknown-task',
    'A message to an unknown task makes one.',
    (agent) => ({
      send(request, call) {
        const { taskId, ...message } = request.message;
        return agent.send(request, call).catch((error: unknown) => {
          if (taskId === undefined || (error as A2AError).reason !== 'TASK_NOT_FOUND') throw error;
          return agent.send({ ...request, message, clientTaskId: taskId }, call);
        });
      },
    }),
    versionsSince0_3,
  ),
  operationMutant(
    'wrong-error',
    'send.unknown-task',
    'A message to an unknown task is refused as unsupported.',
    replaceErrors('send', 'TASK_NOT_FOUND', 'UNSUPPORTED_OPERATION'),
    versionsSince0_3,
  ),
  {
    id: 'send.media-type:takes',
    violates: 'send.media-type',
    description: 'Every media type is taken although the card names two.',
    versions: ['1.0'],
    agent: (agent) =>
      overrideAgent(agent, {
        send: (request, call) =>
          agent.send(
            {
              ...request,
              message: {
                ...request.message,
                parts: request.message.parts.map(({ mediaType: _type, ...part }) => part),
              },
            },
            call,
          ),
      }),
  },
  operationMutant(
    'wrong-error',
    'send.media-type',
    'A media type that is not taken is refused as invalid parameters.',
    replaceErrors('send', 'CONTENT_TYPE_NOT_SUPPORTED', 'INVALID_PARAMS'),
  ),
  {
    id: 'send.several:one-id',
    violates: 'send.several',
    description: 'All tasks have the same id.',
    versions: versionsSince0_3,
    wire: () =>
      mutateResult(/SendMessage|message[:/]send/, (result) => {
        const task = (result.task ?? result) as MutableJson;
        if ('status' in task) task.id = 'task-1';
        return result;
      }),
  },
  operationMutant(
    'mixes',
    'send.parallel',
    'Answers to messages that come at the same time are mixed up.',
    (agent) => {
      let before: ReturnType<Agent['send']> | undefined;
      return {
        send(request, call) {
          const own = agent.send(request, call);
          const other = before ?? own;
          before = own;
          own.catch(() => {});
          return other;
        },
      };
    },
  ),
  operationMutant(
    'latin',
    'send.echo',
    'Characters beyond Latin are lost.',
    (agent) => ({
      send: (request, call) => agent.send(latin(request), call),
    }),
    allVersions,
  ),
  operationMutant('no-null', 'send.data', 'Data that is null is lost.', (agent) => ({
    send: (request, call) =>
      agent.send(
        {
          ...request,
          message: {
            ...request.message,
            parts: request.message.parts.filter((part) => !('data' in part && part.data === null)),
          },
        },
        call,
      ),
  })),
  operationMutant(
    'makes-task',
    'send.no-task-for-message',
    'A direct message makes a task all the same.',
    (agent) => ({
      async send(request, call) {
        const answer = await agent.send(request, call);
        if (!isTask(answer))
          await agent.send(
            {
              message: {
                ...request.message,
                messageId: `${request.message.messageId}-x`,
                parts: [{ text: 'fx:complete' }],
              },
            },
            call,
          );
        return answer;
      },
    }),
  ),
  operationMutant('no-context', 'send.message-context', 'A direct message names no context.', (agent) => ({
    async send(request, call) {
      const answer = await agent.send(request, call);
      if (isTask(answer)) return answer;
      const { contextId: _context, ...message } = answer;
      return message;
    },
  })),
  operationMutant('as-user', 'send.message-context', 'A direct message is said by the user.', (agent) => ({
    async send(request, call) {
      const answer = await agent.send(request, call);
      return isTask(answer) ? answer : { ...answer, role: 'user' };
    },
  })),
  operationMutant('refuses-again', 'send.repeated', 'A message that is sent again is refused.', (agent) => {
    const heard = new Set<string>();
    return {
      send(request, call) {
        const { messageId } = request.message;
        if (heard.has(messageId)) return Promise.reject(new A2AError('INVALID_PARAMS', 'Heard before'));
        heard.add(messageId);
        return agent.send(request, call);
      },
    };
  }),
  {
    id: 'send.bytes:base64url',
    violates: ['send.bytes', 'model.raw'],
    description: 'Bytes are in the alphabet for addresses, without padding.',
    versions: ['1.0'],
    wire: () =>
      mutateEvery('part', (part) => {
        if (typeof part.raw === 'string')
          part.raw = part.raw.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
      }),
  },
  {
    id: 'send.bytes:as-text',
    violates: 'send.bytes',
    description: 'Bytes are taken for text on the way.',
    versions: ['1.0'],
    wire: () =>
      mutateEvery('part', (part) => {
        if (typeof part.raw === 'string')
          part.raw = Buffer.from(Buffer.from(part.raw, 'base64').toString('utf8')).toString('base64');
      }),
  },
  {
    id: 'send.bytes:no-name',
    violates: 'send.bytes',
    description: 'Files lose their names.',
    versions: ['1.0'],
    wire: () => mutateEvery('part', dropMember('filename')),
  },
]);

function latin<T extends { message: { parts: readonly unknown[] } }>(request: T): T {
  const parts = request.message.parts.map((part) => {
    const { text } = part as { text?: string };
    return text === undefined
      ? part
      : { ...(part as object), text: text.replaceAll(/[\u0100-\u{10ffff}]/gu, '?') };
  });
  return { ...request, message: { ...request.message, parts } };
}
