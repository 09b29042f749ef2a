import { isJsonObject } from '../../../primitives/json.ts';
import { NotApplicableError } from '../../check-errors.ts';
import { must, should } from '../../rule-model.ts';
import { clientVersions, type ClientCheck, contextVersions, defineClientChecks } from '../client-check.ts';
import { askingScript } from '../client-probe.ts';
import { callsOf, messagesOf } from '../client-run.ts';
import type { AgentScript } from '../server/suite-agent.ts';
import type { TaskContent } from '../server/wire-content.ts';

/** Adds a member that no version defines to every object in a value. */
function withUnknownMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknownMembers);
  if (!isJsonObject(value)) return value;
  return {
    ...Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withUnknownMembers(each)])),
    xFuture: { value: [1, null] },
  };
}

/** Replies to messages with a completed task. */
const completedScript = (
  more: Partial<TaskContent> = {},
  options: { readonly delay?: number; readonly alter?: (wire: object) => object } = {},
): AgentScript => ({
  reply: (call, { agent }) =>
    call.message && {
      kind: 'content',
      content: { kind: 'task', task: agent.task(call, 'completed', more) },
      ...options,
    },
});

function withoutAnswer({ answer: _answer, ...task }: TaskContent): TaskContent {
  return task;
}

const timestamps = ['05Z', '05.678Z', '05.678901Z', '05.678901234Z'].map(
  (seconds) => `2026-01-02T03:04:${seconds}`,
);

/** Checks how a client sends a message and reads the response. */
export const clientSendChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'lifecycle', versions: clientVersions },
  [
    {
      id: 'client-send.completes',
      ...must('3.1.1', 'SEND-003'),
      sentence: 'A client that sends a message to a correct agent succeeds.',
      remedy: 'Read the reported error; compare the request with the transcript.',
      async run(probe) {
        probe.expectSuccess(probe.require('send'), 'send', 'the agent completed the task');
      },
    },
    {
      id: 'client-send.once',
      ...should('3.3.1', 'IDEM-001', 'RFC 9110/9.2.2'),
      sentence: 'A client sends a message once if the agent responds to it.',
      remedy: 'Do not repeat a message that was answered: the agent would do its work twice.',
      async run(probe) {
        probe.expectOneMessage(probe.require('send'), 'the agent responded to the first one');
      },
    },
    {
      id: 'client-send.direct-message',
      ...must('3.1.1', 'SEND-002', 'SEND-003'),
      versions: contextVersions,
      sentence: 'A client accepts a message in place of a task as the response.',
      remedy: 'Handle both forms of the response, task and message.',
      async run(probe) {
        const run = await probe.run('send', {
          reply: (call) =>
            call.operation === 'send'
              ? { kind: 'content', content: { kind: 'message', text: 'hello', contextId: 'context-1' } }
              : undefined,
        });
        if (callsOf(run, 'send').length === 0)
          throw new NotApplicableError('The client streams every message.');
        probe.expectExitZero(run, 'the response is a message');
      },
    },
    {
      id: 'client-send.unknown-members',
      ...should('5.7', 'JSON-011'),
      sentence: 'A client ignores members of a response that it does not know.',
      remedy: 'Do not reject responses with additional members.',
      async run(probe) {
        const run = await probe.run(
          'send',
          completedScript({}, { alter: (wire) => withUnknownMembers(wire) as object }),
        );
        probe.expectSuccess(run, 'send', 'the response has unknown members');
      },
    },
    {
      id: 'client-send.timestamps',
      ...must('5.6.1', 'JSON-005'),
      sentence: 'A client accepts timestamps with and without fractions of a second.',
      remedy: 'Parse ISO 8601 timestamps with up to nine digits after the second.',
      async run(probe) {
        for (const timestamp of timestamps) {
          const run = await probe.run('send', completedScript({ timestamp }));
          probe.expectSuccess(run, 'send', `the timestamp is ${timestamp}`);
        }
      },
    },
    {
      id: 'client-send.bare-task',
      ...must('3.7', 'MSG-006'),
      sentence: 'A client does not rely on the history, artifacts or status message of a task.',
      remedy: 'Handle a task that has only its required members.',
      async run(probe) {
        const run = await probe.run('send', {
          reply: (call, { agent }) =>
            call.message && {
              kind: 'content',
              content: { kind: 'task', task: withoutAnswer(agent.task(call, 'completed')) },
            },
        });
        probe.expectExitZero(run, 'the task has neither history nor artifacts');
      },
    },
    {
      id: 'client-send.slow',
      ...should('3.3.1', 'IDEM-001', 'RFC 9110/9.2.2'),
      sentence: 'A client waits some seconds for a response, and does not repeat the message meanwhile.',
      remedy: 'Use a timeout of at least 30 seconds: an agent may respond when its task is completed.',
      async run(probe) {
        const run = await probe.run('send', completedScript({}, { delay: 4_000 }));
        probe.expectOneMessage(run, 'the agent responded after four seconds');
        probe.expectSuccess(run, 'send', 'the agent responded after four seconds');
      },
    },
    {
      id: 'client-turn.same-task',
      ...must('3.4.3', 'TURN-002', 'TID-003'),
      versions: contextVersions,
      needs: 'converse',
      sentence: 'A client answers a question of the agent with a message for the same task and context.',
      remedy: 'Send the taskId of the task, and its contextId, with the answer.',
      async run(probe) {
        const run = await probe.run('converse', askingScript);
        const [first, second] = messagesOf(run);
        probe.expect(run, second, 'The client did not answer the question of the agent.');
        const { message } = second?.call ?? {};
        probe.expectEqual(
          run,
          message?.taskId,
          run.values.newTaskId,
          'The answer is not a message for the task that asked.',
        );
        probe.expect(
          run,
          message?.contextId === undefined || message.contextId === run.values.contextId,
          'The answer belongs to another context than the task.',
          { expected: run.values.contextId, actual: message?.contextId },
        );
        probe.expect(
          run,
          first?.call.message?.messageId !== message?.messageId,
          'Both messages have the same messageId.',
        );
        probe.expectSuccess(run, 'converse', 'the task completed after the answer');
      },
    },
    {
      id: 'client-turn.opaque-context',
      ...should('3.4.1', 'CTX-007'),
      versions: contextVersions,
      needs: 'converse',
      sentence: 'A client treats the contextId of an agent as opaque and sends it unchanged.',
      remedy: 'Do not parse, trim or encode a contextId.',
      async run(probe) {
        const contextId = ' Kontext/7?ä=1&b=%2F ';
        const run = await probe.run('converse', {
          reply(call, { agent }) {
            if (!call.message) return undefined;
            const state = call.message.taskId === undefined ? 'input-required' : 'completed';
            return {
              kind: 'content',
              content: { kind: 'task', task: agent.task(call, state, { contextId }) },
            };
          },
        });
        const sent = messagesOf(run).at(1)?.call.message?.contextId;
        if (sent === undefined)
          throw new NotApplicableError('The client continues tasks without their contextId.');
        probe.expectEqual(run, sent, contextId, 'The client changed the contextId.');
      },
    },
  ],
);
