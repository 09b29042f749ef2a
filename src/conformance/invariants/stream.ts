import { interruptedStates, terminalStates } from '../observation/task-tracker.ts';
import { defineInvariants } from '../observation/observation.ts';
import { type NormalizedEvent, eventState } from '../drivers/normalized-views.ts';

const remedies = {
  first: 'Send the task as it stands before anything else.',
  close: 'Close the stream with the status that ends the task.',
} as const;

function taskIdIn(event: NormalizedEvent): string | undefined {
  if (event.kind === 'task') return event.task.id;
  return event.kind === 'status' || event.kind === 'artifact' ? event.taskId : undefined;
}

function contextIdIn(event: NormalizedEvent): string | undefined {
  if (event.kind === 'task') return event.task.contextId;
  return event.kind === 'status' || event.kind === 'artifact' ? event.contextId : undefined;
}

/** What every stream must be, whatever it is about. */
export const streamInvariants = defineInvariants([
  {
    id: 'stream.first',
    requirements: ['STRM-005', 'SUBS-002', 'STRM-003'],
    section: '3.1.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'A stream begins with the whole task, or consists of one message.',
    remedy: remedies.first,
    versions: ['1.0'],
    check(observation) {
      if (observation.kind !== 'stream' || observation.events.length === 0) return undefined;
      const [first] = observation.events;
      return first?.kind === 'task' || first?.kind === 'message'
        ? []
        : [`The first event is a ${first?.kind}`];
    },
  },
  {
    id: 'stream.mixture',
    requirements: ['STRM-003', 'STRM-004'],
    section: '3.1.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'A stream is one message, or the life of a task, and never both.',
    remedy: 'End the stream after a direct message; put what an agent says about a task into its status.',
    versions: ['1.0', '0.3'],
    check(observation) {
      if (observation.kind !== 'stream' || observation.events.length === 0) return undefined;
      const messages = observation.events.filter(({ kind }) => kind === 'message').length;
      if (messages === 0 || observation.events.length === 1) return [];
      return [`${messages} messages among ${observation.events.length} events`];
    },
  },
  {
    id: 'stream.after-terminal',
    requirements: ['STRM-006', 'SUBS-001', 'ORD-001'],
    section: '3.1.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'Nothing follows the event that ends a task.',
    remedy: 'Send artifacts before the last status, and close.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (observation.kind !== 'stream' || observation.events.length === 0) return undefined;
      const at = observation.events.findIndex((event) => terminalStates.has(eventState(event)));
      if (at < 0) return [];
      // A task as it stands at last may close the stream.
      const rest = observation.events.slice(at + 1).filter(({ kind }) => kind !== 'task');
      return rest.length === 0
        ? []
        : [`A ${rest[0]?.kind} came after the status ${eventState(observation.events[at])}`];
    },
  },
  {
    id: 'stream.closes',
    requirements: ['STRM-006', 'SUBS-001'],
    section: '3.1.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'A stream is closed once its task has ended, and not before it has ended or waits.',
    remedy: remedies.close,
    versions: ['1.0', '0.3', '0.1'],
    check({ exchange, ...observation }) {
      if (observation.kind !== 'stream' || observation.events.length === 0) return undefined;
      const states = observation.events.map(eventState).filter((state) => state !== '');
      const last = states.at(-1) ?? '';
      if (exchange.end === 'timeout' && states.some((state) => terminalStates.has(state)))
        return [`The task was ${last}, but the stream stayed open`];
      if (exchange.end === 'truncated')
        return [`The connection was cut after ${observation.events.length} events`];
      if (!observation.isComplete || observation.events.some(({ kind }) => kind === 'message'))
        return undefined;
      if (terminalStates.has(last) || interruptedStates.has(last)) return [];
      return [`The stream ended while the task was ${last === '' ? 'in no state at all' : last}`];
    },
  },
  {
    id: 'stream.ids',
    requirements: ['MODEL-010', 'MODEL-011'],
    section: '4.2.1',
    level: 'MUST',
    category: 'streaming',
    sentence: 'All events of a stream name one task and one context.',
    remedy: 'Copy taskId and contextId from the task into each of its events.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (observation.kind !== 'stream' || observation.events.length === 0) return undefined;
      const tasks = new Set(observation.events.map(taskIdIn).filter((id) => id !== undefined));
      const contexts = new Set(observation.events.map(contextIdIn).filter((id) => id !== undefined));
      const wrong: string[] = [];
      if (tasks.size > 1) wrong.push(`Events of ${tasks.size} tasks: ${[...tasks].join(', ')}`);
      if (contexts.size > 1) wrong.push(`Events of ${contexts.size} contexts: ${[...contexts].join(', ')}`);
      return wrong;
    },
  },
  {
    id: 'stream.state-order',
    requirements: ['ORD-001', 'ORD-002'],
    section: '3.5.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'States do not go backwards: a task that works is not submitted again.',
    remedy: 'Send events in the order in which they happened.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (observation.kind !== 'stream' || observation.events.length === 0) return undefined;
      let hasBegun = false;
      for (const event of observation.events) {
        const state = eventState(event);
        if (state === '') continue;
        if (state === 'submitted' && hasBegun) return ['A task that had begun was submitted again'];
        if (state !== 'submitted') hasBegun = true;
      }
      return [];
    },
  },
  {
    id: 'stream.time-order',
    requirements: ['ORD-001', 'ORD-002'],
    section: '3.5.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'The moments of the statuses of a stream do not go backwards.',
    remedy: 'Send events in the order in which they happened.',
    versions: ['1.0', '0.3'],
    check(observation) {
      if (observation.kind !== 'stream') return undefined;
      const times = observation.events
        .map((event) =>
          event.kind === 'status'
            ? event.timestamp
            : event.kind === 'task'
              ? event.task.timestamp
              : undefined,
        )
        .filter((time) => time !== undefined)
        .map((time) => Date.parse(time));
      if (times.length < 2) return undefined;
      const at = times.findIndex((time, index) => index > 0 && time < (times[index - 1] ?? 0));
      return at < 0 ? [] : [`Status ${at + 1} is older than the one before it`];
    },
  },
  {
    id: 'stream.append',
    requirements: ['MODEL-011'],
    section: '4.2.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'What is appended belongs to an artifact that was begun, and nothing follows its last chunk.',
    remedy: 'Send the first chunk with append false, and lastChunk true with the last one only.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (observation.kind !== 'stream' || observation.operation !== 'stream') return undefined;
      const begun = new Set<string>();
      const closed = new Set<string>();
      const wrong: string[] = [];
      let hasAny = false;
      for (const event of observation.events) {
        if (event.kind === 'task') for (const { id } of event.task.artifacts ?? []) begun.add(id);
        if (event.kind !== 'artifact' || !event.artifact) continue;
        hasAny = true;
        const { id } = event.artifact;
        if (event.append && !begun.has(id)) wrong.push(`Artifact ${id} was appended to before it was begun`);
        if (event.append && closed.has(id)) wrong.push(`Artifact ${id} was appended to after its last chunk`);
        begun.add(id);
        if (event.lastChunk) closed.add(id);
      }
      return hasAny ? wrong : undefined;
    },
  },
  {
    id: 'stream.frames',
    requirements: ['RPC-009', 'REST-021', 'STRM-002'],
    section: '9.4.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'Every frame of a stream carries one JSON object that is an event.',
    remedy: 'Write each event as one data field with JSON in it, and a blank line after it.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (observation.kind === 'event')
        return observation.event.kind === 'unknown'
          ? [`Event ${observation.index}: ${observation.event.why}`]
          : [];
      if (observation.kind !== 'stream') return undefined;
      const names = new Set(['data', 'id', 'event', 'retry', '']);
      const odd = observation.exchange.frames
        .flatMap(({ fields }) => fields.map(([name]) => name))
        .find((name) => !names.has(name));
      if (odd !== undefined)
        return [`A line begins with ${JSON.stringify(odd)}, which is no field of an event`];
      return observation.exchange.hasInvalidUtf8 ? ['The stream is not UTF-8'] : [];
    },
  },
]);
