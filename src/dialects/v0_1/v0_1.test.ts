import { describe, expect, it } from 'vitest';
import type { Part } from '../../protocol/part.ts';
import type { Task } from '../../protocol/task.ts';
import { compatKey } from '../compat-metadata.ts';
import { type TranslationLoss, lenientMode, strictMode } from '../translation-loss.ts';
import { v0_1 } from './index.ts';

/** Returns the JSON that a peer receives, without undefined members. */
const onWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const hi = { role: 'user', parts: [{ type: 'text', text: 'hi' }] };
const { results } = v0_1;

const writePart = (part: Part, losses?: TranslationLoss[]): unknown =>
  (
    onWire(v0_1.message.write({ messageId: 'm', role: 'agent', parts: [part] }, losses)) as {
      parts: unknown[];
    }
  ).parts[0];
const readPart = (part: unknown, mode = strictMode): unknown =>
  v0_1.message.read({ role: 'agent', parts: [part] }, mode).parts[0];

describe('v0_1 part', () => {
  it.each<[unknown, Part]>([
    [{ type: 'text', text: '' }, { text: '' }],
    [
      { type: 'file', file: { name: 'a', mimeType: 'b/c', bytes: 'AAE=' } },
      { raw: 'AAE=', filename: 'a', mediaType: 'b/c' },
    ],
    [{ type: 'file', file: { uri: 'https://f.test/' } }, { url: 'https://f.test/' }],
    [{ type: 'data', data: { a: null } }, { data: { a: null } }],
    [{ type: 'data', data: { value: [1] }, metadata: { data_part_compat: true } }, { data: [1] }],
    [{ type: 'data', data: { value: null }, metadata: { data_part_compat: true } }, { data: null }],
    [
      { type: 'data', data: { value: 'x' }, metadata: { own: 1, data_part_compat: true } },
      { data: 'x', metadata: { own: 1 } },
    ],
    [
      {
        type: 'text',
        text: 'x',
        metadata: { own: 1, [compatKey]: { mediaType: 'text/html', filename: 'x.html' } },
      },
      { text: 'x', mediaType: 'text/html', filename: 'x.html', metadata: { own: 1 } },
    ],
    [
      { type: 'file', file: { name: 'report.pdf' } },
      { data: {}, metadata: { [compatKey]: { fileRef: { name: 'report.pdf' } } } },
    ],
  ])('maps %j to %j and back', (wire, part) => {
    expect(readPart(wire)).toEqual(part);
    expect(writePart(part)).toEqual(wire);
  });

  it('detects a missing type from the content', () => {
    expect(readPart({ text: 'x', file: null, data: null })).toEqual({ text: 'x' });
    expect(readPart({ file: { bytes: 'AA' } })).toEqual({ raw: 'AA==' });
    expect(readPart({ data: { a: 1 } })).toEqual({ data: { a: 1 } });
  });

  it.each([
    { type: 'data', data: null },
    { type: 'text', text: null },
    { type: 'file', file: null },
  ])('rejects %j in a request', (part) => {
    expect(() => readPart(part)).toThrow(/parts\[0\]/);
  });

  it('accepts artifact parts as a bare list, as in the prose', () => {
    expect(readPart({ type: 'data', data: [1, 2] })).toEqual({ data: [1, 2] });
  });

  it('rejects bytes and uri in a request and drops the uri in a response', () => {
    const both = { type: 'file', file: { bytes: 'AAE=', uri: 'https://f.test/' } };
    expect(() => readPart(both)).toThrow(/only one of bytes and uri/);
    const losses: TranslationLoss[] = [];
    expect(readPart(both, lenientMode(losses))).toEqual({ raw: 'AAE=' });
    expect(losses).toHaveLength(1);
  });

  it('records labels that 0.1 lacks', () => {
    const losses: TranslationLoss[] = [];
    writePart({ text: 'x', mediaType: 'text/html' }, losses);
    expect(losses.map((loss) => loss.path)).toContain('message.parts[0].mediaType');
  });
});

describe('v0_1 task', () => {
  const task: Task = { id: 't', contextId: 's', status: { state: 'working' } };
  const roundTrip = (value: Task): Task => v0_1.task.read(onWire(v0_1.task.write(value)), strictMode);

  it('maps the session to the context', () => {
    expect(onWire(v0_1.task.write(task))).toEqual({ id: 't', sessionId: 's', status: { state: 'working' } });
    expect(roundTrip(task)).toEqual(task);
  });

  it('uses the task id as context without a session, and writes no session', () => {
    const wire = { id: 't', status: { state: 'working' } };
    const read = v0_1.task.read(wire, strictMode);
    expect(read.contextId).toBe('t');
    expect(onWire(v0_1.task.write(read))).toEqual(wire);
  });

  it.each([
    ['rejected', 'failed'],
    ['auth-required', 'input-required'],
  ] as const)('writes the state %s as %s and restores it', (state, word) => {
    const losses: TranslationLoss[] = [];
    const wire = onWire(v0_1.task.write({ ...task, status: { state } }, losses));
    expect(wire).toMatchObject({ status: { state: word }, metadata: { [compatKey]: { state } } });
    expect(losses).toEqual([expect.objectContaining({ path: 'task.status.state', kind: 'guessed' })]);
    expect(v0_1.task.read(wire, strictMode)).toEqual({ ...task, status: { state } });
  });

  it('preserves the name of an unknown state', () => {
    const read = v0_1.task.read({ id: 't', status: { state: 'paused' } }, lenientMode());
    expect(read).toMatchObject({
      status: { state: 'unknown' },
      metadata: { [compatKey]: { state: 'paused' } },
    });
    expect(onWire(v0_1.task.write(read))).toMatchObject({ status: { state: 'unknown' } });
    expect(roundTrip(read)).toEqual(read);
    expect(() => v0_1.task.read({ id: 't', status: { state: 'paused' } }, strictMode)).toThrow(/task state/);
  });

  it('reads null as absent', () => {
    const status = { state: 'working', message: null, timestamp: null };
    const nulls = { sessionId: null, artifacts: null, history: null, metadata: null };
    expect(v0_1.task.read({ id: 't', status, ...nulls }, strictMode)).toEqual({ ...task, contextId: 't' });
  });

  it('reads timestamps as UTC and records guesses', () => {
    const losses: TranslationLoss[] = [];
    const status = { state: 'working', timestamp: '2025-04-09T12:00:00.5' };
    expect(v0_1.task.read({ id: 't', status }, lenientMode(losses)).status.timestamp).toBe(
      '2025-04-09T12:00:00.500Z',
    );
    expect(losses).toHaveLength(1);
  });

  it('sets task and context of its messages', () => {
    const message = {
      messageId: 'm',
      role: 'agent' as const,
      parts: [{ text: 'hi' }],
      taskId: 't',
      contextId: 's',
    };
    const value: Task = { ...task, status: { state: 'working', message }, history: [message] };
    expect(onWire(v0_1.task.write(value))).toMatchObject({
      history: [{ metadata: { [compatKey]: { messageId: 'm' } } }],
    });
    expect(roundTrip(value)).toEqual(value);
  });

  it('does not write derived message ids', () => {
    const wire = { id: 't', status: { state: 'working', message: hi }, history: [hi, hi] };
    const read = v0_1.task.read(wire, strictMode);
    const [first, second] = read.history ?? [];
    expect(first?.messageId).not.toBe(second?.messageId);
    expect(read.status.message?.messageId).toBe(first?.messageId);
    expect(onWire(v0_1.task.write(read))).toMatchObject({ status: { message: hi }, history: [hi, {}] });
    expect(JSON.stringify(v0_1.task.write({ ...read, history: [] }))).not.toContain(compatKey);
    expect(roundTrip(read)).toEqual(read);
  });

  it('numbers artifacts in order and stores their ids in the metadata', () => {
    const artifacts = [
      { artifactId: 'a', parts: [{ text: '1' }], extensions: ['https://e.test/x'] },
      { artifactId: 'artifact-7', parts: [{ text: '2' }] },
      { artifactId: 'artifact-0', parts: [{ text: '3' }], name: 'n', description: 'd' },
    ];
    const wire = onWire(v0_1.task.write({ ...task, artifacts })) as { artifacts: { index: number }[] };
    expect(wire.artifacts.map((each) => each.index)).toEqual([0, 7, 1]);
    expect(wire.artifacts[1]).toEqual({ index: 7, parts: [{ type: 'text', text: '2' }] });
    expect(roundTrip({ ...task, artifacts })).toEqual({ ...task, artifacts });
  });

  it('separates artifacts with the same index and records dropped flags', () => {
    const parts = [{ type: 'text', text: 'x' }];
    const wire = {
      id: 't',
      status: { state: 'completed' },
      artifacts: [{ parts }, { index: 0, append: true, lastChunk: true, parts }],
    };
    const losses: TranslationLoss[] = [];
    const read = v0_1.task.read(wire, lenientMode(losses));
    expect(read.artifacts?.map((each) => each.artifactId)).toEqual(['artifact-0', 'artifact-0-1']);
    expect(losses).toEqual([expect.objectContaining({ path: 'task.artifacts[1]', kind: 'guessed' })]);
    expect(onWire(v0_1.task.write(read))).toMatchObject({
      artifacts: [{ index: 0 }, { index: 1, append: true, lastChunk: true }],
    });
    expect(roundTrip(read)).toEqual(read);
  });
});

describe('v0_1 direct message', () => {
  const message = { messageId: 'm', role: 'agent' as const, parts: [{ text: 'hi' }], contextId: 's' };

  it('round-trips as a completed task', () => {
    const losses: TranslationLoss[] = [];
    const wire = onWire(results.send.write(message, losses));
    expect(wire).toMatchObject({
      id: 'm',
      sessionId: 's',
      status: { state: 'completed', message: { role: 'agent' } },
      metadata: { [compatKey]: { wrappedMessage: true } },
    });
    expect(losses[0]).toMatchObject({ path: 'message', kind: 'guessed' });
    expect(results.send.read(wire, lenientMode())).toEqual(message);
  });

  it('uses the task id of the message', () => {
    expect(results.send.write({ ...message, taskId: 'cli-1' })).toMatchObject({ id: 'cli-1' });
  });
});
