import { defineChecks } from '../../check.ts';
import { RuleViolationError, InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { ObservedStream } from '../../probe.ts';
import { interruptedStates, terminalStates } from '../../observation/task-tracker.ts';
import { type NormalizedEvent, eventState, partsToText } from '../../drivers/normalized-views.ts';

/** What the artifact events of a stream amount to, by artifact. */
function assembled(events: readonly NormalizedEvent[]): Map<string, string> {
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

function taskIdOf({ events }: ObservedStream): string {
  for (const event of events) {
    if (event.kind === 'task' && event.task.id !== undefined) return event.task.id;
    if ((event.kind === 'status' || event.kind === 'artifact') && event.taskId !== undefined)
      return event.taskId;
  }
  throw new InconclusiveError('The stream names no task.');
}

/** SendStreamingMessage: section 3.1.2, and what 3.5.2 says about the order of events. */
export const streamChecks = defineChecks([
  {
    id: 'stream.opens',
    requirements: ['STRM-001', 'STRM-002', 'STRM-007'],
    section: '3.1.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'A message that is to be streamed opens a stream of events that goes to the end of the task.',
    remedy: 'Answer with text/event-stream, and send every event as it happens.',
    versions: ['1.0', '0.3', '0.1'],
    preconditions: ['streaming'],
    async run(probe) {
      const followed = await probe.expectStream('stream', {
        message: probe.context.prompts.promptFor('completed'),
      });
      probe.expect(followed.exchange.status === 200, 'The stream has another status than 200');
      const states = followed.events.map(eventState).filter((state) => state !== '');
      const isMessage = followed.events.some(({ kind }) => kind === 'message');
      probe.expect(
        isMessage || terminalStates.has(states.at(-1) ?? '') || interruptedStates.has(states.at(-1) ?? ''),
        'The stream did not come to the end of the task, nor to a question',
        {
          actual: states.join(', '),
        },
      );
    },
  },
  {
    id: 'stream.message',
    requirements: ['STRM-004', 'STRM-008'],
    section: '3.1.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'A direct answer is a stream of one message, which is closed at once.',
    remedy: 'Send the message, and end the stream.',
    versions: ['1.0', '0.3'],
    preconditions: ['streaming'],
    async run(probe) {
      const followed = await probe.expectStream('stream', {
        message: probe.context.prompts.promptFor('message'),
      });
      const kinds = followed.events.map(({ kind }) => kind);
      if (!kinds.includes('message'))
        throw new InconclusiveError(`No message came, but ${kinds.join(', ')}.`);
      probe.expect(kinds.length === 1, 'There is more than the message', { actual: kinds.join(', ') });
      probe.expect(followed.isComplete, 'The stream was not closed after the message');
    },
  },
  {
    id: 'stream.ends',
    requirements: ['STRM-006'],
    section: '3.1.2',
    level: 'MUST',
    category: 'streaming',
    sentence:
      'A stream is closed when its task fails, is rejected or is canceled, not only when it is completed.',
    remedy: 'Close the stream with every status that ends a task.',
    versions: ['1.0', '0.3'],
    preconditions: ['streaming'],
    async run(probe) {
      for (const want of ['failed', 'rejected'] as const) {
        if (!probe.context.prompts.knows(want)) continue;
        const followed = await probe.expectStream(
          'stream',
          { message: probe.context.prompts.promptFor(want) },
          { deadline: 5_000 },
        );
        probe.expect(followed.isComplete, `The stream of a task that is ${want} was not closed`);
        const last = eventState(followed.events.at(-1));
        probe.expect(last === want, 'The last event is not the end of the task', {
          expected: want,
          actual: last,
        });
      }
    },
  },
  {
    id: 'stream.canceled',
    requirements: ['STRM-006', 'CANC-001'],
    section: '3.1.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'Whoever follows a task that is canceled hears so, and the stream is closed.',
    remedy: 'Send the status canceled to every stream of the task, and close them.',
    versions: ['1.0', '0.3', '0.1'],
    preconditions: ['streaming'],
    async run(probe) {
      let canceling: Promise<unknown> | undefined;
      const followed = await probe.expectStream(
        'stream',
        { message: probe.context.prompts.promptFor('slow') },
        {
          until: (event) => {
            const id =
              event.kind === 'task' ? event.task.id : event.kind === 'status' ? event.taskId : undefined;
            if (id !== undefined) canceling ??= probe.call('cancel', { id });
            return false;
          },
        },
      );
      await canceling;
      const last = eventState(followed.events.at(-1));
      probe.expect(last === 'canceled', 'The stream does not end with the cancellation', {
        expected: 'canceled',
        actual: last,
      });
      probe.expect(followed.isComplete, 'The stream was not closed');
    },
  },
  {
    id: 'stream.flushed',
    requirements: ['STRM-009'],
    section: '3.1.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'Events are sent when they happen, not all at the end.',
    remedy: 'Flush after each event, and let no proxy or compression hold them back.',
    versions: ['1.0', '0.3', '0.1'],
    preconditions: ['streaming'],
    async run(probe) {
      const { exchange, events } = await probe.expectStream('stream', {
        message: probe.context.prompts.promptFor('slow'),
      });
      const [first] = exchange.frames;
      const spread = exchange.totalMs - (first?.at ?? 0);
      if (exchange.totalMs < 800) throw new InconclusiveError('The task was too quick to tell.');
      probe.expect(events.length > 2, 'A task that takes its time told nothing on the way', {
        actual: String(events.length),
      });
      probe.expect(
        spread > exchange.totalMs / 3,
        `All events came at the end: the first after ${Math.round(first?.at ?? 0)} of ${Math.round(exchange.totalMs)} ms`,
      );
    },
  },
  {
    id: 'stream.terminal-task',
    requirements: ['STRM-010'],
    section: '3.1.2',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A message to a task that has ended opens no stream: UnsupportedOperation.',
    remedy: 'Answer -32004 before anything is streamed.',
    versions: ['1.0'],
    preconditions: ['streaming'],
    async run(probe) {
      const task = await probe.completeTask();
      const followed = await probe.openStream('stream', {
        message: { text: 'go on', taskId: task.id },
      });
      const response = {
        exchange: followed.exchange,
        ...(followed.error ? { error: followed.error } : { result: followed.events }),
      };
      probe.assertError(response, 'UnsupportedOperation', 'A stream to a finished task');
    },
  },
  {
    id: 'stream.unknown-task',
    requirements: ['STRM-011'],
    section: '3.1.2',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A message to a task that does not exist opens no stream: TaskNotFound.',
    remedy: 'Answer -32001 before anything is streamed.',
    versions: ['1.0', '0.3'],
    preconditions: ['streaming'],
    async run(probe) {
      const followed = await probe.openStream('stream', {
        message: { text: 'go on', taskId: crypto.randomUUID() },
      });
      const response = {
        exchange: followed.exchange,
        ...(followed.error ? { error: followed.error } : { result: followed.events }),
      };
      probe.assertError(response, 'TaskNotFound', 'A stream to an unknown task');
    },
  },
  {
    id: 'stream.chunks',
    requirements: ['MODEL-011', 'ORD-001', 'REST-019'],
    section: '4.2.2',
    level: 'MUST',
    category: 'streaming',
    sentence:
      'The chunks of an artifact, put together in the order in which they came, are the artifact that is stored.',
    remedy:
      'Store what you stream, send chunks in order and each once, and mark them with append and lastChunk.',
    versions: ['1.0', '0.3', '0.1'],
    preconditions: ['streaming'],
    async run(probe) {
      const followed = await probe.expectStream('stream', {
        message: probe.context.prompts.promptFor('chunks'),
      });
      const streamed = assembled(followed.events);
      const updates = followed.events.filter(({ kind }) => kind === 'artifact');
      probe.expect(updates.length > 0, 'A task that makes chunks streamed none');
      const task = await probe.waitUntilTerminalOrInterrupted(taskIdOf(followed));
      const stored = new Map((task.artifacts ?? []).map(({ id, parts }) => [id, partsToText(parts)]));
      for (const [id, text] of streamed)
        probe.expect(stored.get(id) === text, `Artifact ${id} is stored otherwise than it was streamed`, {
          expected: text.slice(0, 300),
          actual: (stored.get(id) ?? 'nothing').slice(0, 300),
        });
      probe.expect(stored.size === streamed.size, 'Some artifacts were not streamed', {
        expected: String(stored.size),
        actual: String(streamed.size),
      });
      const numbers = [...[...streamed.values()].join('').matchAll(/chunk (\d+);/g)].map(([, number]) =>
        Number(number),
      );
      const isOrdered = numbers.every(
        (number, index) => index === 0 || number === (numbers[index - 1] ?? 0) + 1,
      );
      probe.expect(isOrdered, 'The chunks came in another order', { actual: numbers.join(', ') });
    },
  },
  {
    id: 'stream.same-as-get',
    requirements: ['BIND-002', 'GET-001'],
    section: '3.1.3',
    level: 'MUST',
    category: 'streaming',
    sentence: 'A task that was streamed can be asked for afterwards, and is what the stream said.',
    remedy: 'Store each event before it is sent.',
    versions: ['1.0', '0.3', '0.1'],
    preconditions: ['streaming'],
    async run(probe) {
      const followed = await probe.expectStream('stream', {
        message: probe.context.prompts.promptFor('artifact'),
      });
      const last = followed.events.findLast((event) => eventState(event) !== '');
      if (!last) throw new InconclusiveError('The stream tells of no state.');
      const task = await probe.getTask(taskIdOf(followed));
      probe.expect(task.state === eventState(last), 'The task is in another state than the stream said', {
        expected: eventState(last),
        actual: task.state,
      });
    },
  },
  {
    id: 'stream.hang-up',
    requirements: ['ORD-006', 'MSG-003'],
    section: '3.5.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'A task goes on when the one who follows it hangs up.',
    remedy: 'Do not tie the work to the connection.',
    versions: ['1.0', '0.3', '0.1'],
    preconditions: ['streaming'],
    async run(probe) {
      const followed = await probe.expectStream(
        'stream',
        { message: probe.context.prompts.promptFor('slow') },
        { until: () => true },
      );
      const id = taskIdOf(followed);
      const task = await probe.waitUntilTerminalOrInterrupted(id);
      probe.expect(task.state === 'completed', 'The task did not go on after its reader was gone', {
        expected: 'completed',
        actual: task.state,
      });
    },
  },
  {
    id: 'stream.input-required',
    requirements: ['STRM-001', 'ERR-024'],
    section: '3.1.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'A stream shows that input is required, and the next message can be streamed too.',
    remedy: 'Send the status input-required, and take the next message of the task.',
    versions: ['1.0', '0.3'],
    preconditions: ['streaming'],
    async run(probe) {
      const followed = await probe.expectStream(
        'stream',
        { message: probe.context.prompts.promptFor('input-required') },
        { until: (event) => eventState(event) === 'input-required' },
      );
      const states = followed.events.map(eventState);
      if (!states.includes('input-required'))
        throw new InconclusiveError(`The task never asked: ${states.join(', ')}.`);
      const taskId = taskIdOf(followed);
      const next = await probe.expectStream('stream', { message: { text: 'the first one', taskId } });
      const end = eventState(next.events.findLast((event) => eventState(event) !== ''));
      probe.expect(
        terminalStates.has(end) || end === 'input-required',
        'The second stream did not come to a rest',
        { actual: end },
      );
      probe.expect(taskIdOf(next) === taskId, 'The second stream is of another task', {
        expected: taskId,
        actual: taskIdOf(next),
      });
    },
  },
  {
    id: 'capability.no-streaming',
    requirements: ['CAP-001', 'CAP-003'],
    section: '3.3.4',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'An agent that does not stream refuses to: UnsupportedOperation.',
    remedy: 'Answer -32004 to SendStreamingMessage and SubscribeToTask, or declare streaming.',
    versions: ['1.0'],
    preconditions: ['no-streaming'],
    async run(probe) {
      const followed = await probe.openStream('stream', { message: probe.context.prompts.anyPrompt() });
      const response = {
        exchange: followed.exchange,
        ...(followed.error ? { error: followed.error } : { result: followed.events }),
      };
      probe.assertError(response, 'UnsupportedOperation', 'A stream that the card does not offer');
      const task = await probe.completeTask();
      const subscribed = await probe.openStream('subscribe', { id: task.id });
      if (!subscribed.error)
        throw new RuleViolationError(
          `A subscription was not refused: ${describeResponse(probe.driver.decode(subscribed.exchange))}`,
        );
    },
  },
]);
