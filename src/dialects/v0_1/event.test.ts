import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import { reduce } from '../../protocol/reduce.ts';
import type { Task } from '../../protocol/task.ts';
import { compatKey } from '../compat-metadata.ts';
import { type TranslationLoss, lenientMode } from '../translation-loss.ts';
import { v0_1 } from './index.ts';

type Wire = { [key: string]: unknown };
const onWire = (value: unknown): Wire[] => JSON.parse(JSON.stringify(value)) as Wire[];
const ids = { taskId: 't', contextId: 'c' };
const task: Task = { id: 't', contextId: 'c', status: { state: 'submitted' } };

function write(events: readonly StreamEvent[], losses?: TranslationLoss[]): Wire[] {
  const writer = v0_1.eventWriter();
  return onWire([...events.flatMap((event) => writer.write(event, losses)), ...writer.end(undefined)]);
}

function read(wire: readonly unknown[], opening = {}): StreamEvent[] {
  const reader = v0_1.eventReader(opening);
  return wire.flatMap((each) => reader.read(each, lenientMode()));
}

const status = (state: Task['status']['state']): StreamEvent => ({
  kind: 'status',
  ...ids,
  status: { state },
});
const chunk = (text: string, artifactId = 'a', rest = {}): StreamEvent => ({
  kind: 'artifact',
  ...ids,
  artifact: { artifactId, parts: [{ text }] },
  ...rest,
});

describe('v0_1 eventWriter', () => {
  it('writes a task as status and artifact events', () => {
    const losses: TranslationLoss[] = [];
    const artifacts = [{ artifactId: 'artifact-0', parts: [{ text: 'x' }] }];
    const history = [{ messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] }];
    const [first, second] = write([{ kind: 'task', task: { ...task, artifacts, history } }], losses);
    expect(first).toEqual({
      id: 't',
      status: { state: 'submitted' },
      final: false,
      metadata: { [compatKey]: { contextId: 'c' } },
    });
    expect(second).toEqual({
      id: 't',
      artifact: { index: 0, append: false, lastChunk: true, parts: [{ type: 'text', text: 'x' }] },
    });
    expect(losses).toContainEqual(expect.objectContaining({ path: 'task.history' }));
  });

  it('writes the status of a finished task last, because clients stop reading after it', () => {
    const artifacts = [{ artifactId: 'artifact-0', parts: [{ text: 'x' }] }];
    const wire = write([{ kind: 'task', task: { ...task, status: { state: 'completed' }, artifacts } }]);
    expect(wire.map((each) => [Object.keys(each)[1], each.final])).toEqual([
      ['artifact', undefined],
      ['status', true],
    ]);
  });

  it.each([
    ['working', false],
    ['auth-required', false],
    ['input-required', true],
    ['completed', true],
    ['failed', true],
    ['canceled', true],
    ['rejected', true],
  ] as const)('writes %s with final: %s', (state, final) => {
    expect(v0_1.eventWriter().write(status(state))).toMatchObject([{ final }]);
  });

  it('repeats the last status as final when the stream ends without one', () => {
    const wire = write([status('working'), status('auth-required'), chunk('x')]);
    expect(wire.at(-1)).toEqual({ ...wire[1], final: true });
    expect(wire).toHaveLength(4);
  });

  it('ends with the given status when none was written', () => {
    const writer = v0_1.eventWriter();
    const last = { kind: 'status', ...ids, status: { state: 'working' } } as const;
    expect(writer.end(last)).toMatchObject([{ id: 't', status: { state: 'working' }, final: true }]);
    expect(writer.end(last)).toEqual([]);
  });

  it('writes nothing after a final status', () => {
    expect(write([status('completed')])).toHaveLength(1);
  });

  it('writes a direct message as a completed task', () => {
    const message = { messageId: 'm', role: 'agent' as const, parts: [{ text: 'hi' }], taskId: 't' };
    const wire = write([{ kind: 'message', message }]);
    expect(wire).toMatchObject([{ id: 't', status: { state: 'completed' }, final: true }]);
    expect(read(wire)).toEqual([{ kind: 'message', message }]);
  });

  it('writes context and artifact id only once', () => {
    const wire = write([status('working'), chunk('1'), chunk('2', 'a', { append: true }), chunk('3', 'b')]);
    const carried = wire.map((each) => JSON.stringify(each).includes(compatKey));
    expect(carried).toEqual([true, true, false, true, true]);
    const indexes = wire.map((each) => (each.artifact as { index: number } | undefined)?.index);
    expect(indexes).toEqual([undefined, 0, 0, 1, undefined]);
  });

  it('retains the artifact indexes of the task', () => {
    const artifacts = ['x', 'y'].map((artifactId) => ({ artifactId, parts: [{ text: '' }] }));
    const wire = write([
      { kind: 'task', task: { ...task, artifacts } },
      chunk('more', 'y', { append: true }),
    ]);
    expect(wire[3]).toMatchObject({ artifact: { index: 1, append: true } });
  });
});

describe('v0_1 eventReader', () => {
  const opening = {
    taskId: 't',
    contextId: 'c',
    message: { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] },
  };

  it('creates a task from the first status', () => {
    expect(read([{ id: 't', status: { state: 'working' }, final: false }], opening)).toEqual([
      {
        kind: 'task',
        task: { id: 't', contextId: 'c', status: { state: 'working' }, history: [opening.message] },
      },
    ]);
  });

  it('creates a working task when an artifact comes first', () => {
    const wire = { id: 't', artifact: { parts: [{ type: 'text', text: 'x' }] } };
    expect(read([wire])).toEqual([
      { kind: 'task', task: { id: 't', contextId: 't', status: { state: 'working' } } },
      {
        kind: 'artifact',
        taskId: 't',
        contextId: 't',
        artifact: { artifactId: 'artifact-0', parts: [{ text: 'x' }] },
      },
    ]);
  });

  it('ignores a repeated final status', () => {
    const wireStatus = {
      state: 'working',
      message: { role: 'agent', parts: [{ type: 'text', text: 'on it' }] },
    };
    const events = read([
      { id: 't', status: wireStatus, final: false },
      { id: 't', status: wireStatus, final: true },
    ]);
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'status']);
  });

  it('emits the first status message after the task', () => {
    const wireStatus = {
      state: 'working',
      message: { role: 'agent', parts: [{ type: 'text', text: 'on it' }] },
    };
    expect(read([{ id: 't', status: wireStatus }])).toMatchObject([
      { kind: 'task', task: { id: 't', status: { state: 'working' } } },
      { kind: 'status', taskId: 't', status: { state: 'working', message: { parts: [{ text: 'on it' }] } } },
    ]);
  });

  it('accepts a complete task', () => {
    const wire = { id: 't', status: { state: 'completed' }, artifacts: [], history: null };
    expect(read([wire], opening)).toEqual([
      { kind: 'task', task: { ...task, status: { state: 'completed' }, artifacts: [] } },
    ]);
  });

  it('rejects events without status and artifact', () => {
    expect(() => read([{ id: 't' }])).toThrow(/a status or an artifact/);
  });

  it('round-trips streams except the history', () => {
    const message = { messageId: 'm-2', role: 'agent' as const, parts: [{ text: '?' }], ...ids };
    const events: StreamEvent[] = [
      { kind: 'task', task: { ...task, metadata: { own: 1 } } },
      { kind: 'status', ...ids, status: { state: 'working', message }, metadata: { step: 1 } },
      chunk('1', 'a', { append: false }),
      chunk('2', 'a', { append: true, lastChunk: true, metadata: { n: 2 } }),
      status('rejected'),
    ];
    expect(read(write(events))).toEqual(events);
    expect(reduce(read(write(events)))).toEqual(reduce(events));
  });
});

describe('v0_1 notification', () => {
  it('writes the complete task', () => {
    const wire = v0_1.notification.write(status('working'), task);
    expect(wire).toMatchObject({ id: 't', sessionId: 'c', status: { state: 'submitted' } });
    expect(v0_1.notification.read(wire, lenientMode())).toEqual({ kind: 'task', task });
  });

  it('reads the short form', () => {
    expect(
      v0_1.notification.read({ eventType: 'x', taskId: 't', status: 'completed' }, lenientMode()),
    ).toEqual({
      kind: 'status',
      taskId: 't',
      contextId: 't',
      status: { state: 'completed' },
    });
  });
});
