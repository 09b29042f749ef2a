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

describe('the difference between two pictures of a task', () => {
  it('is nothing when they are the same', () => {
    const task = taskOf({ timestamp: '2026-01-01T00:00:00.000Z' }, artifact('a', ...texts('x')));
    expect(diffTask(task, structuredClone(task))).toEqual([]);
  });

  it.each<[string, Part[], Part[], object[]]>([
    ['new parts', texts('x'), texts('x', 'y'), [{ append: true, artifact: { parts: texts('y') } }]],
    [
      'chunks that were joined',
      texts('he', 'l'),
      texts('hello'),
      [{ append: true, artifact: { parts: texts('lo') } }],
    ],
    ['chunks that were joined, and nothing more', texts('he', 'llo'), texts('hello'), []],
    ['another content', texts('x'), texts('y'), [{ artifact: { parts: texts('y') } }]],
    ['an older picture', texts('x', 'y'), texts('x'), []],
    [
      'data',
      [{ data: { a: [1, { b: null }] } }],
      [{ data: { a: [1, { b: null }] } }, { data: 2 }],
      [{ append: true, artifact: { parts: [{ data: 2 }] } }],
    ],
    [
      'other data',
      [{ data: { a: 1 } }],
      [{ data: { a: 2 } }],
      [{ artifact: { parts: [{ data: { a: 2 } }] } }],
    ],
  ])('tells %s', (_name, known, now, news) => {
    expect(diffTask(taskOf({}, artifact('a', ...known)), taskOf({}, artifact('a', ...now)))).toMatchObject(
      news,
    );
  });

  it('tells a new artifact and then the new state', () => {
    const now = taskOf({ state: 'completed' }, artifact('a', ...texts('x')), artifact('b', ...texts('y')));
    const news = diffTask(taskOf({}, artifact('a', ...texts('x'))), now);
    expect(news).toMatchObject([
      { kind: 'artifact', artifact: { artifactId: 'b' } },
      { kind: 'status', status: { state: 'completed' } },
    ]);
    expect(news[0]).not.toHaveProperty('append', true);
  });

  it('does not take a picture without artifacts for their loss', () => {
    expect(diffTask(taskOf({}, artifact('a', ...texts('x'))), taskOf({}))).toEqual([]);
  });

  it.each<[string, Partial<TaskStatus>, Partial<TaskStatus>, number]>([
    ['the same state later', { timestamp: '1' }, { timestamp: '2' }, 1],
    ['the same state without a time', { timestamp: '1' }, {}, 0],
    [
      'other words',
      { message: { messageId: '1', role: 'agent', parts: texts('x') } },
      { message: { messageId: '2', role: 'agent', parts: texts('y') } },
      1,
    ],
    [
      'the same words under another id, as agents without ids have it',
      { message: { messageId: '1', role: 'agent', parts: texts('x') } },
      { message: { messageId: '2', role: 'agent', parts: texts('x') } },
      0,
    ],
  ])('counts %s', (_name, known, now, count) => {
    expect(diffTask(taskOf(known), taskOf(now))).toHaveLength(count);
  });

  it('always leads from one picture to the other', () => {
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
        const fold = new TaskReducer(known);
        for (const event of diffTask(known, now)) fold.apply(event);
        const [whole] = fold.task().artifacts ?? [];
        const [wanted] = now.artifacts ?? [];
        const joined = (list: Part[] = []) => JSON.stringify(list).replaceAll('"},{"text":"', '');
        expect(joined(whole?.parts.filter((part) => !('text' in part && part.text === '')))).toBe(
          joined(wanted?.parts.filter((part) => !('text' in part && part.text === ''))),
        );
        expect(fold.status.state).toBe(now.status.state);
        expect(diffTask(fold.task(), now)).toEqual([]);
      }),
    );
  });
});

describe('an event', () => {
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
    ['another chunk', chunk(true, ...texts('z')), false],
    ['the beginning', chunk(false, ...texts('x')), true],
    ['another beginning', chunk(false, ...texts('z')), false],
    ['the state', { kind: 'status', taskId: 't', contextId: 'c', status: { state: 'working' } }, true],
    ['another state', { kind: 'status', taskId: 't', contextId: 'c', status: { state: 'failed' } }, false],
  ])('that tells %s is in the picture or not', (_name, event, contained) => {
    expect(isReflectedIn(event, task)).toBe(contained);
  });
});
