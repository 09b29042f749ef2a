import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamEvent } from './event.ts';
import type { Part } from './part.ts';
import { TaskReducer } from './reduce.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';
import { diffTask, isReflectedIn } from './diff-task.ts';

const texts = (...all: string[]): Part[] => all.map((text) => ({ text }));

function taskOf(status: Partial<TaskStatus>, ...artifacts: Artifact[]): Task {
  return { id: 't', contextId: 'c', status: { state: 'working', ...status }, artifacts };
}

const artifact = (artifactId: string, ...parts: Part[]): Artifact => ({ artifactId, parts });

describe('diffTask', () => {
  it('returns no events for equal snapshots', () => {
    const task = taskOf({ timestamp: '2026-01-01T00:00:00.000Z' }, artifact('a', ...texts('x')));
    expect(diffTask(task, structuredClone(task))).toEqual([]);
  });

  it.each<[string, Part[], Part[], object[]]>([
    ['appended parts', texts('x'), texts('x', 'y'), [{ append: true, artifact: { parts: texts('y') } }]],
    [
      'joined text chunks',
      texts('he', 'l'),
      texts('hello'),
      [{ append: true, artifact: { parts: texts('lo') } }],
    ],
    ['joined text chunks without new text', texts('he', 'llo'), texts('hello'), []],
    [
      'a text that grew after other parts',
      [{ data: 1 }, { text: 'he' }],
      [{ data: 1 }, { text: 'hello' }, { data: 2 }],
      [{ append: true, artifact: { parts: [{ text: 'llo' }, { data: 2 }] } }],
    ],
    ['an older snapshot of such a text', [{ data: 1 }, { text: 'hello' }], [{ data: 1 }, { text: 'he' }], []],
    [
      'a replaced text after other parts',
      [{ data: 1 }, { text: 'he' }],
      [{ data: 1 }, { text: 'ho' }],
      [{ artifact: { parts: [{ data: 1 }, { text: 'ho' }] } }],
    ],
    ['replaced content', texts('x'), texts('y'), [{ artifact: { parts: texts('y') } }]],
    ['an older snapshot', texts('x', 'y'), texts('x'), []],
    [
      'data',
      [{ data: { a: [1, { b: null }] } }],
      [{ data: { a: [1, { b: null }] } }, { data: 2 }],
      [{ append: true, artifact: { parts: [{ data: 2 }] } }],
    ],
    [
      'replaced data',
      [{ data: { a: 1 } }],
      [{ data: { a: 2 } }],
      [{ artifact: { parts: [{ data: { a: 2 } }] } }],
    ],
  ])('returns the update for %s', (_name, before, after, updates) => {
    expect(diffTask(taskOf({}, artifact('a', ...before)), taskOf({}, artifact('a', ...after)))).toMatchObject(
      updates,
    );
  });

  it('returns new artifacts before the new status', () => {
    const now = taskOf({ state: 'completed' }, artifact('a', ...texts('x')), artifact('b', ...texts('y')));
    const events = diffTask(taskOf({}, artifact('a', ...texts('x'))), now);
    expect(events).toMatchObject([
      { kind: 'artifact', artifact: { artifactId: 'b' } },
      { kind: 'status', status: { state: 'completed' } },
    ]);
    expect(events[0]).not.toHaveProperty('append', true);
  });

  it('ignores artifacts missing in the later snapshot', () => {
    expect(diffTask(taskOf({}, artifact('a', ...texts('x'))), taskOf({}))).toEqual([]);
  });

  it.each<[string, Partial<TaskStatus>, Partial<TaskStatus>, number]>([
    ['the same state at a later time', { timestamp: '1' }, { timestamp: '2' }, 1],
    ['the same state without a timestamp', { timestamp: '1' }, {}, 0],
    [
      'another message',
      { message: { messageId: '1', role: 'agent', parts: texts('x') } },
      { message: { messageId: '2', role: 'agent', parts: texts('y') } },
      1,
    ],
    [
      'the same message with another id, as from versions without ids',
      { message: { messageId: '1', role: 'agent', parts: texts('x') } },
      { message: { messageId: '2', role: 'agent', parts: texts('x') } },
      0,
    ],
  ])('compares statuses: %s', (_name, known, now, count) => {
    expect(diffTask(taskOf(known), taskOf(now))).toHaveLength(count);
  });

  it('returns events that reduce to the later snapshot', () => {
    const parts = fc.array(
      fc.constantFrom<Part>({ text: 'a' }, { text: 'b' }, { text: '' }, { data: 1 }, { url: 'u' }),
      { maxLength: 4 },
    );
    const grown = fc.record({
      before: parts,
      after: parts,
      state: fc.constantFrom<TaskStatus['state']>('working', 'completed'),
    });
    fc.assert(
      fc.property(grown, ({ before, after, state }) => {
        const known = taskOf({}, artifact('a', ...before));
        const now = taskOf({ state }, artifact('a', ...before, ...after));
        const reducer = new TaskReducer(known);
        for (const event of diffTask(known, now)) reducer.apply(event);
        const [actual] = reducer.task().artifacts ?? [];
        const [expected] = now.artifacts ?? [];
        const joined = (list: Part[] = []) => JSON.stringify(list).replaceAll('"},{"text":"', '');
        expect(joined(actual?.parts.filter((part) => !('text' in part && part.text === '')))).toBe(
          joined(expected?.parts.filter((part) => !('text' in part && part.text === ''))),
        );
        expect(reducer.status.state).toBe(now.status.state);
        expect(diffTask(reducer.task(), now)).toEqual([]);
      }),
    );
  });
});

describe('isReflectedIn', () => {
  const task = taskOf({ state: 'working' }, artifact('a', ...texts('x', 'y')));
  const chunk = (append: boolean, ...parts: Part[]): StreamEvent => ({
    kind: 'artifact',
    taskId: 't',
    contextId: 'c',
    append,
    artifact: artifact('a', ...parts),
  });

  it.each<[string, StreamEvent, boolean]>([
    ['the last chunk', chunk(true, ...texts('y')), true],
    ['a new chunk', chunk(true, ...texts('z')), false],
    ['a chunk across joined parts', chunk(true, ...texts('x', 'y')), true],
    ['the start of the artifact', chunk(false, ...texts('x')), true],
    ['another artifact content', chunk(false, ...texts('z')), false],
    [
      'the current state',
      { kind: 'status', taskId: 't', contextId: 'c', status: { state: 'working' } },
      true,
    ],
    ['a new state', { kind: 'status', taskId: 't', contextId: 'c', status: { state: 'failed' } }, false],
  ])('detects %s', (_name, event, isReflected) => {
    expect(isReflectedIn(event, task)).toBe(isReflected);
  });

  it('detects the last chunk of a text after other parts', () => {
    const mixed = taskOf({}, artifact('a', { data: 1 }, { text: 'hello' }));
    expect(isReflectedIn(chunk(true, { text: 'llo' }), mixed)).toBe(true);
    expect(isReflectedIn(chunk(true, { text: 'x' }), mixed)).toBe(false);
    expect(isReflectedIn(chunk(true, { data: 1 }, { text: 'hello' }), mixed)).toBe(true);
    expect(isReflectedIn(chunk(true, { data: 2 }, { text: 'hello' }), mixed)).toBe(false);
  });
});
