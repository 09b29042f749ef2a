import { jsonTransports, must, should } from '../../rule-model.ts';
import { clientVersions, type ClientCheck, defineClientChecks } from '../client-check.ts';
import { callsOf, type ClientRun, messagesOf } from '../client-run.ts';
import type { ReceivedCall } from '../server/received-request.ts';
import type { StreamReply } from '../server/reply.ts';
import type { AgentScript, ScriptContext } from '../server/suite-agent.ts';
import { expectClosedByClient } from './card-faults.ts';

/** Breaks the stream of a message after the status "working"; subscriptions complete unless the script says otherwise. */
function breakingScript(
  onSubscribe?: (call: ReceivedCall, context: ScriptContext) => StreamReply,
): AgentScript {
  return {
    reply(call, context) {
      const { agent } = context;
      if (call.operation === 'stream')
        return { kind: 'stream', events: agent.events(call).slice(0, 2), end: 'cut' };
      return call.operation === 'subscribe' ? onSubscribe?.(call, context) : undefined;
    },
  };
}

/** Says how the client tried to learn the result of the task after the stream broke. */
function asked(run: ClientRun): boolean {
  return callsOf(run, 'subscribe', 'get').length > 0;
}

/** Checks what a client does if a stream breaks or never ends. */
export const brokenStreamChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'streaming', versions: clientVersions, needs: 'stream' },
  [
    {
      id: 'client-stream.broken',
      ...must('3.3.2', 'ERR-001'),
      sentence: 'If a stream breaks, a client subscribes to the task, asks for it, or reports an error.',
      remedy: 'Compare the last state with the terminal ones; a stream that ends earlier is not a result.',
      async run(probe) {
        const run = await probe.run('stream', breakingScript());
        if (asked(run))
          probe.expectSuccess(run, 'stream', 'the stream broke and the task was completed later');
        else probe.expectVisibleError(run, 'the stream broke before the task was completed');
      },
    },
    {
      id: 'client-stream.not-repeated',
      ...should('3.3.1', 'IDEM-001', 'RFC 9110/9.2.2'),
      sentence: 'A client does not repeat a message whose stream breaks after its first event.',
      remedy: 'Subscribe to the task in place of sending the message again.',
      async run(probe) {
        const run = await probe.run('stream', breakingScript());
        probe.expectOneMessage(run, 'the stream of the first one broke after the task was created');
      },
    },
    {
      id: 'client-stream.resumes',
      ...should('3.1.6', 'MSG-003'),
      sentence: 'A client subscribes to a task, or asks for it, if its stream breaks.',
      remedy: 'Call SubscribeToTask (before 1.0 tasks/resubscribe) or GetTask with the id of the task.',
      async run(probe) {
        const run = await probe.run('stream', breakingScript());
        probe.expect(
          run,
          asked(run),
          'The client gave up when the stream broke, although the task is known.',
          {
            expected: 'a subscription, or a request for the task',
          },
        );
        const [call] = callsOf(run, 'subscribe', 'get');
        const id =
          probe.variant.version === '0.1' ? messagesOf(run)[0]?.call.message?.taskId : run.values.newTaskId;
        probe.expectEqual(run, call?.call.taskId, id, 'The client asked for another task.');
      },
    },
    {
      id: 'client-stream.attempts',
      ...should('robustness', 'robustness/resubscription'),
      sentence: 'A client that resumes a stream again and again waits between its attempts.',
      remedy: 'Use growing delays between attempts, and give up after some of them.',
      async run(probe) {
        const run = await probe.run(
          'stream',
          breakingScript((call, { agent }) => ({
            kind: 'stream',
            events: call.version === '0.1' ? [] : [{ kind: 'task', task: agent.task(call, 'working') }],
            end: 'cut',
          })),
        );
        const attempts = callsOf(run, 'stream', 'subscribe');
        const pauses = attempts
          .slice(1)
          .map(({ at }, index) => at - (attempts[index]?.response.endedAt ?? at));
        const total = pauses.reduce((sum, each) => sum + each, 0);
        probe.expect(
          run,
          pauses.length < 6 || (pauses.length <= 60 && total >= pauses.length * 50),
          'The client subscribes without a pause while streams break.',
          {
            expected: 'at least 50 ms between attempts, and at most 60 attempts',
            actual: `${pauses.length} attempts with pauses of ${Math.round(total / Math.max(1, pauses.length))} ms`,
          },
        );
      },
    },
    {
      id: 'client-stream.interrupted',
      ...should('3.1.2', 'STRM-006'),
      sentence: 'A client does not treat a stream as broken that ends when the agent asks for input.',
      remedy: 'End the stream at input-required without an error, and without new attempts.',
      async run(probe) {
        const run = await probe.run('stream', {
          reply(call, { agent }) {
            if (call.operation !== 'stream' && call.operation !== 'subscribe') return undefined;
            const task = agent.task(call, 'input-required', { statusText: 'Which one?' });
            return { kind: 'stream', events: [...agent.events(call).slice(0, -2), { kind: 'status', task }] };
          },
        });
        probe.expectEnd(run, 'the stream ended with the state input-required');
        probe.expect(
          run,
          callsOf(run, 'subscribe').length <= 1,
          'The client subscribed again and again to a task that waits for input.',
          {
            actual: callsOf(run, 'subscribe').length,
          },
        );
        probe.expectOneMessage(run, 'the task waits for input');
      },
    },
    {
      id: 'client-stream.too-large',
      ...should('robustness', 'robustness/endless-event'),
      transports: jsonTransports,
      sentence: 'A client limits the size of an event.',
      remedy: 'Close a stream whose event exceeds some megabytes, and report an error.',
      async run(probe) {
        const run = await probe.run('stream', {
          reply: (call) =>
            call.message || call.operation === 'subscribe'
              ? {
                  kind: 'raw',
                  status: 200,
                  headers: { 'content-type': 'text/event-stream' },
                  body: 'data: {"x": "',
                  endless: 'x',
                }
              : undefined,
        });
        expectClosedByClient(probe, run, 'an event never ends');
      },
    },
  ],
);
