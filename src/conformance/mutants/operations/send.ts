import type { Agent } from '../../../protocol/agent.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { isTask } from '../../../protocol/task.ts';
import { bendEvery, bendResult, drop, type Loose } from '../harness/mutations.ts';
import { defineBroken } from '../harness/mutant-agent.ts';
import { all, done, errs, newer } from '../harness/operation-mutant.ts';
import { wrap } from '../harness/override-agent.ts';

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
export const brokenSend = defineBroken([
  done(
    'refuses',
    'send.answers',
    'A plain message is refused.',
    () => ({ send: () => Promise.reject(new A2AError('INVALID_PARAMS', 'No')) }),
    all,
  ),
  done(
    'restarts',
    ['send.terminal-completed', 'send.terminal-failed', 'send.terminal-rejected', 'send.terminal-canceled'],
    'A message to a finished task begins another one.',
    restarts,
  ),
  done(
    'wrong-error',
    ['send.terminal-completed', 'send.terminal-failed'],
    'A message to a finished task is refused as invalid parameters.',
    errs('send', 'UNSUPPORTED_OPERATION', 'INVALID_PARAMS'),
  ),
  done('restarts-0.3', 'send.terminal-0.3', 'A message to a finished task begins another one.', restarts, [
    '0.3',
  ]),
  done(
    'makes',
    'send.unknown-task',
    'A message to an unknown task makes one.',
    (agent) => ({
      send(request, call) {
        const { taskId, ...message } = request.message;
        return agent.send(request, call).catch((error: unknown) => {
          if (taskId === undefined || (error as A2AError).reason !== 'TASK_NOT_FOUND') throw error;
          return agent.send({ ...request, message, claimedTaskId: taskId }, call);
        });
      },
    }),
    newer,
  ),
  done(
    'wrong-error',
    'send.unknown-task',
    'A message to an unknown task is refused as unsupported.',
    errs('send', 'TASK_NOT_FOUND', 'UNSUPPORTED_OPERATION'),
    newer,
  ),
  {
    id: 'send.media-type:takes',
    breaks: 'send.media-type',
    what: 'Every media type is taken although the card names two.',
    versions: ['1.0'],
    agent: (agent) =>
      wrap(agent, {
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
  done(
    'wrong-error',
    'send.media-type',
    'A media type that is not taken is refused as invalid parameters.',
    errs('send', 'CONTENT_TYPE_NOT_SUPPORTED', 'INVALID_PARAMS'),
  ),
  {
    id: 'send.several:one-id',
    breaks: 'send.several',
    what: 'All tasks have the same id.',
    versions: newer,
    wire: () =>
      bendResult(/SendMessage|message[:/]send/, (result) => {
        const task = (result.task ?? result) as Loose;
        if ('status' in task) task.id = 'task-1';
        return result;
      }),
  },
  done('mixes', 'send.parallel', 'Answers to messages that come at the same time are mixed up.', (agent) => {
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
  }),
  done(
    'latin',
    'send.echo',
    'Characters beyond Latin are lost.',
    (agent) => ({
      send: (request, call) => agent.send(latin(request), call),
    }),
    all,
  ),
  done('no-null', 'send.data', 'Data that is null is lost.', (agent) => ({
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
  done('makes-task', 'send.no-task-for-message', 'A direct message makes a task all the same.', (agent) => ({
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
  })),
  done('no-context', 'send.message-context', 'A direct message names no context.', (agent) => ({
    async send(request, call) {
      const answer = await agent.send(request, call);
      if (isTask(answer)) return answer;
      const { contextId: _context, ...message } = answer;
      return message;
    },
  })),
  done('as-user', 'send.message-context', 'A direct message is said by the user.', (agent) => ({
    async send(request, call) {
      const answer = await agent.send(request, call);
      return isTask(answer) ? answer : { ...answer, role: 'user' };
    },
  })),
  done('refuses-again', 'send.repeated', 'A message that is sent again is refused.', (agent) => {
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
    breaks: ['send.bytes', 'model.raw'],
    what: 'Bytes are in the alphabet for addresses, without padding.',
    versions: ['1.0'],
    wire: () =>
      bendEvery('part', (part) => {
        if (typeof part.raw === 'string')
          part.raw = part.raw.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
      }),
  },
  {
    id: 'send.bytes:as-text',
    breaks: 'send.bytes',
    what: 'Bytes are taken for text on the way.',
    versions: ['1.0'],
    wire: () =>
      bendEvery('part', (part) => {
        if (typeof part.raw === 'string')
          part.raw = Buffer.from(Buffer.from(part.raw, 'base64').toString('utf8')).toString('base64');
      }),
  },
  {
    id: 'send.bytes:no-name',
    breaks: 'send.bytes',
    what: 'Files lose their names.',
    versions: ['1.0'],
    wire: () => bendEvery('part', drop('filename')),
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
