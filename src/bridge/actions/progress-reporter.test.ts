import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import type { TaskStatusUpdateEvent } from '../../protocol/event.ts';
import type { TaskState } from '../../protocol/task.ts';
import type { ActionProgress } from '../action-types.ts';
import { ProgressReporter } from './progress-reporter.ts';

const status = (text: string, state: TaskState = 'working'): TaskStatusUpdateEvent => ({
  kind: 'status',
  taskId: 't',
  contextId: 'c',
  status: { state, message: { messageId: text, role: 'agent', parts: [{ text }] } },
});

describe('progress', () => {
  it('is told at once first, then the newest of each interval, and what waits is told at the end', () => {
    const clock = new ManualClock();
    const told: ActionProgress[] = [];
    const teller = new ProgressReporter((each) => told.push(each), 250, clock);
    for (const text of ['1', '2', '3']) teller.report(status(text));
    expect(told.map(({ message }) => message)).toEqual(['1']);
    clock.advance(250);
    teller.report(status('4'));
    expect(told.map(({ message }) => message)).toEqual(['1', '3']);
    clock.advance(250);
    clock.advance(250);
    teller.report(status('5'));
    teller.report(status('6'));
    teller.report(status('7'));
    teller.end();
    clock.advance(250);
    expect(told.map(({ message, count }) => [message, count])).toEqual([
      ['1', 1],
      ['3', 2],
      ['4', 3],
      ['5', 4],
      ['7', 5],
    ]);
    expect(clock.pending).toBe(0);
  });

  it('is not what the response tells', () => {
    const told: ActionProgress[] = [];
    const teller = new ProgressReporter((each) => told.push(each), 0, new ManualClock());
    for (const state of ['completed', 'input-required', 'failed'] as const) teller.report(status('x', state));
    expect(told).toEqual([]);
  });
});
