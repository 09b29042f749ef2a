import { expect, it } from 'vitest';
import type { StreamEvent } from '../protocol/event.ts';
import { decode, encode } from './translate.ts';
import { v0_1 } from './v0_1/index.ts';
import { v1_0 } from './v1_0/index.ts';

const task = { id: 't', contextId: 'c', status: { state: 'rejected' } } as const;

it('encode returns the wire value and the losses', () => {
  const { wire, losses } = encode(v0_1, 'task', task);
  expect(wire).toMatchObject({ status: { state: 'failed' } });
  expect(losses).toEqual([expect.objectContaining({ path: 'task.status.state', kind: 'guessed' })]);
  expect(encode(v1_0, 'task', task).losses).toEqual([]);
});

it('decode returns the model value and the losses', () => {
  const wire = { id: 't', contextId: 'c', status: { state: 'PAUSED' } };
  const { value, losses } = decode(v1_0, 'task', wire);
  expect(value.status.state).toBe('unknown');
  expect(losses).toHaveLength(1);
  expect(() => decode(v1_0, 'task', wire, { lenient: false })).toThrow(/task state/);
});

it('encodes and decodes requests and results', () => {
  expect(decode(v0_1, 'getTask.request', { id: 't' }).value).toEqual({ id: 't', historyLength: 0 });
  expect(encode(v1_0, 'send.result', task).wire).toMatchObject({ task: { id: 't' } });
});

it('encodes and decodes a complete stream with its final event', () => {
  const events: StreamEvent[] = [{ kind: 'task', task: { ...task, status: { state: 'working' } } }];
  const { wire } = encode(v0_1, 'events', events);
  expect(wire).toMatchObject([{ final: false }, { final: true }]);
  expect(decode(v0_1, 'events', JSON.parse(JSON.stringify(wire))).value).toEqual(events);
});
