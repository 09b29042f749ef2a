import { must } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { ObservedStream } from '../../probe.ts';
import { restingStates, terminalStates } from '../../observation/task-tracker.ts';
import {
  type NormalizedEvent,
  eventState,
  eventTaskId,
  partsToText,
} from '../../drivers/normalized-views.ts';

/** Returns the text of each artifact, assembled from the events of a stream. */
function assembleArtifacts(events: readonly NormalizedEvent[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.kind === 'task')
      for (const { id, parts } of event.task.artifacts ?? []) texts.set(id, partsToText(parts));
    if (event.kind !== 'artifact' || !event.artifact) continue;
    const { id, parts } = event.artifact;
    texts.set(id, (event.append ? (texts.get(id) ?? '') : '') + partsToText(parts));
  }
  return texts;
}

function requireTaskId({ events }: ObservedStream): string {
  const [id] = events.flatMap((event) => eventTaskId(event) ?? []);
  if (id === undefined) throw new InconclusiveError('The stream contains no task id.');
  return id;
}

const shared = {
  category: 'streaming',
  versions: ['1.0', '0.3', '0.1'],
  preconditions: ['streaming'],
} as const;

/** SendStreamingMessage: section 3.1.2, and the order of events: section 3.5.2. */
export const streamChecks = defineChecks(shared, [
  {
    id: 'stream.opens',
    ...must('3.1.2', 'STRM-001', 'STRM-002', 'STRM-007'),
    sentence: 'The agent responds to a streaming message with an event stream up to the end of the task.',
    remedy: 'Respond with text/event-stream, and send every event when it occurs.',
    async run(probe) {
      const stream = await probe.streamPrompt('completed');
      probe.expect(stream.exchange.status === 200, 'The status of the stream is not 200');
      const states = stream.events.map(eventState).filter((state) => state !== '');
      const isMessage = stream.events.some(({ kind }) => kind === 'message');
      const hasEnded = isMessage || restingStates.has(states.at(-1) ?? '');
      const message = 'The stream ended before the task was terminal or interrupted';
      probe.expect(hasEnded, message, { actual: states });
    },
  },
  {
    id: 'stream.message',
    ...must('3.1.2', 'STRM-004', 'STRM-008'),
    sentence: 'The agent sends a direct message as the only event and closes the stream.',
    remedy: 'Send the message, and close the stream.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const stream = await probe.streamPrompt('message');
      const kinds = stream.events.map(({ kind }) => kind);
      if (!kinds.includes('message'))
        throw new InconclusiveError(`The stream contains no message: ${kinds.join(', ')}.`);
      probe.expect(kinds.length === 1, 'The stream contains more than the message', { actual: kinds });
      probe.expect(stream.isComplete, 'The stream was not closed after the message');
    },
  },
  {
    id: 'stream.ends',
    ...must('3.1.2', 'STRM-006'),
    sentence: 'The agent closes a stream when its task is failed or rejected.',
    remedy: 'Close the stream after every terminal status.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      for (const outcome of ['failed', 'rejected'] as const) {
        if (!probe.prompts.knows(outcome)) continue;
        const stream = await probe.streamPrompt(outcome, { deadline: 5_000 });
        probe.expect(stream.isComplete, `The stream of a ${outcome} task was not closed`);
        const last = eventState(stream.events.at(-1));
        probe.expectEqual(last, outcome, 'The last event is not the terminal status');
      }
    },
  },
  {
    id: 'stream.canceled',
    ...must('3.1.2', 'STRM-006', 'CANC-001'),
    sentence: 'The agent sends the status canceled to the streams of a canceled task and closes them.',
    remedy: 'Send the status canceled to every stream of the task, and close the streams.',
    async run(probe) {
      let cancellation: Promise<unknown> | undefined;
      const stream = await probe.streamPrompt('slow', {
        until: (event) => {
          const id = eventTaskId(event);
          if (id !== undefined) cancellation ??= probe.call('cancel', { id });
          return false;
        },
      });
      await cancellation;
      const last = eventState(stream.events.at(-1));
      probe.expectEqual(last, 'canceled', 'The last event is not the status canceled');
      probe.expect(stream.isComplete, 'The stream was not closed');
    },
  },
  {
    id: 'stream.flushed',
    ...must('3.1.2', 'STRM-009'),
    sentence: 'The agent sends events when they occur, not all at the end.',
    remedy: 'Flush after each event, and disable buffering and compression in proxies.',
    async run(probe) {
      const { exchange, events } = await probe.streamPrompt('slow');
      const [first] = exchange.frames;
      const spread = exchange.totalMs - (first?.at ?? 0);
      if (exchange.totalMs < 800)
        throw new InconclusiveError('The task ended too quickly to measure the delay of events.');
      probe.expect(events.length > 2, 'A slow task sent no intermediate events', { actual: events.length });
      probe.expect(
        spread > exchange.totalMs / 3,
        `All events arrived at the end: the first after ${Math.round(first?.at ?? 0)} of ${Math.round(exchange.totalMs)} ms`,
      );
    },
  },
  {
    id: 'stream.terminal-task',
    ...must('3.1.2', 'STRM-010'),
    category: 'error-handling',
    sentence:
      'The agent rejects a streaming message to a task in a terminal state with UnsupportedOperation.',
    remedy: 'Return -32004 before the stream is opened.',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.completeTask();
      const message = { text: 'go on', taskId: task.id };
      const subject = 'A stream for a completed task';
      await probe.expectStreamError('stream', { message }, 'UnsupportedOperation', subject);
    },
  },
  {
    id: 'stream.unknown-task',
    ...must('3.1.2', 'STRM-011'),
    category: 'error-handling',
    sentence: 'The agent rejects a streaming message to an unknown task with TaskNotFound.',
    remedy: 'Return -32001 before the stream is opened.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const message = { text: 'go on', taskId: crypto.randomUUID() };
      const subject = 'A stream for an unknown task';
      await probe.expectStreamError('stream', { message }, 'TaskNotFound', subject);
    },
  },
  {
    id: 'stream.chunks',
    ...must('4.2.2', 'MODEL-011', 'ORD-001', 'REST-019'),
    sentence: 'The streamed chunks of an artifact, concatenated in order, equal the stored artifact.',
    remedy: 'Store streamed chunks, send each once and in order, and set append and lastChunk.',
    async run(probe) {
      const stream = await probe.streamPrompt('chunks');
      const streamed = assembleArtifacts(stream.events);
      const updates = stream.events.filter(({ kind }) => kind === 'artifact');
      probe.expect(updates.length > 0, 'The stream contains no artifact chunks');
      const task = await probe.waitUntilTerminalOrInterrupted(requireTaskId(stream));
      const stored = new Map((task.artifacts ?? []).map(({ id, parts }) => [id, partsToText(parts)]));
      for (const [id, text] of streamed)
        probe.expectEqual(stored.get(id), text, `The stored artifact ${id} differs from the streamed one`);
      probe.expectEqual(streamed.size, stored.size, 'Some artifacts were not streamed');
      const all = [...streamed.values()].join('');
      const numbers = [...all.matchAll(/chunk (\d+);/g)].map(([, number]) => Number(number));
      const isOrdered = numbers.every((number, index) => number === (numbers[0] ?? 0) + index);
      probe.expect(isOrdered, 'The chunks are out of order', { actual: numbers });
    },
  },
  {
    id: 'stream.unicode',
    ...must('4', 'MODEL-001', 'IANA-001'),
    sentence: 'The agent preserves text of all languages in streams, and encodes it in UTF-8.',
    remedy: 'Encode every event in UTF-8, and do not split characters.',
    async run(probe) {
      const canEcho = probe.prompts.knows('echo') && probe.prompts.promptFor('echo').parts === undefined;
      const draft = probe.prompts.promptFor(canEcho ? 'echo' : 'completed');
      const words = 'Grüße, 你好, مرحبا, 🌍';
      const message = { ...draft, text: `${draft.text ?? ''} ${words}` };
      const { exchange, events } = await probe.expectStream('stream', { message });
      probe.expect(!exchange.hasInvalidUtf8, 'The stream is not valid UTF-8');
      if (!canEcho) return;
      const actual = [...assembleArtifacts(events).values()].join('');
      probe.expect(actual.includes(words), 'The streamed text differs', { expected: words, actual });
    },
  },
  {
    id: 'stream.same-as-get',
    ...must('3.1.3', 'BIND-002', 'GET-001'),
    sentence: 'The agent returns a streamed task in the last streamed state.',
    remedy: 'Store each event before it is sent.',
    async run(probe) {
      const stream = await probe.streamPrompt('artifact');
      const last = stream.events.findLast((event) => eventState(event) !== '');
      if (!last) throw new InconclusiveError('The stream contains no state.');
      const task = await probe.getTask(requireTaskId(stream));
      probe.expectEqual(task.state, eventState(last), 'get returned another state than the stream');
    },
  },
  {
    id: 'stream.hang-up',
    ...must('3.5.2', 'ORD-006', 'MSG-003'),
    sentence: 'A task continues when a subscriber disconnects.',
    remedy: 'Do not bind the work to the connection.',
    async run(probe) {
      const stream = await probe.streamPrompt('slow', { until: () => true });
      const task = await probe.waitUntilTerminalOrInterrupted(requireTaskId(stream));
      probe.expectEqual(task.state, 'completed', 'The task was not completed after the client disconnected');
    },
  },
  {
    id: 'stream.input-required',
    ...must('3.1.2', 'STRM-001', 'ERR-024'),
    sentence: 'The agent streams the status input-required and continues the task in a second stream.',
    remedy: 'Send the status input-required, and accept the next message of the task.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const stream = await probe.streamPrompt('input-required', {
        until: (event) => eventState(event) === 'input-required',
      });
      const states = stream.events.map(eventState);
      if (!states.includes('input-required'))
        throw new InconclusiveError(`The task never required input: ${states.join(', ')}.`);
      const taskId = requireTaskId(stream);
      const next = await probe.expectStream('stream', { message: { text: 'the first one', taskId } });
      const actual = eventState(next.events.findLast((event) => eventState(event) !== ''));
      probe.expect(
        terminalStates.has(actual) || actual === 'input-required',
        'The second stream ended before the task was terminal or interrupted',
        { actual },
      );
      probe.expectEqual(requireTaskId(next), taskId, 'The second stream belongs to another task');
    },
  },
  {
    id: 'capability.no-streaming',
    ...must('3.3.4', 'CAP-001', 'CAP-003'),
    category: 'error-handling',
    sentence: 'An agent without the streaming capability rejects streams with UnsupportedOperation.',
    remedy: 'Return -32004 for SendStreamingMessage and SubscribeToTask, or declare streaming.',
    versions: ['1.0'],
    preconditions: ['no-streaming'],
    async run(probe) {
      const message = probe.prompts.anyPrompt();
      const subject = 'A stream that the card does not declare';
      await probe.expectStreamError('stream', { message }, 'UnsupportedOperation', subject);
      const task = await probe.completeTask();
      const { error, exchange } = await probe.openStream('subscribe', { id: task.id });
      probe.expect(error, 'A subscription was not rejected', {
        actual: describeResponse(probe.driver.decode(exchange)),
      });
    },
  },
]);
