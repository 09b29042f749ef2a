import type { Agent } from '../../../protocol/agent.ts';
import type { StreamEvent } from '../../../protocol/event.ts';
import type { CheckedVersion } from '../../rule-model.ts';
import {
  mutateStream,
  isMutableJson,
  type MutableJson,
  framePayload,
  withFramePayload,
} from '../harness/mutations.ts';
import { type MutantAgent, defineMutants, type WireMutation } from '../harness/mutant-agent.ts';
import { allVersions, operationMutant, versionsSince0_3 } from '../harness/operation-mutant.ts';
import { cancelOnAbort, rejectedStream, endsTask, mapEvents } from '../harness/override-agent.ts';

/** An agent whose streams are bent on the wire. */
function bent(
  id: string,
  breaks: string | readonly string[],
  what: string,
  wire: () => WireMutation,
  versions: readonly CheckedVersion[] = ['1.0'],
): MutantAgent {
  const [first = ''] = [breaks].flat();
  return { id: `${first}:${id}`, violates: breaks, description: what, versions, wire };
}

/** Both ways to a stream, with its events replaced. */
const streams =
  (map: () => (event: StreamEvent, index: number) => readonly StreamEvent[] | 'stop') =>
  (agent: Agent): Partial<Agent> => ({
    stream: (request, call) => mapEvents(agent.stream(request, call), map()),
    subscribe: (request, call) => mapEvents(agent.subscribe(request, call), map()),
  });

async function* later(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent, void, undefined> {
  const held: StreamEvent[] = [];
  for await (const event of events) held.push(event);
  yield* held;
}

const afterFirst = (data: MutableJson, index: number): readonly object[] | undefined =>
  index === 0 ? [] : [data];

/** Agents whose streams are wrong in one thing. */
export const streamMutants = defineMutants([
  bent('no-task', ['stream.first', 'subscribe.running'], 'A stream begins without the task.', () =>
    mutateStream(afterFirst),
  ),
  bent(
    'message-too',
    'stream.mixture',
    'A message comes in the stream of a task.',
    () =>
      mutateStream((data) => {
        const payload = framePayload(data);
        const isStatus = isMutableJson(payload.statusUpdate) || payload.kind === 'status-update';
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
    'more',
    'stream.after-terminal',
    'An artifact comes after the end.',
    streams(
      () => (event) =>
        endsTask(event) && event.kind === 'status'
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
  operationMutant(
    'back-to-work',
    'stream.after-terminal',
    'A task works again after its end.',
    streams(
      () => (event) =>
        endsTask(event) && event.kind === 'status'
          ? [event, { ...event, status: { state: 'working', timestamp: new Date().toISOString() } }]
          : [event],
    ),
  ),
  bent('stays-open', 'stream.closes', 'A stream stays open after the end of the task.', () => ({
    end: () => 'hang',
  })),
  operationMutant(
    'cut-short',
    ['stream.closes', 'stream.opens'],
    'A stream ends before the task does.',
    streams(() => (event) => (endsTask(event) ? [] : [event])),
  ),
  operationMutant(
    'other-ids',
    'stream.ids',
    'Events name another task.',
    streams(() => (event) => (event.kind === 'status' ? [{ ...event, taskId: 'another' }] : [event])),
  ),
  operationMutant(
    'other-context',
    'stream.ids',
    'Events name another context.',
    streams(() => (event) => (event.kind === 'artifact' ? [{ ...event, contextId: 'another' }] : [event])),
  ),
  operationMutant(
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
  operationMutant(
    'back-in-time',
    'stream.time-order',
    'The last status is older than the others.',
    streams(
      () => (event) =>
        endsTask(event) && event.kind === 'status'
          ? [{ ...event, status: { ...event.status, timestamp: '2001-01-01T00:00:00.000Z' } }]
          : [event],
    ),
  ),
  operationMutant(
    'append-first',
    'stream.append',
    'The first chunk is appended.',
    streams(() => (event) => (event.kind === 'artifact' ? [{ ...event, append: true }] : [event])),
  ),
  operationMutant(
    'after-last',
    'stream.append',
    'Chunks follow the last one.',
    streams(() => (event) => (event.kind === 'artifact' ? [{ ...event, lastChunk: true }] : [event])),
  ),
  bent(
    'not-json',
    'stream.frames',
    'A frame is no JSON.',
    () => mutateStream((data, index) => (index === 1 ? ['data: hello\n\n', data] : undefined)),
    allVersions,
  ),
  bent(
    'bare-lines',
    'stream.frames',
    'Lines have no field.',
    () => mutateStream((data) => [`message ${JSON.stringify({ a: 1 })}\ndata: ${JSON.stringify(data)}\n\n`]),
    allVersions,
  ),

  operationMutant(
    'refuses',
    'stream.opens',
    'Streams are refused.',
    () => ({ stream: () => rejectedStream('UNSUPPORTED_OPERATION') }),
    allVersions,
  ),
  bent('json', 'stream.opens', 'A stream says that it is JSON.', () => ({
    head: (head) => {
      head.headers['content-type'] = 'application/json';
    },
  })),
  operationMutant(
    'two',
    'stream.message',
    'A direct message comes twice.',
    (agent) => ({
      stream: (request, call) =>
        mapEvents(agent.stream(request, call), (event) =>
          event.kind === 'message' ? [event, event] : [event],
        ),
    }),
    versionsSince0_3,
  ),
  bent(
    'open-message',
    'stream.message',
    'A stream stays open after a direct message.',
    () => ({ end: ({ body }) => (body.includes('fx:message') ? 'hang' : undefined) }),
    versionsSince0_3,
  ),
  bent(
    'open-failed',
    'stream.ends',
    'The stream of a task that failed stays open.',
    () => ({ end: ({ body }) => (body.includes('fx:fail') ? 'hang' : undefined) }),
    versionsSince0_3,
  ),
  operationMutant(
    'no-rejection',
    'stream.ends',
    'A rejection is not streamed.',
    (agent) => ({
      stream: (request, call) =>
        mapEvents(agent.stream(request, call), (event) =>
          event.kind === 'status' && event.status.state === 'rejected' ? [] : [event],
        ),
    }),
    ['1.0'],
  ),
  operationMutant(
    'silent-cancel',
    'stream.canceled',
    'A cancellation is not streamed.',
    streams(() => (event) => (event.kind === 'status' && event.status.state === 'canceled' ? [] : [event])),
    ['1.0'],
  ),
  operationMutant(
    'at-the-end',
    'stream.flushed',
    'All events come at the end.',
    (agent) => ({ stream: (request, call) => later(agent.stream(request, call)) }),
    allVersions,
  ),
  operationMutant(
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
  operationMutant(
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
    versionsSince0_3,
  ),
  operationMutant(
    'loses-chunk',
    'stream.chunks',
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
    'chunk-twice',
    'stream.chunks',
    'A chunk comes twice.',
    (agent) => ({
      stream: (request, call) =>
        mapEvents(agent.stream(request, call), (event, index) =>
          event.kind === 'artifact' && index === 4 ? [event, event] : [event],
        ),
    }),
    allVersions,
  ),
  operationMutant(
    'swaps-chunks',
    'stream.chunks',
    'Two chunks change places.',
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
    'replaces',
    'stream.chunks',
    'Chunks are not marked as appended.',
    (agent) => ({
      stream: (request, call) =>
        mapEvents(agent.stream(request, call), (event) =>
          event.kind === 'artifact' ? [{ ...event, append: false }] : [event],
        ),
    }),
    allVersions,
  ),
  operationMutant(
    'says-failed',
    'stream.same-as-get',
    'The stream says that the task failed.',
    streams(
      () => (event) =>
        endsTask(event) && event.kind === 'status'
          ? [{ ...event, status: { ...event.status, state: 'failed' } }]
          : [event],
    ),
    allVersions,
  ),
  operationMutant(
    'gives-up',
    'stream.hang-up',
    'A task is canceled when its reader hangs up.',
    (agent) => ({
      stream: (request, call) => cancelOnAbort(agent, agent.stream(request, call)),
    }),
    allVersions,
  ),
  operationMutant(
    'never-asks',
    'stream.input-required',
    'The second message of a conversation cannot be streamed.',
    (agent) => ({
      stream: (request, call) =>
        request.message.taskId === undefined
          ? agent.stream(request, call)
          : rejectedStream('UNSUPPORTED_OPERATION'),
    }),
    versionsSince0_3,
  ),
  {
    id: 'capability.no-streaming:streams',
    violates: 'capability.no-streaming',
    description: 'It streams although the card says that it does not.',
    versions: ['1.0'],
    wire: () => ({
      response(answer, { path }) {
        const { capabilities } = (answer.json ?? {}) as { capabilities?: MutableJson };
        if (path.includes('/.well-known/') && capabilities) capabilities.streaming = false;
      },
    }),
  },
]);
