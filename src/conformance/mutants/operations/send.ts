import type { JsonObject } from '../../../primitives/json.ts';
import type { Agent } from '../../../protocol/agent.ts';
import type { AgentInterceptor } from '../../../protocol/composition/with-interceptor.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { Part } from '../../../protocol/part.ts';
import type { SendRequest } from '../../../protocol/requests.ts';
import { isTask } from '../../../protocol/task.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import { dropMember, mutateEvery, mutateResult } from '../harness/mutations.ts';
import {
  inAllVersions,
  in1_0,
  operationMutants,
  since0_3,
  replaceErrors,
  versionsSince0_3,
} from '../harness/operation-mutants.ts';

function withParts(request: SendRequest, mutate: (parts: readonly Part[]) => Part[]): SendRequest {
  return { ...request, message: { ...request.message, parts: mutate(request.message.parts) } };
}

/** Starts another task for a message to a finished one. */
const startAnotherTask = (agent: Agent): AgentInterceptor => ({
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

/** Mutants of SendMessage. */
export const sendMutants: readonly MutantAgent[] = [
  inAllVersions('send.answers:refuses', 'A plain message is rejected.', () => ({
    send: () => Promise.reject(new A2AError('INVALID_PARAMS', 'No')),
  })),
  in1_0(
    'send.terminal-completed:restarts',
    'A message to a finished task creates another one.',
    startAnotherTask,
    ['send.terminal-failed', 'send.terminal-rejected', 'send.terminal-canceled'],
  ),
  in1_0(
    'send.terminal-completed:wrong-error',
    'A message to a finished task is rejected as invalid parameters.',
    replaceErrors('send', 'UNSUPPORTED_OPERATION', 'INVALID_PARAMS'),
    ['send.terminal-failed'],
  ),
  operationMutants(['0.3'])(
    'send.terminal-0.3:restarts-0.3',
    'A message to a finished task creates another one.',
    startAnotherTask,
  ),
  since0_3('send.unknown-task:makes', 'A message to an unknown task creates it.', (agent) => ({
    send(request, call) {
      const { taskId, ...message } = request.message;
      return agent.send(request, call).catch((error: unknown) => {
        if (taskId === undefined || (error as A2AError).reason !== 'TASK_NOT_FOUND') throw error;
        return agent.send({ ...request, message, clientTaskId: taskId }, call);
      });
    },
  })),
  since0_3(
    'send.unknown-task:wrong-error',
    'A message to an unknown task is rejected as unsupported.',
    replaceErrors('send', 'TASK_NOT_FOUND', 'UNSUPPORTED_OPERATION'),
  ),
  in1_0('send.media-type:takes', 'Media types that the card does not list are accepted.', (agent) => ({
    send: (request, call) =>
      agent.send(
        withParts(request, (parts) => parts.map(({ mediaType: _type, ...part }) => part)),
        call,
      ),
  })),
  in1_0(
    'send.media-type:wrong-error',
    'An unsupported media type is rejected as invalid parameters.',
    replaceErrors('send', 'CONTENT_TYPE_NOT_SUPPORTED', 'INVALID_PARAMS'),
  ),
  mutant('send.several:one-id', 'All tasks have the same id.', {
    versions: versionsSince0_3,
    wire: () =>
      mutateResult(/SendMessage|message[:/]send/, (result) => {
        const task = (result.task ?? result) as JsonObject;
        if ('status' in task) task.id = 'task-1';
        return result;
      }),
  }),
  in1_0('send.parallel:mixes', 'Responses to concurrent messages are mixed up.', (agent) => {
    let previous: ReturnType<Agent['send']> | undefined;
    return {
      send(request, call) {
        const own = agent.send(request, call);
        const other = previous ?? own;
        previous = own;
        own.catch(() => {});
        return other;
      },
    };
  }),
  inAllVersions('send.echo:latin', 'Characters outside of Latin-1 are lost.', (agent) => ({
    send: (request, call) => agent.send(toLatin1(request), call),
  })),
  in1_0('send.data:no-null', 'Data that is null is lost.', (agent) => ({
    send: (request, call) =>
      agent.send(
        withParts(request, (parts) => parts.filter((part) => !('data' in part && part.data === null))),
        call,
      ),
  })),
  in1_0('send.no-task-for-message:makes-task', 'A direct message also creates a task.', (agent) => ({
    async send(request, call) {
      const result = await agent.send(request, call);
      if (!isTask(result))
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
      return result;
    },
  })),
  in1_0('send.message-context:no-context', 'A direct message has no contextId.', (agent) => ({
    async send(request, call) {
      const result = await agent.send(request, call);
      if (isTask(result)) return result;
      const { contextId: _context, ...message } = result;
      return message;
    },
  })),
  in1_0('send.message-context:as-user', 'A direct message has the role of the user.', (agent) => ({
    async send(request, call) {
      const result = await agent.send(request, call);
      return isTask(result) ? result : { ...result, role: 'user' };
    },
  })),
  in1_0('send.repeated:refuses-again', 'A repeated message is rejected.', (agent) => {
    const received = new Set<string>();
    return {
      send(request, call) {
        const { messageId } = request.message;
        if (received.has(messageId))
          return Promise.reject(new A2AError('INVALID_PARAMS', 'Duplicate message'));
        received.add(messageId);
        return agent.send(request, call);
      },
    };
  }),
  mutant('send.bytes:base64url', 'Raw content is base64url without padding.', {
    violates: ['send.bytes', 'model.raw'],
    wire: () =>
      mutateEvery('part', (part) => {
        if (typeof part.raw === 'string')
          part.raw = part.raw.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
      }),
  }),
  mutant('send.bytes:as-text', 'Raw content is decoded as UTF-8.', {
    wire: () =>
      mutateEvery('part', (part) => {
        if (typeof part.raw === 'string')
          part.raw = Buffer.from(Buffer.from(part.raw, 'base64').toString('utf8')).toString('base64');
      }),
  }),
  mutant('send.bytes:no-name', 'File names are lost.', {
    wire: () => mutateEvery('part', dropMember('filename')),
  }),
];

function toLatin1(request: SendRequest): SendRequest {
  return withParts(request, (parts) =>
    parts.map((part) =>
      'text' in part ? { ...part, text: part.text.replaceAll(/[\u0100-\u{10ffff}]/gu, '?') } : part,
    ),
  );
}
