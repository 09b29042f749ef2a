import { defineChecks } from '../../check.ts';
import type { ObservedStream } from '../../probe.ts';
import { terminalStates } from '../../observation/task-tracker.ts';
import type { DecodedResponse } from '../../drivers/protocol-driver.ts';
import { type NormalizedEvent, eventState } from '../../drivers/normalized-views.ts';

function heardOf({ exchange, error, events }: ObservedStream): DecodedResponse {
  return error ? { exchange, error } : { exchange, result: events };
}

/** An event without what may differ between two readers. */
function gist(event: NormalizedEvent): string {
  if (event.kind === 'status') return `status ${event.state} ${event.timestamp ?? ''}`;
  return event.kind === 'artifact' ? `artifact ${JSON.stringify(event.artifact?.parts)}` : event.kind;
}

/** SubscribeToTask: section 3.1.6, and what 3.5.2 says about several readers. */
export const subscribeChecks = defineChecks([
  {
    id: 'subscribe.running',
    requirements: ['SUBS-001', 'SUBS-002', 'SUBS-005'],
    section: '3.1.6',
    level: 'MUST',
    category: 'streaming',
    sentence:
      'A task that runs can be followed: first as it stands, then to its end, and the stream is closed.',
    remedy: 'Send the task as it stands, then its events, and close with the last one.',
    versions: ['1.0'],
    preconditions: ['streaming'],
    async run(probe) {
      const task = await probe.startSlowTask();
      const followed = await probe.expectStream('subscribe', { id: task.id });
      const [first] = followed.events;
      probe.expect(first?.kind === 'task', 'The first event is not the task', {
        actual: first?.kind ?? 'none',
      });
      probe.expect(first?.kind === 'task' && first.task.id === task.id, 'The first event is another task');
      const last = eventState(followed.events.at(-1));
      probe.expect(terminalStates.has(last), 'The stream does not come to the end of the task', {
        actual: last,
      });
      probe.expect(followed.isComplete, 'The stream was not closed after the end of the task');
    },
  },
  {
    id: 'subscribe.again-0.3',
    requirements: ['0.3/resubscribe'],
    section: '7.9',
    level: 'MUST',
    category: 'streaming',
    sentence: 'A task that runs can be followed again.',
    remedy: 'Send the events of the task from now on, to its end.',
    versions: ['0.3', '0.1'],
    preconditions: ['streaming'],
    async run(probe) {
      const opened = await probe.expectStream(
        'stream',
        { message: probe.context.prompts.promptFor('slow') },
        { until: (_event, index) => index >= 1 },
      );
      const id = opened.events
        .map((event) =>
          event.kind === 'task' ? event.task.id : event.kind === 'status' ? event.taskId : undefined,
        )
        .find((each) => each !== undefined);
      const followed = await probe.expectStream('subscribe', { id: id ?? '' });
      const last = eventState(followed.events.at(-1));
      probe.expect(terminalStates.has(last), 'The stream does not come to the end of the task', {
        actual: last,
      });
    },
  },
  {
    id: 'subscribe.terminal',
    requirements: ['SUBS-003'],
    section: '3.1.6',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A task that has ended cannot be followed: UnsupportedOperation.',
    remedy: 'Answer -32004, and let callers ask for the task instead.',
    versions: ['1.0'],
    preconditions: ['streaming'],
    async run(probe) {
      const task = await probe.completeTask();
      probe.assertError(
        heardOf(await probe.openStream('subscribe', { id: task.id })),
        'UnsupportedOperation',
        'Following a finished task',
      );
    },
  },
  {
    id: 'subscribe.unknown',
    requirements: ['SUBS-004'],
    section: '3.1.6',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A task that does not exist cannot be followed: TaskNotFound.',
    remedy: 'Answer -32001 (HTTP 404).',
    versions: ['1.0', '0.3', '0.1'],
    preconditions: ['streaming'],
    async run(probe) {
      probe.assertError(
        heardOf(await probe.openStream('subscribe', { id: crypto.randomUUID() })),
        'TaskNotFound',
        'Following an unknown task',
      );
    },
  },
  {
    id: 'subscribe.two',
    requirements: ['ORD-003', 'ORD-004', 'ORD-005'],
    section: '3.5.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'All who follow a task see the same events in the same order.',
    remedy: 'Give each event to every stream of the task.',
    versions: ['1.0'],
    preconditions: ['streaming'],
    async run(probe) {
      const task = await probe.startSlowTask();
      const input = { id: task.id };
      const [one, two] = await Promise.all([
        probe.expectStream('subscribe', input),
        probe.expectStream('subscribe', input),
      ]);
      const gists = [one, two].map(({ events }) => events.slice(1).map(gist));
      const [shorter = [], longer = []] = gists.toSorted((a, b) => a.length - b.length);
      const isSame = shorter.every((each, index) => each === longer[longer.length - shorter.length + index]);
      probe.expect(shorter.length > 0, 'One of two readers saw no event at all');
      probe.expect(
        isSame && longer.length - shorter.length <= 1,
        'Two readers of one task saw different events',
        {
          expected: longer.join(' | ').slice(0, 300),
          actual: shorter.join(' | ').slice(0, 300),
          exchanges: [one.exchange, two.exchange],
        },
      );
    },
  },
  {
    id: 'subscribe.one-leaves',
    requirements: ['ORD-006'],
    section: '3.5.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'When one who follows leaves, the others go on.',
    remedy: 'End one stream only, and not the task.',
    versions: ['1.0'],
    preconditions: ['streaming'],
    async run(probe) {
      const task = await probe.startSlowTask();
      const input = { id: task.id };
      const [stays] = await Promise.all([
        probe.expectStream('subscribe', input),
        probe.expectStream('subscribe', input, { until: () => true }),
      ]);
      const last = eventState(stays.events.at(-1));
      probe.expect(
        terminalStates.has(last) && last !== 'canceled',
        'The reader that stayed did not see the end',
        {
          actual: last,
        },
      );
    },
  },
]);
