import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskArtifactUpdateEvent, StreamEvent } from './event.ts';
import type { Message } from './message.ts';
import { joinTexts, type Part } from './part.ts';
import { startReducer, reduce, type TaskChange, TaskReducer } from './reduce.ts';
import type { Task, TaskState } from './task.ts';

const ids = { taskId: 't', contextId: 'c' };
const task: Task = { id: 't', contextId: 'c', status: { state: 'submitted' } };
const agentMessage = (messageId: string): Message => ({
  messageId,
  role: 'agent',
  parts: [{ text: messageId }],
});
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

describe('TaskReducer', () => {
  it('returns the initial task without copying', () => {
    expect(new TaskReducer(task).task()).toBe(task);
  });

  it('applies the newest status', () => {
    const reducer = new TaskReducer(task);
    reducer.apply(status('working'));
    expect(reducer.status).toEqual({ state: 'working' });
    expect(reducer.task()).toEqual({ ...task, status: { state: 'working' } });
  });

  it('moves a status message to history when the next status arrives', () => {
    const events = [
      status('working', agentMessage('1')),
      status('working', agentMessage('2')),
      status('completed'),
    ];
    expect(reduce([{ kind: 'task', task }, ...events])).toEqual({
      ...task,
      status: { state: 'completed' },
      history: [agentMessage('1'), agentMessage('2')],
    });
  });

  it('adds a user message to history after the question', () => {
    const input: TaskChange = { kind: 'input', message: { ...agentMessage('answer'), role: 'user' } };
    const reducer = new TaskReducer(task);
    reducer.apply(status('input-required', agentMessage('question')));
    reducer.apply(input);
    expect(reducer.task().history?.map((each) => each.messageId)).toEqual(['question', 'answer']);
    expect(reducer.task().status).toEqual({ state: 'input-required' });
  });

  it('appends to an artifact with append and replaces it without', () => {
    const first = [artifact([text('1')]), artifact([text('2')], { append: true })];
    expect(reduce(first)).toMatchObject({ artifacts: [{ parts: [text('12')] }] });
    expect(reduce([...first, artifact([text('3')])])).toMatchObject({ artifacts: [{ parts: [text('3')] }] });
  });

  it('joins texts at the border of two chunks, and only there', () => {
    const labeled = { text: 'b', mediaType: 'text/markdown' };
    const chunks: Part[][] = [
      [text('a'), text('b')],
      [text('c'), { data: 1 }],
      [text('d')],
      [text('e'), labeled],
      [labeled, text('f')],
      [{ ...text('g'), metadata: { m: 1 } }],
      [text('h')],
    ];
    const { artifacts } = reduce(chunks.map((parts) => artifact(parts, { append: true }))) as Task;
    expect(artifacts?.[0]?.parts).toEqual([
      text('a'),
      text('bc'),
      { data: 1 },
      text('de'),
      { ...labeled, text: 'bb' },
      text('f'),
      { ...text('g'), metadata: { m: 1 } },
      text('h'),
    ]);
  });

  it('leaves the parts of events and of earlier snapshots unchanged when it joins texts', () => {
    const events = [artifact([text('a')]), artifact([text('b')], { append: true })];
    const reducer = startReducer(events[0] as StreamEvent) as TaskReducer;
    reducer.apply(events[0] as StreamEvent);
    const before = reducer.task();
    reducer.apply(events[1] as StreamEvent);
    const between = reducer.task();
    reducer.apply(artifact([text('c')], { append: true }));
    expect([before, between, reducer.task()].map((each) => each.artifacts?.[0]?.parts)).toEqual([
      [text('a')],
      [text('ab')],
      [text('abc')],
    ]);
    expect(events).toEqual([artifact([text('a')]), artifact([text('b')], { append: true })]);
  });

  it('creates an artifact when the first chunk has append', () => {
    expect(reduce([artifact([text('1')], { append: true })])).toMatchObject({
      artifacts: [{ artifactId: 'a', parts: [text('1')] }],
    });
  });

  it('retains the order in which artifacts were created', () => {
    const reduced = reduce([
      artifact([text('1')], { artifactId: 'x' }),
      artifact([text('2')], { artifactId: 'y' }),
      artifact([text('3')], { artifactId: 'x' }),
    ]) as Task;
    expect(reduced.artifacts?.map((each) => each.artifactId)).toEqual(['x', 'y']);
  });

  it('finds artifacts in a long list', () => {
    const names = Array.from({ length: 30 }, (_, i) => `a${i}`);
    const first = names.map((artifactId) => artifact([text('1')], { artifactId }));
    const more = names.map((artifactId) => artifact([text('2')], { artifactId, append: true }));
    const { artifacts } = reduce([...first, ...more]) as Task;
    expect(artifacts).toEqual(names.map((artifactId) => ({ artifactId, parts: [text('12')] })));
  });

  it('merges metadata, extensions and names of chunks', () => {
    const chunk = (rest: object): StreamEvent => ({
      kind: 'artifact',
      ...ids,
      artifact: { artifactId: 'a', parts: [text('')], ...rest },
      append: true,
    });
    const reduced = reduce([
      chunk({ metadata: { a: 1, b: 1 }, extensions: ['x'] }),
      chunk({ name: 'n', description: 'd', metadata: { b: 2 }, extensions: ['x', 'y'] }),
      chunk({ name: 'other' }),
    ]);
    expect(reduced).toMatchObject({
      artifacts: [{ name: 'n', description: 'd', metadata: { a: 1, b: 2 }, extensions: ['x', 'y'] }],
    });
  });

  it('merges status metadata into the task', () => {
    const events: StreamEvent[] = [
      { kind: 'task', task: { ...task, metadata: { a: 1, b: 1 } } },
      { kind: 'status', ...ids, status: { state: 'working' }, metadata: { b: 2 } },
    ];
    expect(reduce(events)).toMatchObject({ metadata: { a: 1, b: 2 } });
  });

  it('does not merge compatibility metadata of a status', () => {
    const compat = { 'urn:a2a:compat:v1': { final: true } };
    const events: StreamEvent[] = [
      { kind: 'task', task },
      { kind: 'status', ...ids, status: { state: 'working' }, metadata: compat },
    ];
    expect(reduce(events)).not.toHaveProperty('metadata');
    expect(
      reduce([
        ...events,
        { kind: 'status', ...ids, status: { state: 'working' }, metadata: { ...compat, a: 1 } },
      ]),
    ).toMatchObject({ metadata: { a: 1 } });
  });

  it('replaces all state with a later snapshot', () => {
    const later: Task = { ...task, status: { state: 'working' }, artifacts: [] };
    const reducer = new TaskReducer({ ...task, artifacts: [{ artifactId: 'a', parts: [text('1')] }] });
    reducer.apply({ kind: 'task', task: later });
    expect(reducer.task()).toBe(later);
    reducer.apply(artifact([text('2')], { append: true }));
    expect(reducer.task().artifacts).toEqual([{ artifactId: 'a', parts: [text('2')] }]);
  });
});

describe('reduce', () => {
  it('returns a direct message, and undefined without events', () => {
    expect(reduce([{ kind: 'message', message: agentMessage('m') }])).toEqual(agentMessage('m'));
    expect(reduce([])).toBeUndefined();
  });

  it('creates a task when the first event is an update', () => {
    expect(reduce([status('working')])).toEqual({ ...task, status: { state: 'working' } });
    expect(startReducer({ kind: 'message', message: agentMessage('m') })).toBeUndefined();
    expect(startReducer({ kind: 'input', message: agentMessage('m') })).toBeUndefined();
  });
});

/** Splits a list into pieces of the given lengths. */
function split<T>(list: readonly T[], lengths: readonly number[]): T[][] {
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
    .record({ state: anyState, hasMessage: fc.boolean() })
    .map(({ state, hasMessage }) => status(state, hasMessage ? agentMessage('s') : undefined)),
  fc
    .record({
      parts: fc.array(anyPart, { maxLength: 3 }),
      append: fc.boolean(),
      artifactId: fc.constantFrom('a', 'b'),
    })
    .map(({ parts, ...rest }) => artifact(parts, rest)),
  fc.constant<TaskChange>({ kind: 'input', message: { ...agentMessage('i'), role: 'user' } }),
  fc.constant<TaskChange>({ kind: 'task', task }),
);

describe('TaskReducer properties', () => {
  it('reduces any chunking of an artifact to the same artifact, except for joined texts', () => {
    fc.assert(
      fc.property(
        fc.array(anyPart, { maxLength: 12 }),
        fc.array(fc.nat(4), { maxLength: 6 }),
        (parts, lengths) => {
          const chunks = split(parts, lengths).map((piece, i) => artifact(piece, { append: i > 0 }));
          const partsOf = (events: StreamEvent[]) =>
            (reduce(events) as Task).artifacts?.map((each) => joinTexts(each.parts));
          expect(partsOf(chunks)).toEqual(partsOf([artifact(parts)]));
        },
      ),
    );
  });

  it('never modifies snapshots or applied events', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 20 }), (changes) => {
        const before = JSON.stringify(changes);
        const reducer = new TaskReducer(task);
        const snapshots: [Task, string][] = [];
        for (const change of changes) {
          reducer.apply(change);
          const snapshot = reducer.task();
          snapshots.push([snapshot, JSON.stringify(snapshot)]);
        }
        for (const [snapshot, then] of snapshots) expect(JSON.stringify(snapshot)).toBe(then);
        expect(JSON.stringify(changes)).toBe(before);
      }),
    );
  });

  it('returns the same task regardless of earlier snapshots', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyChange, fc.boolean()), { maxLength: 20 }), (steps) => {
        const observed = new TaskReducer(task);
        const unobserved = new TaskReducer(task);
        for (const [change, hasSnapshot] of steps) {
          observed.apply(change);
          unobserved.apply(change);
          if (hasSnapshot) observed.task();
        }
        expect(observed.task()).toEqual(unobserved.task());
      }),
    );
  });
});

describe('TaskReducer cost', () => {
  /** Counts the array elements that are iterated over: copying an array iterates over all of them. */
  function countIterated(run: () => void): number {
    const original = Object.getOwnPropertyDescriptor(Array.prototype, Symbol.iterator) as PropertyDescriptor;
    const iterate = original.value as (this: unknown[]) => ArrayIterator<unknown>;
    let members = 0;
    // oxlint-disable-next-line no-extend-native -- restored below
    Object.defineProperty(Array.prototype, Symbol.iterator, {
      ...original,
      value(this: unknown[]) {
        members += this.length;
        return iterate.call(this);
      },
    });
    try {
      run();
    } finally {
      // oxlint-disable-next-line no-extend-native -- restores the original
      Object.defineProperty(Array.prototype, Symbol.iterator, original);
    }
    return members;
  }

  const hundredTimes = (run: () => void) => (): void => {
    for (let i = 0; i < 100; i++) run();
  };

  it('does not grow with the number of earlier chunks without snapshots', () => {
    const reducer = new TaskReducer(task);
    reducer.apply(artifact([{ data: 0 }]));
    reducer.apply(artifact([{ data: 1 }], { append: true }));
    const chunk = artifact([{ data: 'x' }], { append: true });
    const append = hundredTimes(() => reducer.apply(chunk));
    const cost = countIterated(append);
    expect(countIterated(append)).toBe(cost);
    expect(reducer.task().artifacts?.[0]?.parts).toHaveLength(202);
    // The snapshot shares the parts, so they are copied once.
    expect(countIterated(append)).toBe(cost + 202);
  });

  it('does not grow with the number of earlier texts, even with a snapshot after each', () => {
    const reducer = new TaskReducer(task);
    reducer.apply(artifact([text('0')]));
    const chunk = artifact([text('x')], { append: true });
    const append = hundredTimes(() => {
      reducer.apply(chunk);
      reducer.task();
    });
    const cost = countIterated(append);
    expect(countIterated(append)).toBe(cost);
    expect(reducer.task().artifacts?.[0]?.parts).toEqual([text(`0${'x'.repeat(200)}`)]);
  });

  it('does not grow with the number of earlier messages without snapshots', () => {
    const reducer = new TaskReducer({ ...task, history: [agentMessage('0')] });
    const input: TaskChange = { kind: 'input', message: agentMessage('x') };
    const addMessages = hundredTimes(() => reducer.apply(input));
    expect(countIterated(addMessages)).toBe(1);
    expect(countIterated(addMessages)).toBe(0);
    expect(reducer.task().history).toHaveLength(201);
    expect(countIterated(addMessages)).toBe(201);
  });

  it('shares unchanged artifacts and history between snapshots', () => {
    const reducer = new TaskReducer(task);
    reducer.apply(artifact([text('1')], { artifactId: 'x' }));
    reducer.apply(artifact([text('1')], { artifactId: 'y' }));
    reducer.apply({ kind: 'input', message: agentMessage('i') });
    const before = reducer.task();
    reducer.apply(artifact([text('2')], { artifactId: 'y', append: true }));
    const after = reducer.task();
    expect(after.artifacts?.[0]).toBe(before.artifacts?.[0]);
    expect(after.artifacts?.[1]).not.toBe(before.artifacts?.[1]);
    expect(after.history).toBe(before.history);
  });

  it('returns the same snapshot when nothing changed', () => {
    const reducer = new TaskReducer(task);
    reducer.apply(status('working'));
    expect(reducer.task()).toBe(reducer.task());
  });
});
