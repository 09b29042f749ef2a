import { describe, expect, it } from 'vitest';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from './event.ts';
import { type LintRule, lintStream, StreamLinter } from './lint-stream.ts';
import type { Task, TaskState } from './task.ts';

const ids = { taskId: 't', contextId: 'c' };
const snapshot = (rest: Partial<Task> = {}): StreamEvent => ({
  kind: 'task',
  task: { id: 't', contextId: 'c', status: { state: 'submitted' }, ...rest },
});
const status = (state: TaskState, rest: Partial<TaskStatusUpdateEvent> = {}): StreamEvent => ({
  kind: 'status',
  ...ids,
  status: { state },
  ...rest,
});
const at = (timestamp: string): StreamEvent => status('working', { status: { state: 'working', timestamp } });
const chunk = (rest: Partial<TaskArtifactUpdateEvent> = {}): StreamEvent => ({
  kind: 'artifact',
  ...ids,
  artifact: { artifactId: 'a', parts: [{ text: 'x' }] },
  ...rest,
});
const message: StreamEvent = {
  kind: 'message',
  message: { messageId: 'm', role: 'agent', parts: [{ text: 'hi' }] },
};
const done = status('completed');
const rules = (events: StreamEvent[]): [LintRule, number][] =>
  lintStream(events).map(({ rule, index }) => [rule, index]);

describe('lintStream for legal streams', () => {
  it.each<[string, StreamEvent[]]>([
    ['a direct message', [message]],
    ['an end in a terminal state', [snapshot(), status('working'), done]],
    ['an end in input-required', [snapshot(), status('input-required')]],
    ['an end in auth-required', [snapshot(), status('auth-required')]],
    ['events after input-required', [snapshot(), status('input-required'), status('working'), done]],
    ['a snapshot of a finished task', [snapshot({ status: { state: 'failed' } })]],
    [
      'an artifact in chunks',
      [snapshot(), chunk(), chunk({ append: true }), chunk({ append: true, lastChunk: true }), done],
    ],
    [
      'replacement of a complete artifact',
      [snapshot(), chunk({ lastChunk: true }), chunk({ lastChunk: true }), done],
    ],
    [
      'chunks and replacements of artifacts in the snapshot',
      [
        snapshot({ artifacts: ['a', 'b'].map((artifactId) => ({ artifactId, parts: [{ text: '' }] })) }),
        chunk({ append: true }),
        chunk({ artifact: { artifactId: 'b', parts: [{ text: '' }] } }),
        done,
      ],
    ],
    ['equal timestamps', [snapshot(), at('2026-06-01T10:00:00Z'), at('2026-06-01T10:00:00.000Z'), done]],
    [
      'missing sequence numbers',
      [{ ...snapshot(), sequence: 1 }, status('working'), { ...done, sequence: 9 }],
    ],
  ])('accepts %s', (_name, events) => {
    expect(lintStream(events)).toEqual([]);
  });
});

describe('lintStream for illegal streams', () => {
  it.each<[LintRule, number, StreamEvent[]]>([
    ['first-event', 0, [done]],
    ['first-event', 0, [chunk(), done]],
    ['message-alone', 1, [message, message]],
    ['message-alone', 1, [snapshot(), message, done]],
    ['after-terminal', 2, [snapshot(), done, chunk()]],
    ['wrong-task-id', 1, [snapshot(), status('completed', { taskId: 'u' })]],
    ['wrong-context-id', 1, [snapshot(), status('completed', { contextId: 'd' })]],
    ['append-without-start', 1, [snapshot(), chunk({ append: true }), done]],
    ['chunk-after-last', 2, [snapshot(), chunk({ lastChunk: true }), chunk({ append: true }), done]],
    ['state-backwards', 2, [snapshot(), status('working'), status('submitted'), done]],
    ['state-backwards', 2, [snapshot(), status('input-required'), status('submitted'), done]],
    [
      'sequence-not-increasing',
      1,
      [
        { ...snapshot(), sequence: 4 },
        { ...done, sequence: 4 },
      ],
    ],
    ['empty-parts', 1, [snapshot(), chunk({ artifact: { artifactId: 'a', parts: [] } }), done]],
    ['empty-parts', 0, [{ kind: 'message', message: { messageId: 'm', role: 'agent', parts: [] } }]],
    [
      'empty-parts',
      0,
      [snapshot({ history: [{ messageId: 'm', role: 'user', parts: [] }], status: { state: 'completed' } })],
    ],
    ['bad-timestamp', 1, [snapshot(), at('2026-06-01T10:00:00+02:00'), done]],
    ['bad-timestamp', 1, [snapshot(), at('2026-13-01T10:00:00Z'), done]],
    ['unfinished', 2, [snapshot(), status('working')]],
    ['no-events', 0, []],
  ])('reports the error %s at event %i', (rule, index, events) => {
    expect(rules(events)).toEqual([[rule, index]]);
    expect(lintStream(events)[0]).toMatchObject({ level: 'error', message: expect.any(String) as string });
  });
});

describe('lintStream for unusual streams', () => {
  it.each<[LintRule, number, StreamEvent[]]>([
    ['replaced-artifact-while-open', 2, [snapshot(), chunk(), chunk({ lastChunk: true }), done]],
    ['unknown-state', 1, [snapshot(), status('unknown'), done]],
    ['task-again', 1, [snapshot(), snapshot(), done]],
    ['time-backwards', 2, [snapshot(), at('2026-06-01T10:00:01Z'), at('2026-06-01T10:00:00Z'), done]],
  ])('reports the warning %s at event %i', (rule, index, events) => {
    expect(rules(events)).toEqual([[rule, index]]);
    expect(lintStream(events)[0]?.level).toBe('warning');
  });
});

it('StreamLinter reports findings per event and at the end', () => {
  const linter = new StreamLinter();
  expect(linter.check(snapshot())).toEqual([]);
  expect(linter.check(chunk({ append: true })).map((each) => each.rule)).toEqual(['append-without-start']);
  expect(linter.check(chunk({ append: true }))).toEqual([]);
  expect(linter.end().map((each) => each.rule)).toEqual(['unfinished']);
});
