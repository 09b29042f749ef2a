import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import type { Agent } from '../../../protocol/agent.ts';
import type { AgentInterceptor } from '../../../protocol/composition/with-interceptor.ts';
import type { StreamEvent, TaskStatusUpdateEvent } from '../../../protocol/event.ts';
import type { Part } from '../../../protocol/part.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import { framePayload, isCardRequest, mutateStream, withFramePayload } from '../harness/mutations.ts';
import {
  allVersions,
  in1_0,
  inAllVersions,
  since0_3,
  versionsSince0_3,
} from '../harness/operation-mutants.ts';
import { cancelOnAbort, endsTask, mapEvents, rejectedStream } from '../harness/stream-overrides.ts';

type EventMap = (event: StreamEvent, index: number) => readonly StreamEvent[] | 'stop';

/** Maps the events of `stream` and `subscribe`. */
const mapStreams =
  (map: EventMap) =>
  (agent: Agent): AgentInterceptor => ({
    stream: (request, call) => mapEvents(agent.stream(request, call), map),
    subscribe: (request, call) => mapEvents(agent.subscribe(request, call), map),
  });

/** Maps the events of `stream`. */
const mapStream =
  (map: EventMap) =>
  (agent: Agent): AgentInterceptor => ({
    stream: (request, call) => mapEvents(agent.stream(request, call), map),
  });

/** Replaces the terminal status of a stream. */
const mapTerminalStatus = (
  map: (event: TaskStatusUpdateEvent) => readonly StreamEvent[],
): ((agent: Agent) => AgentInterceptor) =>
  mapStreams((event) => (endsTask(event) && event.kind === 'status' ? map(event) : [event]));

/** Opens streams for messages to finished or unknown tasks, as if they had no taskId. */
const ignoreTaskId = (agent: Agent): AgentInterceptor => ({
  stream(request, call) {
    const { taskId: _taskId, ...message } = request.message;
    return agent.stream({ ...request, message }, call);
  },
});

async function* delayUntilEnd(
  events: AsyncIterable<StreamEvent>,
): AsyncGenerator<StreamEvent, void, undefined> {
  const buffered: StreamEvent[] = [];
  for await (const event of events) buffered.push(event);
  yield* buffered;
}

/** Replaces the characters of a text part that are not ASCII. */
const toAscii = (part: Part): Part =>
  'text' in part ? { ...part, text: part.text.replaceAll(/[^\n -~]/g, '?') } : part;

/** Mutants of SendStreamingMessage. */
export const streamMutants: readonly MutantAgent[] = [
  mutant('stream.first:no-task', 'A stream starts without the task.', {
    violates: ['stream.first', 'subscribe.running'],
    wire: () => mutateStream((data, index) => (index === 0 ? [] : [data])),
  }),
  mutant('stream.mixture:message-too', 'A stream of a task contains a message.', {
    versions: versionsSince0_3,
    wire: () =>
      mutateStream((data) => {
        const payload = framePayload(data);
        const isStatus = isJsonObject(payload.statusUpdate) || payload.kind === 'status-update';
        const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'by the way' }] };
        const other =
          'kind' in payload
            ? { kind: 'message', ...message, role: 'agent', parts: [{ kind: 'text', text: 'by the way' }] }
            : { message };
        return isStatus ? [withFramePayload(data, other), data] : undefined;
      }),
  }),
  in1_0(
    'stream.after-terminal:more',
    'An artifact follows the terminal status.',
    mapTerminalStatus((event) => [
      event,
      {
        kind: 'artifact',
        taskId: event.taskId,
        contextId: event.contextId,
        artifact: { artifactId: 'late', parts: [{ text: 'late' }] },
      },
    ]),
  ),
  in1_0(
    'stream.after-terminal:back-to-work',
    'The state working follows the terminal status.',
    mapTerminalStatus((event) => [
      event,
      { ...event, status: { state: 'working', timestamp: new Date().toISOString() } },
    ]),
  ),
  mutant('stream.closes:stays-open', 'A stream stays open after the terminal status.', {
    wire: () => ({ end: () => 'hang' }),
  }),
  in1_0(
    'stream.closes:cut-short',
    'A stream ends before its task.',
    mapStreams((event) => (endsTask(event) ? [] : [event])),
    ['stream.opens'],
  ),
  in1_0(
    'stream.ids:other-ids',
    'Events have the id of another task.',
    mapStreams((event) => (event.kind === 'status' ? [{ ...event, taskId: 'another' }] : [event])),
  ),
  in1_0(
    'stream.ids:other-context',
    'Events have the id of another context.',
    mapStreams((event) => (event.kind === 'artifact' ? [{ ...event, contextId: 'another' }] : [event])),
  ),
  in1_0(
    'stream.state-order:submitted-again',
    'The state submitted follows working.',
    mapStreams((event) =>
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
  in1_0(
    'stream.time-order:back-in-time',
    'The last status is older than the previous ones.',
    mapTerminalStatus((event) => [
      { ...event, status: { ...event.status, timestamp: '2001-01-01T00:00:00.000Z' } },
    ]),
  ),
  inAllVersions(
    'stream.unicode:replaced',
    'Characters outside of ASCII are replaced in streams.',
    mapStreams((event) =>
      event.kind === 'artifact'
        ? [{ ...event, artifact: { ...event.artifact, parts: event.artifact.parts.map(toAscii) } }]
        : [event],
    ),
  ),
  in1_0(
    'stream.append:append-first',
    'The first chunk has append: true.',
    mapStreams((event) => (event.kind === 'artifact' ? [{ ...event, append: true }] : [event])),
  ),
  in1_0(
    'stream.append:after-last',
    'Chunks follow the last chunk.',
    mapStreams((event) => (event.kind === 'artifact' ? [{ ...event, lastChunk: true }] : [event])),
  ),
  mutant('stream.frames:not-json', 'A frame is not JSON.', {
    versions: allVersions,
    wire: () => mutateStream((data, index) => (index === 1 ? ['data: hello\n\n', data] : undefined)),
  }),
  mutant('stream.frames:bare-lines', 'Lines have no SSE field.', {
    versions: allVersions,
    wire: () =>
      mutateStream((data) => [`message ${JSON.stringify({ a: 1 })}\ndata: ${JSON.stringify(data)}\n\n`]),
  }),

  inAllVersions('stream.opens:refuses', 'Streams are rejected.', () => ({ stream: () => rejectedStream() })),
  mutant('stream.opens:json', 'A stream has the Content-Type application/json.', {
    wire: () => ({
      head: (head) => {
        head.headers['content-type'] = 'application/json';
      },
    }),
  }),
  since0_3(
    'stream.message:two',
    'A direct message is sent twice.',
    mapStream((event) => (event.kind === 'message' ? [event, event] : [event])),
  ),
  mutant('stream.message:open-message', 'A stream stays open after a direct message.', {
    versions: versionsSince0_3,
    wire: () => ({ end: ({ body }) => (body.includes('fx:message') ? 'hang' : undefined) }),
  }),
  mutant('stream.ends:open-failed', 'The stream of a failed task stays open.', {
    versions: versionsSince0_3,
    wire: () => ({ end: ({ body }) => (body.includes('fx:fail') ? 'hang' : undefined) }),
  }),
  in1_0(
    'stream.ends:no-rejection',
    'A rejection is not streamed.',
    mapStream((event) => (event.kind === 'status' && event.status.state === 'rejected' ? [] : [event])),
  ),
  in1_0(
    'stream.canceled:silent-cancel',
    'A cancellation is not streamed.',
    mapStreams((event) => (event.kind === 'status' && event.status.state === 'canceled' ? [] : [event])),
  ),
  inAllVersions('stream.flushed:at-the-end', 'All events are sent at the end.', (agent) => ({
    stream: (request, call) => delayUntilEnd(agent.stream(request, call)),
  })),
  in1_0(
    'stream.terminal-task:streams-finished',
    'A message to a finished task opens a stream.',
    ignoreTaskId,
  ),
  since0_3(
    'stream.unknown-task:streams-unknown',
    'A message to an unknown task opens a stream.',
    ignoreTaskId,
  ),
  inAllVersions('stream.chunks:loses-chunk', 'A chunk is lost.', (agent) => {
    let count = 0;
    return {
      stream: (request, call) =>
        mapEvents(agent.stream(request, call), (event) =>
          event.kind === 'artifact' && ++count % 6 === 3 ? [] : [event],
        ),
    };
  }),
  inAllVersions(
    'stream.chunks:chunk-twice',
    'A chunk is sent twice.',
    mapStream((event, index) => (event.kind === 'artifact' && index === 4 ? [event, event] : [event])),
  ),
  inAllVersions('stream.chunks:swaps-chunks', 'Two chunks are swapped.', (agent) => ({
    stream(request, call) {
      let held: StreamEvent | undefined;
      return mapEvents(agent.stream(request, call), (event, index) => {
        if (event.kind === 'artifact' && event.append && !held && index === 4) {
          held = event;
          return [];
        }
        const back = held && event.kind === 'artifact' ? [event, held] : [event];
        if (back.length > 1) held = undefined;
        return back;
      });
    },
  })),
  inAllVersions(
    'stream.chunks:replaces',
    'Chunks have append: false.',
    mapStream((event) => (event.kind === 'artifact' ? [{ ...event, append: false }] : [event])),
  ),
  inAllVersions(
    'stream.same-as-get:says-failed',
    'The stream reports a completed task as failed.',
    mapTerminalStatus((event) => [{ ...event, status: { ...event.status, state: 'failed' } }]),
  ),
  inAllVersions(
    'stream.hang-up:gives-up',
    'The task is canceled when its subscriber disconnects.',
    (agent) => ({ stream: (request, call) => cancelOnAbort(agent, agent.stream(request, call)) }),
  ),
  since0_3(
    'stream.input-required:never-asks',
    'The second message of a task cannot be streamed.',
    (agent) => ({
      stream: (request, call) =>
        request.message.taskId === undefined ? agent.stream(request, call) : rejectedStream(),
    }),
  ),
  mutant('capability.no-streaming:streams', 'Streaming works although the card does not declare it.', {
    wire: () => ({
      response({ json }, request) {
        const { capabilities } = (json ?? {}) as { capabilities?: JsonObject };
        if (isCardRequest(request) && capabilities) capabilities.streaming = false;
      },
    }),
  }),
];
