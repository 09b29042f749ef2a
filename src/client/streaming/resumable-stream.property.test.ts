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

/** A task, some numbered chunks of two artifacts with a word now and then, and the end. */
function story(length: number): StreamEvent[] {
  const events: StreamEvent[] = [
    { kind: 'task', task: { id: 't', contextId: 'c', status: { state: 'submitted' } } },
  ];
  const begun = new Set<string>();
  for (let n = 1; n <= length; n++) {
    const artifactId = n % 3 === 0 ? 'b' : 'a';
    events.push({
      kind: 'artifact',
      ...ids,
      append: begun.has(artifactId),
      artifact: { artifactId, parts: [{ text: `<${n}>` }] },
    });
    begun.add(artifactId);
  }
  events.push({ kind: 'status', ...ids, status: { state: 'completed' } });
  return events;
}

type Kind = 'counts' | 'counts and repeats' | 'shows the task' | 'goes on live';

/** An agent whose connections break where the test says; meanwhile some events pass unseen. */
class Breaking implements StreamSource {
  readonly #story: StreamEvent[];
  readonly #kind: Kind;
  readonly #breaks: { after: number; missed: number }[];
  #at = 0;

  constructor(kind: Kind, story: StreamEvent[], breaks: { after: number; missed: number }[]) {
    this.#kind = kind;
    this.#story = story;
    this.#breaks = [...breaks];
  }

  open = (): Promise<FrameStream> => Promise.resolve(this.#connection(0));

  reopen = (_taskId: string, lastEventId: string | undefined): Promise<FrameStream> => {
    if (this.#kind === 'counts') return Promise.resolve(this.#connection(Number(lastEventId) + 1));
    if (this.#kind === 'counts and repeats') return Promise.resolve(this.#connection(0));
    // It is over, or will be with the next event, which nobody would hear of.
    if (this.#at >= this.#story.length) return Promise.reject(new A2AError('UNSUPPORTED_OPERATION'));
    return Promise.resolve(
      this.#kind === 'shows the task' ? this.#withPicture() : this.#connection(this.#at),
    );
  };

  getTask = (): Promise<Task> => Promise.resolve(this.#picture());

  beginsWithTask = (frame: StreamFrame): boolean => frame.events[0]?.kind === 'task';

  #picture(): Task {
    return reduce(structuredClone(this.#story.slice(0, this.#at))) as Task;
  }

  async *#withPicture(): AsyncGenerator<readonly StreamFrame[]> {
    const at = this.#at;
    yield [{ id: undefined, events: [{ kind: 'task', task: this.#picture() }] }];
    yield* this.#connection(at);
  }

  async *#connection(from: number): AsyncGenerator<readonly StreamFrame[]> {
    const cut = this.#breaks.shift();
    const end = cut ? Math.min(this.#story.length, from + cut.after) : this.#story.length;
    const counts = this.#kind.startsWith('counts');
    for (let n = from; n < end; n++) {
      this.#at = Math.max(this.#at, n + 1);
      yield [
        { id: counts ? String(n) : undefined, events: [structuredClone(this.#story[n] as StreamEvent)] },
      ];
    }
    if (cut) this.#at = Math.min(this.#story.length, Math.max(this.#at, end + cut.missed));
    if (cut) throw new A2AError('UNAVAILABLE');
  }
}

const settings = resolveSettings({
  random: () => 0,
  clock: { now: () => 0, every: () => () => {}, after: (_ms, run) => (queueMicrotask(run), () => {}) },
  maxResumes: 3,
});

describe('following through broken connections', () => {
  const breaks = fc.array(
    fc.record({ after: fc.integer({ min: 1, max: 6 }), missed: fc.integer({ min: 0, max: 4 }) }),
    { maxLength: 6 },
  );

  it.each<Kind>(['counts', 'counts and repeats', 'shows the task', 'goes on live'])(
    'tells everything once where the agent %s',
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: 15 }), breaks, async (length, cuts) => {
          const whole = story(length);
          // An agent that repeats from the beginning must get beyond what was seen, or nobody would ever hear the end.
          const agent = new Breaking(
            kind,
            whole,
            kind === 'counts and repeats'
              ? cuts.map((cut, i) => ({ ...cut, after: cut.after + 6 * i }))
              : cuts,
          );
          const told: StreamEvent[] = [];
          const follower = new ResumableStream(settings, agent, new AbortController().signal);
          for await (const batch of await follower.start()) told.push(...batch);
          const textsOf = (events: StreamEvent[]) =>
            ((reduce(events) as Task).artifacts ?? []).map(({ artifactId, parts }) => [
              artifactId,
              textOf(parts),
            ]);
          expect(Object.fromEntries(textsOf(told))).toEqual(Object.fromEntries(textsOf(whole)));
          expect(told.filter(({ kind }) => kind === 'task')).toHaveLength(1);
          const chunks = told.flatMap((event) =>
            event.kind === 'artifact' ? [textOf(event.artifact.parts)] : [],
          );
          expect(chunks.join('').match(/<\d+>/g)?.length ?? 0).toBe(length);
          expect(told.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
        }),
        { numRuns: 200 },
      );
    },
  );
});
