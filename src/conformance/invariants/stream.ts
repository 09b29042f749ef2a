import { jsonTransports, must } from '../rule-model.ts';
import { restingStates, terminalStates } from '../observation/task-tracker.ts';
import { defineInvariants, type Invariant, type Observation } from '../observation/observation.ts';
import { type NormalizedEvent, eventState } from '../drivers/normalized-views.ts';

const orderRemedy = 'Send events in the order in which they occurred.';

/** Evaluates a rule on every stream with at least one event. */
function onStream(
  check: (stream: Observation & { readonly kind: 'stream' }) => readonly string[] | undefined,
): Invariant['check'] {
  return (observation) =>
    observation.kind === 'stream' && observation.events.length > 0 ? check(observation) : undefined;
}

function distinctIds(events: readonly NormalizedEvent[], name: 'taskId' | 'contextId'): string[] {
  const ids = events.map((event) => {
    if (event.kind === 'task') return name === 'taskId' ? event.task.id : event.task.contextId;
    return event.kind === 'status' || event.kind === 'artifact' ? event[name] : undefined;
  });
  return [...new Set(ids.filter((id) => id !== undefined))];
}

function eventTime(event: NormalizedEvent): string | undefined {
  if (event.kind === 'status') return event.timestamp;
  return event.kind === 'task' ? event.task.timestamp : undefined;
}

/** Returns true for the final status of versions before 1.0 that repeats the state of a task. */
function isFinalRepetition(event: NormalizedEvent, former: NormalizedEvent | undefined): boolean {
  return (
    event.kind === 'status' &&
    event.final &&
    former?.kind === 'task' &&
    eventState(event) === former.task.state
  );
}

/** Rules of streams. */
export const streamInvariants = defineInvariants(
  { category: 'streaming', versions: ['1.0', '0.3', '0.1'], preconditions: ['streaming'] },
  [
    {
      id: 'stream.first',
      ...must('3.1.2', 'STRM-005', 'SUBS-002', 'STRM-003'),
      sentence: 'The agent sends the complete task or a message as the first event of a stream.',
      remedy: 'Send the current task before any other event.',
      versions: ['1.0'],
      check: onStream(({ events: [first] }) =>
        first?.kind === 'task' || first?.kind === 'message' ? [] : [`The first event is a ${first?.kind}`],
      ),
    },
    {
      id: 'stream.mixture',
      ...must('3.1.2', 'STRM-003', 'STRM-004'),
      sentence: 'The agent streams either one message or the events of one task.',
      remedy: 'End the stream after a direct message; send messages about a task in its status.',
      versions: ['1.0', '0.3'],
      check: onStream(({ events }) => {
        const messages = events.filter(({ kind }) => kind === 'message').length;
        return messages === 0 || events.length === 1
          ? []
          : [`${messages} messages among ${events.length} events`];
      }),
    },
    {
      id: 'stream.after-terminal',
      ...must('3.1.2', 'STRM-006', 'SUBS-001', 'ORD-001'),
      sentence: 'The agent sends no further updates after the event with a terminal state.',
      remedy: 'Send artifacts before the terminal status, then close the stream.',
      check: onStream(({ events }) => {
        const terminal = events.findIndex((event) => terminalStates.has(eventState(event)));
        if (terminal < 0) return [];
        // The complete task may end the stream; a final status may end one that started with the ended task.
        const [next] = events
          .slice(terminal + 1)
          .filter((event) => event.kind !== 'task' && !isFinalRepetition(event, events[terminal]));
        return next ? [`A ${next.kind} event follows the status ${eventState(events[terminal])}`] : [];
      }),
    },
    {
      id: 'stream.closes',
      ...must('3.1.2', 'STRM-006', 'SUBS-001'),
      sentence: 'The agent closes a stream only after its task reaches a terminal or interrupted state.',
      remedy: 'Close the stream after the terminal status.',
      check: onStream(({ exchange, events, isComplete }) => {
        const states = events.map(eventState).filter((state) => state !== '');
        const last = states.at(-1) ?? '';
        if (exchange.end === 'timeout' && states.some((state) => terminalStates.has(state)))
          return [`The task state is ${last}, but the stream is still open`];
        if (exchange.end === 'truncated') return [`The connection was closed after ${events.length} events`];
        if (!isComplete || events.some(({ kind }) => kind === 'message')) return undefined;
        if (restingStates.has(last)) return [];
        return [`The stream ended with ${last === '' ? 'no task state' : `the task state ${last}`}`];
      }),
    },
    {
      id: 'stream.ids',
      ...must('4.2.1', 'MODEL-010', 'MODEL-011'),
      sentence: 'The agent sends the same taskId and contextId with all events of a stream.',
      remedy: 'Copy taskId and contextId from the task into each of its events.',
      check: onStream(({ events }) =>
        (['taskId', 'contextId'] as const).flatMap((name) => {
          const ids = distinctIds(events, name);
          return ids.length > 1 ? [`${ids.length} different values of ${name}: ${ids.join(', ')}`] : [];
        }),
      ),
    },
    {
      id: 'stream.state-order',
      ...must('3.5.2', 'ORD-001', 'ORD-002'),
      sentence: 'The agent does not report a task as submitted after it has left that state.',
      remedy: orderRemedy,
      check: onStream(({ events }) => {
        const states = events.map(eventState).filter((state) => state !== '');
        const started = states.findIndex((state) => state !== 'submitted');
        return started >= 0 && states.slice(started).includes('submitted')
          ? [`The state submitted follows ${states[started]}`]
          : [];
      }),
    },
    {
      id: 'stream.time-order',
      ...must('3.5.2', 'ORD-001', 'ORD-002'),
      sentence: 'The agent sends the statuses of a stream with timestamps that do not decrease.',
      remedy: orderRemedy,
      versions: ['1.0', '0.3'],
      check: onStream(({ events }) => {
        const times = events
          .map(eventTime)
          .filter((time) => time !== undefined)
          .map((time) => Date.parse(time));
        if (times.length < 2) return undefined;
        const earlier = times.findIndex((time, index) => index > 0 && time < (times[index - 1] ?? 0));
        return earlier < 0 ? [] : [`Status ${earlier + 1} is older than the previous one`];
      }),
    },
    {
      id: 'stream.append',
      ...must('4.2.2', 'MODEL-011'),
      sentence: 'The agent appends chunks only to artifacts that it has started and not finished.',
      remedy: 'Send the first chunk with append: false, and lastChunk: true only with the last one.',
      check: onStream(({ operation, events }) => {
        if (operation !== 'stream') return undefined;
        const started = new Set<string>();
        const finished = new Set<string>();
        const messages: string[] = [];
        let hasArtifacts = false;
        for (const event of events) {
          if (event.kind === 'task') for (const { id } of event.task.artifacts ?? []) started.add(id);
          if (event.kind !== 'artifact' || !event.artifact) continue;
          hasArtifacts = true;
          const { id } = event.artifact;
          if (event.append && !started.has(id))
            messages.push(`Artifact ${id} is appended to before its first chunk`);
          if (event.append && finished.has(id))
            messages.push(`Artifact ${id} is appended to after its last chunk`);
          started.add(id);
          if (event.lastChunk) finished.add(id);
        }
        return hasArtifacts ? messages : undefined;
      }),
    },
    {
      id: 'stream.frames',
      ...must('9.4.2', 'RPC-009', 'REST-021', 'STRM-002'),
      sentence: 'The agent sends exactly one event as a JSON object in every SSE frame.',
      remedy: 'Write each event as one data field with JSON, followed by a blank line.',
      transports: jsonTransports,
      check(observation) {
        if (observation.kind === 'event')
          return observation.event.kind === 'unknown'
            ? [`Event ${observation.index}: ${observation.event.reason}`]
            : [];
        if (observation.kind !== 'stream') return undefined;
        const sseFields = new Set(['data', 'id', 'event', 'retry', '']);
        const unknown = observation.exchange.frames
          .flatMap(({ fields }) => fields.map(([name]) => name))
          .find((name) => !sseFields.has(name));
        if (unknown !== undefined)
          return [`A line starts with ${JSON.stringify(unknown)}, which is not an SSE field`];
        return observation.exchange.hasInvalidUtf8 ? ['The stream is not valid UTF-8'] : [];
      },
    },
  ],
);
