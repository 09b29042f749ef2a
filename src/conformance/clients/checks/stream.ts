import { jsonTransports, must, should } from '../../rule-model.ts';
import { clientVersions, type ClientCheck, contextVersions, defineClientChecks } from '../client-check.ts';
import type { ClientProbe } from '../client-probe.ts';
import { callsOf, isSuccess, printed } from '../client-run.ts';
import type { StreamReply } from '../server/reply.ts';
import type { AgentScript, ScriptContext } from '../server/suite-agent.ts';
import type { SseFraming } from '../server/sse-framing.ts';
import type { ReceivedCall } from '../server/received-request.ts';

/** Replies to the streams of new messages. */
const streamScript = (reply: (call: ReceivedCall, context: ScriptContext) => StreamReply): AgentScript => ({
  reply: (call, context) => (call.operation === 'stream' ? reply(call, context) : undefined),
});

/** Runs a stream whose events are written in an unusual, valid form. */
async function runFraming(probe: ClientProbe, framing: SseFraming, situation: string): Promise<void> {
  const run = await probe.run(
    'stream',
    streamScript((call, { agent }) => ({
      kind: 'stream',
      // A client that ignores the first event would still see the end of the task, unless it is the only one.
      events: framing === 'byte-order-mark' ? agent.events(call).slice(-1) : agent.events(call),
      framing,
    })),
  );
  if (framing === 'byte-order-mark') probe.expectExitZero(run, situation);
  else probe.expectSuccess(run, 'stream', situation);
  probe.expectOneMessage(run, situation);
}

const framings: readonly {
  readonly id: string;
  readonly framings: readonly SseFraming[];
  readonly sentence: string;
  readonly remedy: string;
}[] = [
  {
    id: 'client-stream.chunks',
    framings: ['bytes', 'one-chunk'],
    sentence: 'A client reads events of a stream regardless of how the network splits them.',
    remedy:
      'Collect bytes until an event is complete, decode UTF-8 as a stream, and read all events of a chunk.',
  },
  {
    id: 'client-stream.line-ends',
    framings: ['crlf', 'cr'],
    sentence: 'A client accepts the line ends CRLF, LF and CR in a stream.',
    remedy: 'Split the stream at CRLF, LF and CR; a CR at the end of a chunk may be half of a CRLF.',
  },
  {
    id: 'client-stream.comments',
    framings: ['comments'],
    sentence: 'A client ignores comments in a stream, which agents send as heartbeats.',
    remedy: 'Ignore lines that begin with a colon, and events without data.',
  },
  {
    id: 'client-stream.data-lines',
    framings: ['lines'],
    sentence: 'A client joins the data lines of an event.',
    remedy: 'Join all data lines of an event with line breaks before the JSON is parsed.',
  },
  {
    id: 'client-stream.byte-order-mark',
    framings: ['byte-order-mark'],
    sentence: 'A client ignores a byte order mark at the start of a stream.',
    remedy: 'Remove U+FEFF from the start of the stream.',
  },
  {
    id: 'client-stream.fields',
    framings: ['fields', 'tail'],
    sentence:
      'A client reads data without a space after the colon, and ignores other fields and incomplete events.',
    remedy: 'Parse fields as the specification of server-sent events says.',
  },
];

/** Checks how a client reads streams. */
export const clientStreamChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'streaming', versions: clientVersions, needs: 'stream' },
  [
    {
      id: 'client-stream.completes',
      ...must('3.1.2', 'STRM-002'),
      sentence: 'A client that streams a message to a correct agent receives all events and succeeds.',
      remedy: 'Read the reported error; compare the request with the transcript.',
      async run(probe) {
        const run = probe.require('stream');
        probe.expectSuccess(run, 'stream', 'the agent completed the task');
        probe.expectOneMessage(run, 'the stream was complete');
        const [stream] = callsOf(run, 'stream');
        probe.expect(
          run,
          stream?.response.endedBy !== 'client' || isSuccess(run),
          'The client closed the stream early.',
        );
      },
    },
    ...framings.map(({ framings: all, ...rule }) => ({
      ...rule,
      ...must('9.4.2', 'STRM-002', 'RPC-009'),
      transports: jsonTransports,
      async run(probe: ClientProbe): Promise<void> {
        for (const framing of all)
          await runFraming(probe, framing, `the events are written in the form "${framing}"`);
      },
    })),
    {
      id: 'client-stream.text',
      ...must('9.4.2', 'STRM-002'),
      sentence: 'A client decodes text of a stream as UTF-8, also if a character is split.',
      remedy: 'Decode the bytes with a decoder that keeps incomplete characters for the next chunk.',
      async run(probe) {
        probe.requirePrintedAnswer('stream');
        const text = 'Grüße 你好 🎉';
        const run = await probe.run(
          'stream',
          streamScript((call, { agent }) => ({
            kind: 'stream',
            events: agent
              .events(call)
              .map((each) => (each.kind === 'artifact' ? { ...each, text: `${each.text} ${text}` } : each)),
            framing: 'bytes',
          })),
        );
        probe.expect(run, printed(run, text), 'The client changed the text of the agent.', {
          expected: `the output contains ${text}`,
          actual: run.exit.stdout,
        });
      },
    },
    {
      id: 'client-stream.unknown-event',
      ...should('5.7', 'JSON-011'),
      sentence: 'A client ignores events of a kind that it does not know.',
      remedy: 'Skip unknown events, and read on.',
      async run(probe) {
        const json =
          probe.variant.version === '0.3' && probe.variant.transport === 'JSONRPC'
            ? { kind: 'future-update', taskId: 'task-1', contextId: 'context-1', value: 7 }
            : { futureUpdate: { value: 7 } };
        const run = await probe.run(
          'stream',
          streamScript((call, { agent }) => {
            const [first, ...rest] = agent.events(call);
            return { kind: 'stream', events: [...(first ? [first] : []), { kind: 'wire', json }, ...rest] };
          }),
        );
        probe.expectSuccess(run, 'stream', 'the stream contains an unknown event');
      },
    },
    {
      id: 'client-stream.gaps',
      ...must('3.7', 'MSG-004'),
      sentence: 'A client does not rely on every status update of a task.',
      remedy: 'Accept any order of states that the protocol allows, without intermediate ones.',
      async run(probe) {
        const run = await probe.run(
          'stream',
          streamScript((call, { agent }) => ({
            kind: 'stream',
            events: agent
              .events(call)
              .filter((each) => each.kind !== 'status' || each.task.state === 'completed'),
          })),
        );
        probe.expectSuccess(run, 'stream', 'the status "working" is missing');
      },
    },
    {
      id: 'client-stream.direct-message',
      ...must('3.1.2', 'STRM-004', 'STRM-008'),
      versions: contextVersions,
      sentence: 'A client accepts a stream with one message in place of a task.',
      remedy: 'Handle streams that consist of one message.',
      async run(probe) {
        const run = await probe.run(
          'stream',
          streamScript(() => ({
            kind: 'stream',
            events: [{ kind: 'message', text: 'hello', contextId: 'context-1' }],
          })),
        );
        probe.expectExitZero(run, 'the stream contains one message');
      },
    },
    {
      id: 'client-stream.closing-snapshot',
      ...must('11.7', 'REST-020'),
      versions: contextVersions,
      sentence: 'A client accepts a task as the last event of a stream.',
      remedy: 'Accept a task at any place of a stream; it replaces what is known about the task.',
      async run(probe) {
        const run = await probe.run(
          'stream',
          streamScript((call, { agent }) => ({
            kind: 'stream',
            events: [
              ...agent.events(call).slice(0, -1),
              { kind: 'task', task: agent.task(call, 'completed') },
            ],
          })),
        );
        probe.expectSuccess(run, 'stream', 'the last event is a task');
      },
    },
    {
      id: 'client-stream.error-response',
      ...must('3.3.2', 'ERR-001'),
      sentence: 'A client reports an error that the agent returns in place of a stream.',
      remedy: 'Check status and content type before events are read.',
      async run(probe) {
        const message = 'no-stream-for-you';
        const run = await probe.run('stream', {
          reply: (call) => (call.message ? { kind: 'error', error: 'InvalidParams', message } : undefined),
        });
        probe.expectVisibleError(run, 'the agent returned an error in place of a stream', message);
      },
    },
    {
      id: 'client-stream.error-event',
      ...must('3.3.2', 'ERR-001'),
      versions: contextVersions,
      // REST has no form for errors within a stream.
      transports: ['JSONRPC', 'GRPC'],
      sentence: 'A client reports an error that ends a stream, or asks for the task.',
      remedy: 'Check each event of a stream for an error.',
      async run(probe) {
        const message = 'the-agent-gave-up';
        const run = await probe.run(
          'stream',
          streamScript((call, { agent }) => ({
            kind: 'stream',
            events: [
              ...agent.events(call).slice(0, 2),
              { kind: 'error', error: 'InvalidAgentResponse', message },
            ],
          })),
        );
        if (callsOf(run, 'subscribe', 'get').length === 0)
          probe.expectVisibleError(run, 'the stream ended with an error', message);
      },
    },
    {
      id: 'client-stream.end',
      ...should('3.1.2', 'STRM-006', '0.3/7.2.3'),
      sentence:
        'A client ends a stream when the task is terminal, even if the agent keeps the connection open.',
      remedy: 'Close the stream after a terminal status, before 1.0 after an event with final: true.',
      async run(probe) {
        const run = await probe.run(
          'stream',
          streamScript((call, { agent }) => ({ kind: 'stream', events: agent.events(call), end: 'hold' })),
        );
        const [stream] = callsOf(run, 'stream');
        probe.expect(
          run,
          stream?.response.endedBy === 'client',
          'The client waited for the agent to close the stream of a completed task.',
        );
      },
    },
  ],
);
