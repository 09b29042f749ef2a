import type { Agent } from '../../../protocol/agent.ts';
import type { StreamEvent } from '../../../protocol/event.ts';
import type { Version } from '../../rule-model.ts';
import { bendStream, isLoose, type Loose, payloadOf, withPayload } from '../harness/mutations.ts';
import { type BrokenAgent, defineBroken, type WireFault } from '../harness/mutant-agent.ts';
import { all, done, newer } from '../harness/operation-mutant.ts';
import { canceling, failing, isEnd, mapped } from '../harness/override-agent.ts';

/** An agent whose streams are bent on the wire. */
function bent(
  id: string,
  breaks: string | readonly string[],
  what: string,
  wire: () => WireFault,
  versions: readonly Version[] = ['1.0'],
): BrokenAgent {
  const [first = ''] = [breaks].flat();
  return { id: `${first}:${id}`, breaks, what, versions, wire };
}

/** Both ways to a stream, with its events replaced. */
const streams =
  (map: () => (event: StreamEvent, index: number) => readonly StreamEvent[] | 'stop') =>
  (agent: Agent): Partial<Agent> => ({
    stream: (request, call) => mapped(agent.stream(request, call), map()),
    subscribe: (request, call) => mapped(agent.subscribe(request, call), map()),
  });

async function* later(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent, void, undefined> {
  const held: StreamEvent[] = [];
  for await (const event of events) held.push(event);
  yield* held;
}

const afterFirst = (data: Loose, index: number): readonly object[] | undefined => (index === 0 ? [] : [data]);

/** Agents whose streams are wrong in one thing. */
export const brokenStreams = defineBroken([
  bent('no-task', ['stream.first', 'subscribe.running'], 'A stream begins without the task.', () =>
    bendStream(afterFirst),
  ),
  bent(
    'message-too',
    'stream.mixture',
    'A message comes in the stream of a task.',
    () =>
      bendStream((data) => {
        const payload = payloadOf(data);
        const isStatus = isLoose(payload.statusUpdate) || payload.kind === 'status-update';
        const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'by the way' }] };
        const other =
          'kind' in payload
            ? { kind: 'message', ...message, role: 'agent', parts: [{ kind: 'text', text: 'by the way' }] }
            : { message };
        return isStatus ? [withPayload(data, other), data] : undefined;
      }),
    newer,
  ),
  done(
    'more',
    'stream.after-terminal',
    'An artifact comes after the end.',
    streams(
      () => (event) =>
        isEnd(event) && event.kind === 'status'
          ? [
              event,
              {
                kind: 'artifact',
                taskId: event.taskId,
                contextId: event.contextId,
                artifact: { artifactId: 'late', parts: [{ text: 'late' }] },
              },
            ]
          : [event],
    ),
  ),
  done(
    'back-to-work',
    'stream.after-terminal',
    'A task works again after its end.',
    streams(
      () => (event) =>
        isEnd(event) && event.kind === 'status'
          ? [event, { ...event, status: { state: 'working', timestamp: new Date().toISOString() } }]
          : [event],
    ),
  ),
  bent('stays-open', 'stream.closes', 'A stream stays open after the end of the task.', () => ({
    end: () => 'hang',
  })),
  done(
    'cut-short',
    ['stream.closes', 'stream.opens'],
    'A stream ends before the task does.',
    streams(() => (event) => (isEnd(event) ? [] : [event])),
  ),
  done(
    'other-ids',
    'stream.ids',
    'Events name another task.',
    streams(() => (event) => (event.kind === 'status' ? [{ ...event, taskId: 'another' }] : [event])),
  ),
  done(
    'other-context',
    'stream.ids',
    'Events name another context.',
    streams(() => (event) => (event.kind === 'artifact' ? [{ ...event, contextId: 'another' }] : [event])),
  ),
  done(
    'submitted-again',
    'stream.state-order',
    'A task is submitted again after it had begun.',
    streams(
      () => (event) =>
        event.kind === 'artifact'
          ? [
              {
                kind: 'status',
                taskId: event.taskId,
                contextId: event.contextId,
                status: { state: 'submitted', timestamp: new Date().toISOString() },
              },
              event,
            ]
          : [event],
    ),
  ),
  done(
    'back-in-time',
    'stream.time-order',
    'The last status is older than the others.',
    streams(
      () => (event) =>
        isEnd(event) && event.kind === 'status'
          ? [{ ...event, status: { ...event.status, timestamp: '2001-01-01T00:00:00.000Z' } }]
          : [event],
    ),
  ),
  done(
    'append-first',
    'stream.append',
    'The first chunk is appended.',
    streams(() => (event) => (event.kind === 'artifact' ? [{ ...event, append: true }] : [event])),
  ),
  done(
    'after-last',
    'stream.append',
    'Chunks follow the last one.',
    streams(() => (event) => (event.kind === 'artifact' ? [{ ...event, lastChunk: true }] : [event])),
  ),
  bent(
    'not-json',
    'stream.frames',
    'A frame is no JSON.',
    () => bendStream((data, index) => (index === 1 ? ['data: hello\n\n', data] : undefined)),
    all,
  ),
  bent(
    'bare-lines',
    'stream.frames',
    'Lines have no field.',
    () => bendStream((data) => [`message ${JSON.stringify({ a: 1 })}\ndata: ${JSON.stringify(data)}\n\n`]),
    all,
  ),

  done(
    'refuses',
    'stream.opens',
    'Streams are refused.',
    () => ({ stream: () => failing('UNSUPPORTED_OPERATION') }),
    all,
  ),
  bent('json', 'stream.opens', 'A stream says that it is JSON.', () => ({
    head: (head) => {
      head.headers['content-type'] = 'application/json';
    },
  })),
  done(
    'two',
    'stream.message',
    'A direct message comes twice.',
    (agent) => ({
      stream: (request, call) =>
        mapped(agent.stream(request, call), (event) => (event.kind === 'message' ? [event, event] : [event])),
    }),
    newer,
  ),
  bent(
    'open-message',
    'stream.message',
    'A stream stays open after a direct message.',
    () => ({ end: ({ body }) => (body.includes('fx:message') ? 'hang' : undefined) }),
    newer,
  ),
  bent(
    'open-failed',
    'stream.ends',
    'The stream of a task that failed stays open.',
    () => ({ end: ({ body }) => (body.includes('fx:fail') ? 'hang' : undefined) }),
    newer,
  ),
  done(
    'no-rejection',
    'stream.ends',
    'A rejection is not streamed.',
    (agent) => ({
      stream: (request, call) =>
        mapped(agent.stream(request, call), (event) =>
          event.kind === 'status' && event.status.state === 'rejected' ? [] : [event],
        ),
    }),
    ['1.0'],
  ),
  done(
    'silent-cancel',
    'stream.canceled',
    'A cancellation is not streamed.',
    streams(() => (event) => (event.kind === 'status' && event.status.state === 'canceled' ? [] : [event])),
    ['1.0'],
  ),
  done(
    'at-the-end',
    'stream.flushed',
    'All events come at the end.',
    (agent) => ({ stream: (request, call) => later(agent.stream(request, call)) }),
    all,
  ),
  done(
    'streams-finished',
    'stream.terminal-task',
    'A message to a finished task opens a stream.',
    (agent) => ({
      stream(request, call) {
        const { taskId, ...message } = request.message;
        return taskId === undefined
          ? agent.stream(request, call)
          : agent.stream({ ...request, message }, call);
      },
    }),
  ),
  done(
    'streams-unknown',
    'stream.unknown-task',
    'A message to an unknown task opens a stream.',
    (agent) => ({
      stream(request, call) {
        const { taskId, ...message } = request.message;
        return taskId === undefined
          ? agent.stream(request, call)
          : agent.stream({ ...request, message }, call);
      },
    }),
    newer,
  ),
  done(
    'loses-chunk',
    'stream.chunks',
    'A chunk is lost.',
    (agent) => {
      let count = 0;
      return {
        stream: (request, call) =>
          mapped(agent.stream(request, call), (event) =>
            event.kind === 'artifact' && ++count % 6 === 3 ? [] : [event],
          ),
      };
    },
    all,
  ),
  done(
    'chunk-twice',
    'stream.chunks',
    'A chunk comes twice.',
    (agent) => ({
      stream: (request, call) =>
        mapped(agent.stream(request, call), (event, index) =>
          event.kind === 'artifact' && index === 4 ? [event, event] : [event],
        ),
    }),
    all,
  ),
  done(
    'swaps-chunks',
    'stream.chunks',
    'Two chunks change places.',
    (agent) => ({
      stream(request, call) {
        let held: StreamEvent | undefined;
        return mapped(agent.stream(request, call), (event, index) => {
          if (event.kind === 'artifact' && event.append && !held && index === 4) {
            held = event;
            return [];
          }
          const back = held && event.kind === 'artifact' ? [event, held] : [event];
          if (back.length > 1) held = undefined;
          return back;
        });
      },
    }),
    all,
  ),
  done(
    'replaces',
    'stream.chunks',
    'Chunks are not marked as appended.',
    (agent) => ({
      stream: (request, call) =>
        mapped(agent.stream(request, call), (event) =>
          event.kind === 'artifact' ? [{ ...event, append: false }] : [event],
        ),
    }),
    all,
  ),
  done(
    'says-failed',
    'stream.same-as-get',
    'The stream says that the task failed.',
    streams(
      () => (event) =>
        isEnd(event) && event.kind === 'status'
          ? [{ ...event, status: { ...event.status, state: 'failed' } }]
          : [event],
    ),
    all,
  ),
  done(
    'gives-up',
    'stream.hang-up',
    'A task is canceled when its reader hangs up.',
    (agent) => ({
      stream: (request, call) => canceling(agent, agent.stream(request, call)),
    }),
    all,
  ),
  done(
    'never-asks',
    'stream.input-required',
    'The second message of a conversation cannot be streamed.',
    (agent) => ({
      stream: (request, call) =>
        request.message.taskId === undefined ? agent.stream(request, call) : failing('UNSUPPORTED_OPERATION'),
    }),
    newer,
  ),
  {
    id: 'capability.no-streaming:streams',
    breaks: 'capability.no-streaming',
    what: 'It streams although the card says that it does not.',
    versions: ['1.0'],
    wire: () => ({
      answer(answer, { path }) {
        const { capabilities } = (answer.json ?? {}) as { capabilities?: Loose };
        if (path.includes('/.well-known/') && capabilities) capabilities.streaming = false;
      },
    }),
  },
]);
