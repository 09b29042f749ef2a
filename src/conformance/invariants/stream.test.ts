import { describe, expect, it } from 'vitest';
import type { NormalizedEvent, NormalizedTask } from '../drivers/normalized-views.ts';
import type { Observation } from '../observation/observation.ts';
import { streamInvariants } from './stream.ts';

const task = (state: string): NormalizedEvent => ({
  kind: 'task',
  task: { id: 't', contextId: 'c', state } as NormalizedTask,
  raw: {},
});
const status = (state: string, final: boolean): NormalizedEvent => ({
  kind: 'status',
  taskId: 't',
  contextId: 'c',
  state,
  timestamp: undefined,
  final,
  raw: {},
});

describe('stream.after-terminal', () => {
  const check = (...events: NormalizedEvent[]) =>
    streamInvariants
      .find(({ id }) => id === 'stream.after-terminal')
      ?.check({ kind: 'stream', events } as unknown as Observation);

  it.each([
    [
      'a final status that repeats the state of an ended task',
      [task('completed'), status('completed', true)],
    ],
    ['the complete task after the status', [status('completed', true), task('completed')]],
  ])('allows %s', (_what, events) => {
    expect(check(...events)).toEqual([]);
  });

  it.each([
    ['a status that is not final', [task('completed'), status('completed', false)]],
    ['another state', [task('completed'), status('failed', true)]],
    ['a second final status', [status('completed', true), status('completed', true)]],
  ])('reports %s after the end', (_what, events) => {
    expect(check(...events)).toHaveLength(1);
  });
});
