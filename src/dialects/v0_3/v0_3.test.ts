import { describe, expect, it } from 'vitest';
import type { TaskStatusUpdateEvent } from '../../protocol/event.ts';
import type { Part } from '../../protocol/part.ts';
import { taskStates } from '../../protocol/task.ts';
import { compatKey } from '../compat-metadata.ts';
import { rpcMethodName } from '../dialect.ts';
import { type TranslationLoss, lenientMode, strictMode } from '../translation-loss.ts';
import { v0_3 } from './index.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

function writtenPart(part: Part): unknown {
  const message = plain(v0_3.message.write({ messageId: 'm', role: 'user', parts: [part] }));
  return (message as { parts: unknown[] }).parts[0];
}

function readPart(wire: unknown, mode = strictMode): Part | undefined {
  return v0_3.message.read({ messageId: 'm', role: 'user', parts: [wire] }, mode).parts[0];
}

function status(
  state: TaskStatusUpdateEvent['status']['state'],
  more: Partial<TaskStatusUpdateEvent> = {},
): TaskStatusUpdateEvent {
  return { kind: 'status', taskId: 't', contextId: 'c', status: { state }, ...more };
}

const written = (event: TaskStatusUpdateEvent): { final: boolean; metadata?: unknown } =>
  plain(v0_3.eventWriter().write(event)[0]) as { final: boolean; metadata?: unknown };

describe('v0_3 part', () => {
  it.each([[null], [7], ['word'], [[1, 2]], [false]])('boxes the data %j', (data) => {
    const wire = writtenPart({ data });
    expect(wire).toEqual({ kind: 'data', data: { value: data }, metadata: { data_part_compat: true } });
    expect(readPart(wire)).toEqual({ data });
  });

  it('does not box objects, even if they look like a box', () => {
    const wire = writtenPart({ data: { value: 1 } });
    expect(wire).toEqual({ kind: 'data', data: { value: 1 } });
    expect(readPart(wire)).toEqual({ data: { value: 1 } });
  });

  it('unboxes only if the flag is true', () => {
    const wire = { kind: 'data', data: { value: 1 }, metadata: { data_part_compat: 'yes' } };
    expect(readPart(wire)).toEqual({ data: { value: 1 }, metadata: { data_part_compat: 'yes' } });
  });

  it('stores media type and name of a text in its metadata', () => {
    const part: Part = {
      text: '',
      mediaType: 'text/markdown',
      filename: 'a.md',
      metadata: { mine: 1, [compatKey]: { other: 2 } },
    };
    const wire = writtenPart(part);
    expect(wire).toEqual({
      kind: 'text',
      text: '',
      metadata: { mine: 1, [compatKey]: { other: 2, mediaType: 'text/markdown', filename: 'a.md' } },
    });
    expect(readPart(wire)).toEqual(part);
  });

  it.each([
    [{ kind: 'file', file: { bytes: 'AAE' } }, { raw: 'AAE=' }],
    [{ kind: 'file', file: { fileWithBytes: '-_8' } }, { raw: '+/8=' }],
    [{ kind: 'file', file: { data: 'AAE=' } }, { raw: 'AAE=' }],
    [{ kind: 'file', file: { uri: 'https://x.test', bytes: null, name: null } }, { url: 'https://x.test' }],
    [
      { file: { fileWithUri: 'https://x.test', mimeType: 'a/b' } },
      { url: 'https://x.test', mediaType: 'a/b' },
    ],
    [{ text: '' }, { text: '' }],
    [{ data: { data: { a: 1 } } }, { data: { a: 1 } }],
    [{ data: { a: 1 } }, { data: { a: 1 } }],
    [{ kind: 'data', data: { data: { a: 1 } } }, { data: { data: { a: 1 } } }],
    [{ kind: 'data', data: [1] }, { data: [1] }],
  ])('reads %j', (wire, part) => {
    expect(readPart(wire)).toEqual(part);
  });

  it.each([
    [{}, 'message.parts[0]'],
    [{ kind: 'video' }, 'message.parts[0]'],
    [{ kind: 'text' }, 'message.parts[0].text'],
    [{ kind: 'text', text: 1 }, 'message.parts[0].text'],
    [{ kind: 'data', data: null }, 'message.parts[0].data'],
    [{ kind: 'file', file: {} }, 'message.parts[0].file'],
    [{ kind: 'file', file: { bytes: 'AAE=', uri: 'https://x.test' } }, 'message.parts[0].file'],
    [{ kind: 'file', file: { bytes: '!' } }, 'message.parts[0].file.bytes'],
  ])('rejects %j with its path', (wire, field) => {
    expect(() => readPart(wire)).toThrow(
      expect.objectContaining({ reason: 'INVALID_PARAMS', violations: [expect.objectContaining({ field })] }),
    );
  });

  it('prefers bytes over uri in a response and records a loss', () => {
    const losses: TranslationLoss[] = [];
    const wire = { kind: 'file', file: { bytes: 'AAE=', uri: 'https://x.test' } };
    expect(readPart(wire, lenientMode(losses))).toEqual({ raw: 'AAE=' });
    expect(losses).toEqual([expect.objectContaining({ path: 'message.parts[0].file.uri', kind: 'dropped' })]);
  });
});

describe('v0_3 message', () => {
  it('does not require kind and reads null as absent', () => {
    const wire = { messageId: 'm', role: 'agent', parts: [{ text: 'x' }], taskId: null, metadata: null };
    expect(v0_3.message.read(wire, strictMode)).toEqual({
      messageId: 'm',
      role: 'agent',
      parts: [{ text: 'x' }],
    });
  });

  it('rejects an unknown role in a request and reads it as agent in a response', () => {
    const wire = { messageId: 'm', role: 'system', parts: [{ text: 'x' }] };
    expect(() => v0_3.message.read(wire, strictMode)).toThrow('message.role must be user or agent');
    const losses: TranslationLoss[] = [];
    expect(v0_3.message.read(wire, lenientMode(losses)).role).toBe('agent');
    expect(losses).toEqual([expect.objectContaining({ path: 'message.role', kind: 'guessed' })]);
  });

  it.each([[undefined], [[]]])('rejects the parts %j', (parts) => {
    expect(() => v0_3.message.read({ messageId: 'm', role: 'user', parts }, strictMode)).toThrow(
      'message.parts',
    );
  });
});

describe('v0_3 task', () => {
  it.each(taskStates)('writes the state %s unchanged', (state) => {
    const wire = plain(v0_3.task.write({ id: 't', contextId: 'c', status: { state } }));
    expect(wire).toEqual({ kind: 'task', id: 't', contextId: 'c', status: { state } });
    expect(v0_3.task.read(wire, lenientMode()).status.state).toBe(state);
  });

  it('preserves the name of an unknown state and never writes it as a state', () => {
    const task = v0_3.task.read(
      { kind: 'task', id: 't', contextId: 'c', status: { state: 'napping' } },
      lenientMode(),
    );
    expect(task.metadata).toEqual({ [compatKey]: { state: 'napping' } });
    const again = plain(v0_3.task.write(task));
    expect(again).toMatchObject({
      status: { state: 'unknown' },
      metadata: { [compatKey]: { state: 'napping' } },
    });
    expect(v0_3.task.read(again, lenientMode())).toEqual(task);
  });

  it('preserves an empty context id and records a missing one', () => {
    const losses: TranslationLoss[] = [];
    const wire = { id: 't', status: { state: 'working' } };
    expect(v0_3.task.read({ ...wire, contextId: '' }, lenientMode(losses)).contextId).toBe('');
    expect(losses).toEqual([]);
    expect(v0_3.task.read(wire, lenientMode(losses)).contextId).toBe('');
    expect(losses).toEqual([expect.objectContaining({ path: 'task.contextId', kind: 'defaulted' })]);
  });

  it('reads a timestamp without zone as UTC and records a loss', () => {
    const losses: TranslationLoss[] = [];
    const wire = { id: 't', contextId: 'c', status: { state: 'working', timestamp: '2025-08-01T10:00:00' } };
    expect(v0_3.task.read(wire, lenientMode(losses)).status.timestamp).toBe('2025-08-01T10:00:00.000Z');
    expect(losses).toHaveLength(1);
  });
});

describe('v0_3 stream', () => {
  it.each(taskStates)('sets final for the state %s', (state) => {
    const last = ['completed', 'failed', 'canceled', 'rejected', 'input-required'].includes(state);
    expect(written(status(state)).final).toBe(last);
  });

  it('round-trips final of a working task and hides the mark', () => {
    const wire = {
      kind: 'status-update',
      taskId: 't',
      contextId: 'c',
      status: { state: 'working' },
      final: true,
    };
    const [, event] = v0_3.eventReader({}).read(wire, lenientMode());
    expect(event).toEqual(status('working', { metadata: { [compatKey]: { final: true } } }));
    expect(plain(v0_3.eventWriter().write(event as TaskStatusUpdateEvent)[0])).toEqual(wire);
  });

  it.each(['completed', 'input-required', 'auth-required'] as const)(
    'stores no mark for a final %s',
    (state) => {
      const wire = { kind: 'status-update', taskId: 't', contextId: 'c', status: { state }, final: true };
      expect(v0_3.eventReader({}).read(wire, lenientMode()).at(-1)).toEqual(status(state));
    },
  );

  it('repeats the last status as final unless it was final', () => {
    const writer = v0_3.eventWriter();
    expect(writer.end(undefined)).toEqual([]);
    expect(writer.end(status('completed'))).toEqual([]);
    expect(writer.end(status('working', { metadata: { [compatKey]: { final: true } } }))).toEqual([]);
    expect(plain(writer.end(status('auth-required')))).toEqual([
      { kind: 'status-update', taskId: 't', contextId: 'c', status: { state: 'auth-required' }, final: true },
    ]);
  });

  it('inserts a task before the first update', () => {
    const losses: TranslationLoss[] = [];
    const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] };
    const reader = v0_3.eventReader({ message });
    const wire = {
      kind: 'status-update',
      taskId: 't',
      contextId: 'c',
      status: { state: 'working' },
      final: false,
    };
    expect(reader.read(wire, lenientMode(losses))).toEqual([
      { kind: 'task', task: { id: 't', contextId: 'c', status: { state: 'working' }, history: [message] } },
      status('working'),
    ]);
    expect(losses).toEqual([expect.objectContaining({ kind: 'guessed' })]);
    expect(reader.read(wire, lenientMode())).toEqual([status('working')]);
  });

  it('inserts nothing when the stream starts with a task or message', () => {
    const task = { kind: 'task', id: 't', contextId: 'c', status: { state: 'submitted' } };
    const reader = v0_3.eventReader({});
    expect(reader.read(task, lenientMode())).toHaveLength(1);
    const update = {
      kind: 'artifact-update',
      taskId: 't',
      contextId: 'c',
      artifact: { artifactId: 'a', parts: [] },
    };
    expect(reader.read(update, lenientMode())).toHaveLength(1);
    const message = { kind: 'message', messageId: 'm', role: 'agent', parts: [] };
    expect(v0_3.eventReader({}).read(message, lenientMode())).toHaveLength(1);
  });

  it.each([
    [{ taskId: 't', contextId: 'c', status: { state: 'working' } }, 'status'],
    [{ id: 't', contextId: 'c', status: { state: 'working' } }, 'task'],
    [{ taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [] } }, 'artifact'],
    [{ messageId: 'm', role: 'agent', parts: [] }, 'message'],
  ])('detects %j without a tag', (wire, kind) => {
    expect(v0_3.eventReader({}).read(wire, lenientMode()).at(-1)?.kind).toBe(kind);
  });

  it('rejects other objects', () => {
    expect(() => v0_3.eventReader({}).read({ hello: 1 }, lenientMode())).toThrow('event must be a task');
  });
});

describe('v0_3 dialect', () => {
  it('prefers the schema name of the extended card method and accepts the other', () => {
    expect(rpcMethodName(v0_3, 'extendedCard')).toBe('agent/getAuthenticatedExtendedCard');
    expect(v0_3.methods.get('agent/authenticatedExtendedCard')).toBe('extendedCard');
  });

  it('writes the complete task in every notification', () => {
    const task = { id: 't', contextId: 'c', status: { state: 'working' as const } };
    expect(v0_3.notification.write(status('working'), task)).toEqual(v0_3.task.write(task));
    const wire = {
      kind: 'status-update',
      taskId: 't',
      contextId: 'c',
      status: { state: 'working' },
      final: false,
    };
    expect(v0_3.notification.read(wire, lenientMode())).toEqual(status('working'));
  });
});
