import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskArtifactUpdateEvent, StreamEvent } from './event.ts';
import type { Message } from './message.ts';
import type { Part } from './part.ts';
import { startReducer, reduce, type TaskChange, TaskReducer } from './reduce.ts';
import type { Task, TaskState } from './task.ts';

const ids = { taskId: 't', contextId: 'c' };
const task: Task = { id: 't', contextId: 'c', status: { state: 'submitted' } };
const say = (messageId: string): Message => ({ messageId, role: 'agent', parts: [{ text: messageId }] });
const status = (state: TaskState, message?: Message): StreamEvent => ({
  kind: 'status',
  ...ids,
  status: message ? { state, message } : { state },
});
const artifact = (
  parts: Part[],
  rest: Partial<TaskArtifactUpdateEvent> & { artifactId?: string } = {},
): StreamEvent => {
  const { artifactId = 'a', ...event } = rest;
  return { kind: 'artifact', ...ids, artifact: { artifactId, parts }, ...event };
};
const text = (value: string): Part => ({ text: value });

describe('folding', () => {
  it('begins with the very task it was given', () => {
    expect(new TaskReducer(task).task()).toBe(task);
  });

  it('takes over the newest status', () => {
    const fold = new TaskReducer(task);
    fold.apply(status('working'));
    expect(fold.status).toEqual({ state: 'working' });
    expect(fold.task()).toEqual({ ...task, status: { state: 'working' } });
  });

  it('moves what was said with a status into history when the next one comes', () => {
    const events = [status('working', say('1')), status('working', say('2')), status('completed')];
    expect(reduce([{ kind: 'task', task }, ...events])).toEqual({
      ...task,
      status: { state: 'completed' },
      history: [say('1'), say('2')],
    });
  });

  it('remembers what the caller said after what it answers to', () => {
    const input: TaskChange = { kind: 'input', message: { ...say('answer'), role: 'user' } };
    const fold = new TaskReducer(task);
    fold.apply(status('input-required', say('question')));
    fold.apply(input);
    expect(fold.task().history?.map((each) => each.messageId)).toEqual(['question', 'answer']);
    expect(fold.task().status).toEqual({ state: 'input-required' });
  });

  it('appends to the artifact of that id and replaces it otherwise', () => {
    const begun = [artifact([text('1')]), artifact([text('2')], { append: true })];
    expect(reduce(begun)).toMatchObject({ artifacts: [{ parts: [text('1'), text('2')] }] });
    expect(reduce([...begun, artifact([text('3')])])).toMatchObject({ artifacts: [{ parts: [text('3')] }] });
  });

  it('begins an artifact that is appended to before it exists', () => {
    expect(reduce([artifact([text('1')], { append: true })])).toMatchObject({
      artifacts: [{ artifactId: 'a', parts: [text('1')] }],
    });
  });

  it('keeps artifacts in the order of their first sight', () => {
    const folded = reduce([
      artifact([text('1')], { artifactId: 'x' }),
      artifact([text('2')], { artifactId: 'y' }),
      artifact([text('3')], { artifactId: 'x' }),
    ]) as Task;
    expect(folded.artifacts?.map((each) => each.artifactId)).toEqual(['x', 'y']);
  });

  it('finds an artifact among many', () => {
    const names = Array.from({ length: 30 }, (_, i) => `a${i}`);
    const begun = names.map((artifactId) => artifact([text('1')], { artifactId }));
    const more = names.map((artifactId) => artifact([text('2')], { artifactId, append: true }));
    const { artifacts } = reduce([...begun, ...more]) as Task;
    expect(artifacts).toEqual(names.map((artifactId) => ({ artifactId, parts: [text('1'), text('2')] })));
  });

  it('merges the labels of chunks', () => {
    const chunk = (rest: object): StreamEvent => ({
      kind: 'artifact',
      ...ids,
      artifact: { artifactId: 'a', parts: [text('')], ...rest },
      append: true,
    });
    const folded = reduce([
      chunk({ metadata: { a: 1, b: 1 }, extensions: ['x'] }),
      chunk({ name: 'n', description: 'd', metadata: { b: 2 }, extensions: ['x', 'y'] }),
      chunk({ name: 'other' }),
    ]);
    expect(folded).toMatchObject({
      artifacts: [{ name: 'n', description: 'd', metadata: { a: 1, b: 2 }, extensions: ['x', 'y'] }],
    });
  });

  it('merges the metadata of statuses into the task', () => {
    const events: StreamEvent[] = [
      { kind: 'task', task: { ...task, metadata: { a: 1, b: 1 } } },
      { kind: 'status', ...ids, status: { state: 'working' }, metadata: { b: 2 } },
    ];
    expect(reduce(events)).toMatchObject({ metadata: { a: 1, b: 2 } });
  });

  it('keeps out of the task what a translation noted about one status', () => {
    const noted = { 'urn:a2a:compat:v1': { final: true } };
    const events: StreamEvent[] = [
      { kind: 'task', task },
      { kind: 'status', ...ids, status: { state: 'working' }, metadata: noted },
    ];
    expect(reduce(events)).not.toHaveProperty('metadata');
    expect(
      reduce([
        ...events,
        { kind: 'status', ...ids, status: { state: 'working' }, metadata: { ...noted, a: 1 } },
      ]),
    ).toMatchObject({ metadata: { a: 1 } });
  });

  it('takes a later task for the truth', () => {
    const later: Task = { ...task, status: { state: 'working' }, artifacts: [] };
    const fold = new TaskReducer({ ...task, artifacts: [{ artifactId: 'a', parts: [text('1')] }] });
    fold.apply({ kind: 'task', task: later });
    expect(fold.task()).toBe(later);
    fold.apply(artifact([text('2')], { append: true }));
    expect(fold.task().artifacts).toEqual([{ artifactId: 'a', parts: [text('2')] }]);
  });
});

describe('reducing', () => {
  it('gives a direct message as it is, and nothing for no events', () => {
    expect(reduce([{ kind: 'message', message: say('m') }])).toEqual(say('m'));
    expect(reduce([])).toBeUndefined();
  });

  it('begins a task when the first event forgot to', () => {
    expect(reduce([status('working')])).toEqual({ ...task, status: { state: 'working' } });
    expect(startReducer({ kind: 'message', message: say('m') })).toBeUndefined();
    expect(startReducer({ kind: 'input', message: say('m') })).toBeUndefined();
  });
});

/** Any way to cut a list into pieces, by how long each piece is. */
function cut<T>(list: readonly T[], lengths: readonly number[]): T[][] {
  const pieces: T[][] = [];
  let from = 0;
  for (const length of lengths) {
    pieces.push(list.slice(from, from + length));
    from += length;
  }
  pieces.push(list.slice(from));
  return pieces;
}

const anyPart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: fc.string() }),
  fc.record({ data: fc.jsonValue() }),
);
const anyState = fc.constantFrom<TaskState>('submitted', 'working', 'input-required', 'completed');
const anyChange: fc.Arbitrary<TaskChange> = fc.oneof(
  fc
    .record({ state: anyState, said: fc.boolean() })
    .map(({ state, said }) => status(state, said ? say('s') : undefined)),
  fc
    .record({
      parts: fc.array(anyPart, { maxLength: 3 }),
      append: fc.boolean(),
      artifactId: fc.constantFrom('a', 'b'),
    })
    .map(({ parts, ...rest }) => artifact(parts, rest)),
  fc.constant<TaskChange>({ kind: 'input', message: { ...say('i'), role: 'user' } }),
  fc.constant<TaskChange>({ kind: 'task', task }),
);

describe('always', () => {
  it('an artifact is the same in however many chunks it came', () => {
    fc.assert(
      fc.property(
        fc.array(anyPart, { maxLength: 12 }),
        fc.array(fc.nat(4), { maxLength: 6 }),
        (parts, lengths) => {
          const chunks = cut(parts, lengths).map((piece, i) => artifact(piece, { append: i > 0 }));
          expect(reduce(chunks)).toEqual(reduce([artifact(parts)]));
        },
      ),
    );
  });

  it('what was handed out never changes afterwards, nor does what came in', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 20 }), (changes) => {
        const before = JSON.stringify(changes);
        const fold = new TaskReducer(task);
        const handed: [Task, string][] = [];
        for (const change of changes) {
          fold.apply(change);
          const snapshot = fold.task();
          handed.push([snapshot, JSON.stringify(snapshot)]);
        }
        for (const [snapshot, then] of handed) expect(JSON.stringify(snapshot)).toBe(then);
        expect(JSON.stringify(changes)).toBe(before);
      }),
    );
  });

  it('it does not matter how often somebody looks', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyChange, fc.boolean()), { maxLength: 20 }), (steps) => {
        const watched = new TaskReducer(task);
        const alone = new TaskReducer(task);
        for (const [change, looks] of steps) {
          watched.apply(change);
          alone.apply(change);
          if (looks) watched.task();
        }
        expect(watched.task()).toEqual(alone.task());
      }),
    );
  });
});

describe('the cost of an event', () => {
  /** How many members of lists are walked over while something happens: copying a list walks over all of it. */
  function walked(act: () => void): number {
    const original = Object.getOwnPropertyDescriptor(Array.prototype, Symbol.iterator) as PropertyDescriptor;
    const iterate = original.value as (this: unknown[]) => ArrayIterator<unknown>;
    let members = 0;
    // oxlint-disable-next-line no-extend-native -- put back before anybody else runs
    Object.defineProperty(Array.prototype, Symbol.iterator, {
      ...original,
      value(this: unknown[]) {
        members += this.length;
        return iterate.call(this);
      },
    });
    try {
      act();
    } finally {
      // oxlint-disable-next-line no-extend-native -- this puts it back
      Object.defineProperty(Array.prototype, Symbol.iterator, original);
    }
    return members;
  }

  const hundredTimes = (act: () => void) => (): void => {
    for (let i = 0; i < 100; i++) act();
  };

  it('does not depend on how many chunks came before, while nobody looks', () => {
    const fold = new TaskReducer(task);
    fold.apply(artifact([text('0')]));
    fold.apply(artifact([text('1')], { append: true }));
    const chunk = artifact([text('x')], { append: true });
    const append = hundredTimes(() => fold.apply(chunk));
    const cost = walked(append);
    expect(walked(append)).toBe(cost);
    expect(fold.task().artifacts?.[0]?.parts).toHaveLength(202);
    // Somebody looked and holds the parts now, so they are copied once more, and once only.
    expect(walked(append)).toBe(cost + 202);
  });

  it('does not depend on how many messages came before, while nobody looks', () => {
    const fold = new TaskReducer({ ...task, history: [say('0')] });
    const input: TaskChange = { kind: 'input', message: say('x') };
    const remember = hundredTimes(() => fold.apply(input));
    expect(walked(remember)).toBe(1);
    expect(walked(remember)).toBe(0);
    expect(fold.task().history).toHaveLength(201);
    expect(walked(remember)).toBe(201);
  });

  it('leaves alone what the event does not touch', () => {
    const fold = new TaskReducer(task);
    fold.apply(artifact([text('1')], { artifactId: 'x' }));
    fold.apply(artifact([text('1')], { artifactId: 'y' }));
    fold.apply({ kind: 'input', message: say('i') });
    const before = fold.task();
    fold.apply(artifact([text('2')], { artifactId: 'y', append: true }));
    const after = fold.task();
    expect(after.artifacts?.[0]).toBe(before.artifacts?.[0]);
    expect(after.artifacts?.[1]).not.toBe(before.artifacts?.[1]);
    expect(after.history).toBe(before.history);
  });

  it('is nothing for looking twice', () => {
    const fold = new TaskReducer(task);
    fold.apply(status('working'));
    expect(fold.task()).toBe(fold.task());
  });
});
