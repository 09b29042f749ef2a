import { describe, expect, it } from 'vitest';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from './event.ts';
import { type LintRule, lintStream, StreamLinter } from './lint-stream.ts';
import type { Task, TaskState } from './task.ts';

const ids = { taskId: 't', contextId: 'c' };
const begin = (rest: Partial<Task> = {}): StreamEvent => ({
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

describe('a legal stream', () => {
  it.each<[string, StreamEvent[]]>([
    ['is a single message', [message]],
    ['ends with the task', [begin(), status('working'), done]],
    ['ends when the task waits', [begin(), status('input-required')]],
    ['may wait for credentials', [begin(), status('auth-required')]],
    ['may go on after waiting', [begin(), status('input-required'), status('working'), done]],
    ['may tell of a finished task only', [begin({ status: { state: 'failed' } })]],
    [
      'tells an artifact in chunks',
      [begin(), chunk(), chunk({ append: true }), chunk({ append: true, lastChunk: true }), done],
    ],
    [
      'may replace a complete artifact',
      [begin(), chunk({ lastChunk: true }), chunk({ lastChunk: true }), done],
    ],
    [
      'may add to or replace an artifact that the task came with',
      [
        begin({ artifacts: ['a', 'b'].map((artifactId) => ({ artifactId, parts: [{ text: '' }] })) }),
        chunk({ append: true }),
        chunk({ artifact: { artifactId: 'b', parts: [{ text: '' }] } }),
        done,
      ],
    ],
    ['may repeat a time', [begin(), at('2026-06-01T10:00:00Z'), at('2026-06-01T10:00:00.000Z'), done]],
    ['may leave numbers out', [{ ...begin(), sequence: 1 }, status('working'), { ...done, sequence: 9 }]],
  ])('%s', (_what, events) => {
    expect(lintStream(events)).toEqual([]);
  });
});

describe('an illegal stream', () => {
  it.each<[LintRule, number, StreamEvent[]]>([
    ['first-event', 0, [done]],
    ['first-event', 0, [chunk(), done]],
    ['message-alone', 1, [message, message]],
    ['message-alone', 1, [begin(), message, done]],
    ['after-terminal', 2, [begin(), done, chunk()]],
    ['wrong-task-id', 1, [begin(), status('completed', { taskId: 'u' })]],
    ['wrong-context-id', 1, [begin(), status('completed', { contextId: 'd' })]],
    ['append-without-start', 1, [begin(), chunk({ append: true }), done]],
    ['chunk-after-last', 2, [begin(), chunk({ lastChunk: true }), chunk({ append: true }), done]],
    ['state-backwards', 2, [begin(), status('working'), status('submitted'), done]],
    ['state-backwards', 2, [begin(), status('input-required'), status('submitted'), done]],
    [
      'sequence-not-increasing',
      1,
      [
        { ...begin(), sequence: 4 },
        { ...done, sequence: 4 },
      ],
    ],
    ['empty-parts', 1, [begin(), chunk({ artifact: { artifactId: 'a', parts: [] } }), done]],
    ['empty-parts', 0, [{ kind: 'message', message: { messageId: 'm', role: 'agent', parts: [] } }]],
    [
      'empty-parts',
      0,
      [begin({ history: [{ messageId: 'm', role: 'user', parts: [] }], status: { state: 'completed' } })],
    ],
    ['bad-timestamp', 1, [begin(), at('2026-06-01T10:00:00+02:00'), done]],
    ['bad-timestamp', 1, [begin(), at('2026-13-01T10:00:00Z'), done]],
    ['unfinished', 2, [begin(), status('working')]],
    ['no-events', 0, []],
  ])('breaks %s at event %i', (rule, index, events) => {
    expect(rules(events)).toEqual([[rule, index]]);
    expect(lintStream(events)[0]).toMatchObject({ level: 'error', message: expect.any(String) as string });
  });
});

describe('a strange stream', () => {
  it.each<[LintRule, number, StreamEvent[]]>([
    ['replaced-artifact-while-open', 2, [begin(), chunk(), chunk({ lastChunk: true }), done]],
    ['unknown-state', 1, [begin(), status('unknown'), done]],
    ['task-again', 1, [begin(), begin(), done]],
    ['time-backwards', 2, [begin(), at('2026-06-01T10:00:01Z'), at('2026-06-01T10:00:00Z'), done]],
  ])('is warned of %s at event %i', (rule, index, events) => {
    expect(rules(events)).toEqual([[rule, index]]);
    expect(lintStream(events)[0]?.level).toBe('warning');
  });
});

it('a linter tells of each event as it comes, and of the end at the end', () => {
  const linter = new StreamLinter();
  expect(linter.check(begin())).toEqual([]);
  expect(linter.check(chunk({ append: true })).map((each) => each.rule)).toEqual(['append-without-start']);
  expect(linter.check(chunk({ append: true }))).toEqual([]);
  expect(linter.end().map((each) => each.rule)).toEqual(['unfinished']);
});
