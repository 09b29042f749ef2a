import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { textOf } from '../../protocol/part.ts';
import { reduce } from '../../protocol/reduce.ts';
import type { Task } from '../../protocol/task.ts';
import type { StreamFrame, FrameStream } from '../transports/transport-binding.ts';
import { resolveSettings } from '../connect-options.ts';
import { type StreamSource, ResumableStream } from './resumable-stream.ts';

const ids = { taskId: 't', contextId: 'c' };

/** Returns a task, numbered chunks of two artifacts, and the final status. */
function createEvents(length: number): StreamEvent[] {
  const events: StreamEvent[] = [
    { kind: 'task', task: { id: 't', contextId: 'c', status: { state: 'submitted' } } },
  ];
  const started = new Set<string>();
  for (let n = 1; n <= length; n++) {
    const artifactId = n % 3 === 0 ? 'b' : 'a';
    events.push({
      kind: 'artifact',
      ...ids,
      append: started.has(artifactId),
      artifact: { artifactId, parts: [{ text: `<${n}>` }] },
    });
    started.add(artifactId);
  }
  events.push({ kind: 'status', ...ids, status: { state: 'completed' } });
  return events;
}

type ResumeMode =
  | 'after the last event id'
  | 'from the first event'
  | 'with a snapshot'
  | 'with live events only';

/** An agent whose connections are interrupted at given positions. Some events happen while no client is connected. */
class InterruptedAgent implements StreamSource {
  readonly #events: StreamEvent[];
  readonly #mode: ResumeMode;
  readonly #interruptions: { after: number; missed: number }[];
  #at = 0;

  constructor(mode: ResumeMode, events: StreamEvent[], interruptions: { after: number; missed: number }[]) {
    this.#mode = mode;
    this.#events = events;
    this.#interruptions = [...interruptions];
  }

  open = (): Promise<FrameStream> => Promise.resolve(this.#connection(0));

  reopen = (_taskId: string, lastEventId: string | undefined): Promise<FrameStream> => {
    if (this.#mode === 'after the last event id')
      return Promise.resolve(this.#connection(Number(lastEventId) + 1));
    if (this.#mode === 'from the first event') return Promise.resolve(this.#connection(0));
    // The task has ended, so there is no further event to subscribe to.
    if (this.#at >= this.#events.length) return Promise.reject(new A2AError('UNSUPPORTED_OPERATION'));
    return Promise.resolve(
      this.#mode === 'with a snapshot' ? this.#withSnapshot() : this.#connection(this.#at),
    );
  };

  getTask = (): Promise<Task> => Promise.resolve(this.#snapshot());

  startsWithSnapshot = (frame: StreamFrame): boolean => frame.events[0]?.kind === 'task';

  #snapshot(): Task {
    return reduce(structuredClone(this.#events.slice(0, this.#at))) as Task;
  }

  async *#withSnapshot(): AsyncGenerator<readonly StreamFrame[]> {
    const at = this.#at;
    yield [{ id: undefined, events: [{ kind: 'task', task: this.#snapshot() }] }];
    yield* this.#connection(at);
  }

  async *#connection(from: number): AsyncGenerator<readonly StreamFrame[]> {
    const interruption = this.#interruptions.shift();
    const end = interruption ? Math.min(this.#events.length, from + interruption.after) : this.#events.length;
    const hasIds = this.#mode === 'after the last event id' || this.#mode === 'from the first event';
    for (let n = from; n < end; n++) {
      this.#at = Math.max(this.#at, n + 1);
      yield [
        { id: hasIds ? String(n) : undefined, events: [structuredClone(this.#events[n] as StreamEvent)] },
      ];
    }
    if (interruption) this.#at = Math.min(this.#events.length, Math.max(this.#at, end + interruption.missed));
    if (interruption) throw new A2AError('UNAVAILABLE');
  }
}

const settings = resolveSettings({
  random: () => 0,
  clock: {
    now: () => 0,
    monotonic: () => 0,
    every: () => () => {},
    after: (_ms, run) => (queueMicrotask(run), () => {}),
  },
  maxResumes: 3,
});

describe('ResumableStream', () => {
  const interruptions = fc.array(
    fc.record({ after: fc.integer({ min: 1, max: 6 }), missed: fc.integer({ min: 0, max: 4 }) }),
    { maxLength: 6 },
  );

  it.each<ResumeMode>([
    'after the last event id',
    'from the first event',
    'with a snapshot',
    'with live events only',
  ])('returns every event once when the agent resumes %s', async (mode) => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 15 }), interruptions, async (length, positions) => {
        const all = createEvents(length);
        // An agent that repeats from the first event must get beyond the known events, or the stream would never end.
        const agent = new InterruptedAgent(
          mode,
          all,
          mode === 'from the first event'
            ? positions.map((each, i) => ({ ...each, after: each.after + 6 * i }))
            : positions,
        );
        const received: StreamEvent[] = [];
        const stream = new ResumableStream(settings, agent, new AbortController().signal);
        for await (const batch of await stream.start()) received.push(...batch);
        const textsOf = (events: StreamEvent[]) =>
          ((reduce(events) as Task).artifacts ?? []).map(({ artifactId, parts }) => [
            artifactId,
            textOf(parts),
          ]);
        expect(Object.fromEntries(textsOf(received))).toEqual(Object.fromEntries(textsOf(all)));
        expect(received.filter(({ kind }) => kind === 'task')).toHaveLength(1);
        const chunks = received.flatMap((event) =>
          event.kind === 'artifact' ? [textOf(event.artifact.parts)] : [],
        );
        expect(chunks.join('').match(/<\d+>/g)?.length ?? 0).toBe(length);
        expect(received.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
      }),
      { numRuns: 200 },
    );
  });
});
