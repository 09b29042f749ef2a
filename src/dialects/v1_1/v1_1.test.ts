import { describe, expect, it } from 'vitest';
import { serializeResult } from '../dialect.ts';
import { strictMode } from '../translation-loss.ts';
import { v0_3 } from '../v0_3/index.ts';
import { v1_0 } from '../v1_0/index.ts';
import { previewOf, v1_1 } from './index.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Task } from '../../protocol/task.ts';

const task: Task = { id: 't', contextId: 'c', status: { state: 'working' }, generation: 7 };
const events: StreamEvent[] = [
  { kind: 'task', task },
  { kind: 'status', taskId: 't', contextId: 'c', status: { state: 'working' }, generation: 7 },
  {
    kind: 'artifact',
    taskId: 't',
    contextId: 'c',
    artifact: { artifactId: 'a', parts: [{ text: 'x' }] },
    generation: 7,
  },
  { kind: 'message', message: { messageId: 'm', role: 'agent', parts: [{ text: 'x' }] } },
];

describe('v1_1', () => {
  it.each(events)('writes the generation of $kind events, and otherwise what 1.0 writes', (event) => {
    const [wire] = v1_1.eventWriter().write(event) as [Record<string, { generation?: string }>];
    const [base] = v1_0.eventWriter().write(event) as [Record<string, object>];
    const [name] = Object.keys(wire) as [string];
    expect(wire[name]?.generation).toBe(event.kind === 'message' ? undefined : '7');
    const { generation: _generation, ...rest } = wire[name] ?? {};
    expect(JSON.stringify({ [name]: rest })).toBe(JSON.stringify(base));
    expect(v1_1.notification.write(event, task)).toEqual(wire);
  });

  it('writes the generation of tasks in all results', () => {
    expect(v1_1.texts).toBeUndefined();
    const write = (operation: 'send' | 'getTask' | 'cancelTask'): unknown =>
      JSON.parse(serializeResult(v1_1, operation, v1_1.results[operation].write(task)));
    expect(write('send')).toMatchObject({ task: { generation: '7' } });
    expect(write('getTask')).toMatchObject({ generation: '7' });
    expect(write('cancelTask')).toMatchObject({ generation: '7' });
    const page = { tasks: [task], nextPageToken: '', pageSize: 1, totalSize: 1 };
    expect(v1_1.results.listTasks.write(page)).toMatchObject({ tasks: [{ generation: '7' }], totalSize: 1 });
  });

  it('reads generations as strings and numbers', () => {
    const read = (params: object): unknown => v1_1.requests.getTask.read({ id: 't', ...params }, strictMode);
    expect(read({ currentGeneration: '5' })).toMatchObject({ currentGeneration: 5 });
    expect(read({ current_generation: 0 })).toMatchObject({ currentGeneration: 0 });
    expect(read({})).not.toHaveProperty('currentGeneration');
    for (const wrong of ['', 'x', '1.5', -1, 2 ** 60, '99999999999999999999', true])
      expect(() => read({ currentGeneration: wrong })).toThrow(
        'currentGeneration must be a non-negative integer',
      );
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };
    const configuration = { ifGenerationMatch: '3', historyLength: 1 };
    expect(v1_1.requests.send.read({ message, configuration }, strictMode).configuration).toEqual({
      ifGenerationMatch: 3,
      historyLength: 1,
    });
    expect(v1_0.requests.send.read({ message, configuration }, strictMode).configuration).toEqual({
      historyLength: 1,
    });
  });

  it('replaces 1.0 only', () => {
    expect(previewOf(v1_0)).toBe(v1_1);
    expect(previewOf(v0_3)).toBe(v0_3);
  });
});

describe('other dialects', () => {
  it.each([v1_0, v0_3])('$name writes no generation', (dialect) => {
    const wires = events.flatMap((event) => dialect.eventWriter().write(event));
    expect(JSON.stringify([wires, dialect.task.write(task)])).not.toContain('generation');
    expect(dialect.texts?.task(task) ?? '').not.toContain('generation');
  });
});
