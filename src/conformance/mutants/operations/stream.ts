import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import type { Agent } from '../../../protocol/agent.ts';
import type { StreamEvent, TaskStatusUpdateEvent } from '../../../protocol/event.ts';
import type { CheckedVersion } from '../../rule-model.ts';
import { type MutantAgent, type WireMutation, mutant } from '../harness/mutant-agent.ts';
import { framePayload, isCardRequest, mutateStream, withFramePayload } from '../harness/mutations.ts';
import { allVersions, operationMutant, versionsSince0_3 } from '../harness/operation-mutant.ts';
import { cancelOnAbort, endsTask, mapEvents, rejectedStream } from '../harness/stream-overrides.ts';

function wireMutant(
  id: string,
  description: string,
  wire: () => WireMutation,
  versions: readonly CheckedVersion[] = ['1.0'],
  alsoViolates: readonly string[] = [],
): MutantAgent {
  const { violates, ...others } = mutant(id, description, { versions, wire });
  return { ...others, violates: alsoViolates.length === 0 ? violates : [violates, alsoViolates].flat(2) };
}

type EventMap = (event: StreamEvent, index: number) => readonly StreamEvent[] | 'stop';

/** Maps the events of `stream` and `subscribe`. */
const mapStreams =
  (map: () => EventMap) =>
  (agent: Agent): Partial<Agent> => ({
    stream: (request, call) => mapEvents(agent.stream(request, call), map()),
    subscribe: (request, call) => mapEvents(agent.subscribe(request, call), map()),
  });

/** Maps the events of `stream`. */
const mapStream =
  (map: () => EventMap) =>
  (agent: Agent): Partial<Agent> => ({
    stream: (request, call) => mapEvents(agent.stream(request, call), map()),
  });

/** Replaces the terminal status of a stream. */
const mapTerminalStatus = (
  map: (event: TaskStatusUpdateEvent) => readonly StreamEvent[],
): ((agent: Agent) => Partial<Agent>) =>
  mapStreams(() => (event) => (endsTask(event) && event.kind === 'status' ? map(event) : [event]));

/** Opens streams for messages to finished or unknown tasks, as if they had no taskId. */
const ignoreTaskId = (agent: Agent): Partial<Agent> => ({
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

/** Mutants of SendStreamingMessage. */
export const streamMutants: readonly MutantAgent[] = [
  wireMutant(
    'stream.first:no-task',
    'A stream starts without the task.',
    () => mutateStream((data, index) => (index === 0 ? [] : [data])),
    ['1.0'],
    ['subscribe.running'],
  ),
  wireMutant(
    'stream.mixture:message-too',
    'A stream of a task contains a message.',
    () =>
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
    versionsSince0_3,
  ),
  operationMutant(
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
  operationMutant(
    'stream.after-terminal:back-to-work',
    'The state working follows the terminal status.',
    mapTerminalStatus((event) => [
      event,
      { ...event, status: { state: 'working', timestamp: new Date().toISOString() } },
    ]),
  ),
  wireMutant('stream.closes:stays-open', 'A stream stays open after the terminal status.', () => ({
    end: () => 'hang',
  })),
  operationMutant(
    'stream.closes:cut-short',
    'A stream ends before its task.',
    mapStreams(() => (event) => (endsTask(event) ? [] : [event])),
    ['1.0'],
    ['stream.opens'],
  ),
  operationMutant(
    'stream.ids:other-ids',
    'Events have the id of another task.',
    mapStreams(() => (event) => (event.kind === 'status' ? [{ ...event, taskId: 'another' }] : [event])),
  ),
  operationMutant(
    'stream.ids:other-context',
    'Events have the id of another context.',
    mapStreams(() => (event) => (event.kind === 'artifact' ? [{ ...event, contextId: 'another' }] : [event])),
  ),
  operationMutant(
    'stream.state-order:submitted-again',
    'The state submitted follows working.',
    mapStreams(
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
  operationMutant(
    'stream.time-order:back-in-time',
    'The last status is older than the previous ones.',
    mapTerminalStatus((event) => [
      { ...event, status: { ...event.status, timestamp: '2001-01-01T00:00:00.000Z' } },
    ]),
  ),
  operationMutant(
    'stream.append:append-first',
    'The first chunk has append: true.',
    mapStreams(() => (event) => (event.kind === 'artifact' ? [{ ...event, append: true }] : [event])),
  ),
  operationMutant(
    'stream.append:after-last',
    'Chunks follow the last chunk.',
    mapStreams(() => (event) => (event.kind === 'artifact' ? [{ ...event, lastChunk: true }] : [event])),
  ),
  wireMutant(
    'stream.frames:not-json',
    'A frame is not JSON.',
    () => mutateStream((data, index) => (index === 1 ? ['data: hello\n\n', data] : undefined)),
    allVersions,
  ),
  wireMutant(
    'stream.frames:bare-lines',
    'Lines have no SSE field.',
    () => mutateStream((data) => [`message ${JSON.stringify({ a: 1 })}\ndata: ${JSON.stringify(data)}\n\n`]),
    allVersions,
  ),

  operationMutant(
    'stream.opens:refuses',
    'Streams are rejected.',
    () => ({ stream: () => rejectedStream() }),
    allVersions,
  ),
  wireMutant('stream.opens:json', 'A stream has the Content-Type application/json.', () => ({
    head: (head) => {
      head.headers['content-type'] = 'application/json';
    },
  })),
  operationMutant(
    'stream.message:two',
    'A direct message is sent twice.',
    mapStream(() => (event) => (event.kind === 'message' ? [event, event] : [event])),
    versionsSince0_3,
  ),
  wireMutant(
    'stream.message:open-message',
    'A stream stays open after a direct message.',
    () => ({ end: ({ body }) => (body.includes('fx:message') ? 'hang' : undefined) }),
    versionsSince0_3,
  ),
  wireMutant(
    'stream.ends:open-failed',
    'The stream of a failed task stays open.',
    () => ({ end: ({ body }) => (body.includes('fx:fail') ? 'hang' : undefined) }),
    versionsSince0_3,
  ),
  operationMutant(
    'stream.ends:no-rejection',
    'A rejection is not streamed.',
    mapStream(() => (event) => (event.kind === 'status' && event.status.state === 'rejected' ? [] : [event])),
    ['1.0'],
  ),
  operationMutant(
    'stream.canceled:silent-cancel',
    'A cancellation is not streamed.',
    mapStreams(
      () => (event) => (event.kind === 'status' && event.status.state === 'canceled' ? [] : [event]),
    ),
    ['1.0'],
  ),
  operationMutant(
    'stream.flushed:at-the-end',
    'All events are sent at the end.',
    (agent) => ({ stream: (request, call) => delayUntilEnd(agent.stream(request, call)) }),
    allVersions,
  ),
  operationMutant(
    'stream.terminal-task:streams-finished',
    'A message to a finished task opens a stream.',
    ignoreTaskId,
  ),
  operationMutant(
    'stream.unknown-task:streams-unknown',
    'A message to an unknown task opens a stream.',
    ignoreTaskId,
    versionsSince0_3,
  ),
  operationMutant(
    'stream.chunks:loses-chunk',
    'A chunk is lost.',
    (agent) => {
      let count = 0;
      return {
        stream: (request, call) =>
          mapEvents(agent.stream(request, call), (event) =>
            event.kind === 'artifact' && ++count % 6 === 3 ? [] : [event],
          ),
      };
    },
    allVersions,
  ),
  operationMutant(
    'stream.chunks:chunk-twice',
    'A chunk is sent twice.',
    mapStream(() => (event, index) => (event.kind === 'artifact' && index === 4 ? [event, event] : [event])),
    allVersions,
  ),
  operationMutant(
    'stream.chunks:swaps-chunks',
    'Two chunks are swapped.',
    (agent) => ({
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
    }),
    allVersions,
  ),
  operationMutant(
    'stream.chunks:replaces',
    'Chunks have append: false.',
    mapStream(() => (event) => (event.kind === 'artifact' ? [{ ...event, append: false }] : [event])),
    allVersions,
  ),
  operationMutant(
    'stream.same-as-get:says-failed',
    'The stream reports a completed task as failed.',
    mapTerminalStatus((event) => [{ ...event, status: { ...event.status, state: 'failed' } }]),
    allVersions,
  ),
  operationMutant(
    'stream.hang-up:gives-up',
    'The task is canceled when its subscriber disconnects.',
    (agent) => ({
      stream: (request, call) => cancelOnAbort(agent, agent.stream(request, call)),
    }),
    allVersions,
  ),
  operationMutant(
    'stream.input-required:never-asks',
    'The second message of a task cannot be streamed.',
    (agent) => ({
      stream: (request, call) =>
        request.message.taskId === undefined ? agent.stream(request, call) : rejectedStream(),
    }),
    versionsSince0_3,
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
