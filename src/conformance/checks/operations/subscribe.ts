import { must } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { type NormalizedEvent, eventState, eventTaskId } from '../../drivers/normalized-views.ts';
import { terminalStates } from '../../observation/task-tracker.ts';

/** Returns the part of an event that must be equal for all subscribers. */
function fingerprint(event: NormalizedEvent): string {
  if (event.kind === 'status') return `status ${event.state} ${event.timestamp ?? ''}`;
  return event.kind === 'artifact' ? `artifact ${JSON.stringify(event.artifact?.parts)}` : event.kind;
}

const shared = { category: 'streaming', versions: ['1.0'], preconditions: ['streaming'] } as const;

/** SubscribeToTask: section 3.1.6, and several subscribers: section 3.5.2. */
export const subscribeChecks = defineChecks(shared, [
  {
    id: 'subscribe.running',
    ...must('3.1.6', 'SUBS-001', 'SUBS-002', 'SUBS-005'),
    sentence:
      'A subscription to a working task sends the task, then its events, and closes the stream when the task ends.',
    remedy: 'Send the current task first, then its events, and close the stream after the last one.',
    async run(probe) {
      const { id } = await probe.startSlowTask();
      const { events, isComplete } = await probe.expectStream('subscribe', { id });
      const [first] = events;
      probe.expect(first?.kind === 'task', 'The first event is not a task', { actual: first?.kind });
      probe.expect(first?.kind === 'task' && first.task.id === id, 'The first event is another task');
      const actual = eventState(events.at(-1));
      probe.expect(terminalStates.has(actual), 'The stream ended before the task', { actual });
      probe.expect(isComplete, 'The stream was not closed after the task ended');
    },
  },
  {
    id: 'subscribe.current',
    ...must('3.1.6', 'SUBS-002', 'ORD-001'),
    sentence: 'A subscription starts with the task in its current state.',
    remedy: 'Read the task from the store when the subscription starts, not from a copy made earlier.',
    async run(probe) {
      const { id } = await probe.startSlowTask();
      const known = await probe.pollTask(id, ({ state }) => state !== 'submitted');
      const { events } = await probe.openStream('subscribe', { id }, { until: () => true });
      const [first] = events;
      if (first?.kind !== 'task')
        throw new InconclusiveError(
          `The subscription starts with ${first?.kind ?? 'no event'}, not with the task.`,
        );
      const { state, timestamp = '', artifacts = [] } = first.task;
      probe.expect(
        state !== 'submitted',
        'The task of the subscription is older than that of an earlier get',
        {
          expected: known.state,
          actual: state,
        },
      );
      const isOlder = Date.parse(timestamp) < Date.parse(known.timestamp ?? '');
      probe.expect(!isOlder, 'The status of the subscription is older than that of an earlier get', {
        expected: `${known.timestamp} or later`,
        actual: timestamp,
      });
      const ids = artifacts.map((each) => each.id);
      const missing = (known.artifacts ?? []).map((each) => each.id).filter((each) => !ids.includes(each));
      probe.expectEmpty(missing, 'The task of the subscription lacks artifacts of an earlier get');
    },
  },
  {
    id: 'subscribe.again-0.3',
    ...must('7.9', '0.3/resubscribe'),
    sentence: 'A client can resubscribe to a working task.',
    remedy: 'Send the events of the task from the time of the subscription to its end.',
    versions: ['0.3', '0.1'],
    async run(probe) {
      const { events: opened } = await probe.streamPrompt('slow', { until: (_event, index) => index >= 1 });
      const [id = ''] = opened.flatMap((event) => eventTaskId(event) ?? []);
      const { events } = await probe.expectStream('subscribe', { id });
      const actual = eventState(events.at(-1));
      probe.expect(terminalStates.has(actual), 'The stream ended before the task', { actual });
    },
  },
  {
    id: 'subscribe.terminal',
    ...must('3.1.6', 'SUBS-003'),
    category: 'error-handling',
    sentence: 'The agent rejects a subscription to a task in a terminal state with UnsupportedOperation.',
    remedy: 'Return -32004; clients get the task with GetTask instead.',
    async run(probe) {
      const { id } = await probe.completeTask();
      const subject = 'A subscription to a completed task';
      await probe.expectStreamError('subscribe', { id }, 'UnsupportedOperation', subject);
    },
  },
  {
    id: 'subscribe.unknown',
    ...must('3.1.6', 'SUBS-004'),
    category: 'error-handling',
    sentence: 'The agent rejects a subscription to an unknown task with TaskNotFound.',
    remedy: 'Return -32001 (HTTP 404).',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const id = crypto.randomUUID();
      await probe.expectStreamError('subscribe', { id }, 'TaskNotFound', 'A subscription to an unknown task');
    },
  },
  {
    id: 'subscribe.two',
    ...must('3.5.2', 'ORD-003', 'ORD-004', 'ORD-005'),
    sentence: 'The agent sends the same events in the same order to all subscribers of a task.',
    remedy: 'Send each event to every stream of the task.',
    async run(probe) {
      const { id } = await probe.startSlowTask();
      const [one, two] = await Promise.all([
        probe.expectStream('subscribe', { id }),
        probe.expectStream('subscribe', { id }),
      ]);
      const fingerprints = [one, two].map(({ events }) => events.slice(1).map(fingerprint));
      const [shorter = [], longer = []] = fingerprints.toSorted((a, b) => a.length - b.length);
      const isSame = shorter.every((each, index) => each === longer[longer.length - shorter.length + index]);
      probe.expect(shorter.length > 0, 'One of two subscribers received no events');
      const evidence = { expected: longer, actual: shorter, exchanges: [one.exchange, two.exchange] };
      const isEqual = isSame && longer.length - shorter.length <= 1;
      probe.expect(isEqual, 'Two subscribers of one task received different events', evidence);
    },
  },
  {
    id: 'subscribe.one-leaves',
    ...must('3.5.2', 'ORD-006'),
    sentence: 'The agent continues to send events to the other subscribers when one disconnects.',
    remedy: 'Close only the stream of the subscriber that disconnects, not the task.',
    async run(probe) {
      const { id } = await probe.startSlowTask();
      const [remaining] = await Promise.all([
        probe.expectStream('subscribe', { id }),
        probe.expectStream('subscribe', { id }, { until: () => true }),
      ]);
      const actual = eventState(remaining.events.at(-1));
      probe.expect(
        terminalStates.has(actual) && actual !== 'canceled',
        'The remaining subscriber did not receive the end of the task',
        { actual },
      );
    },
  },
]);
