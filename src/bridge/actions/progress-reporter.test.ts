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

describe('ProgressReporter', () => {
  it('reports the first event immediately, then the newest per interval, and the rest on end', () => {
    const clock = new ManualClock();
    const reported: ActionProgress[] = [];
    const reporter = new ProgressReporter((each) => reported.push(each), 250, clock);
    for (const text of ['1', '2', '3']) reporter.report(status(text));
    expect(reported.map(({ message }) => message)).toEqual(['1']);
    clock.advance(250);
    reporter.report(status('4'));
    expect(reported.map(({ message }) => message)).toEqual(['1', '3']);
    clock.advance(250);
    clock.advance(250);
    reporter.report(status('5'));
    reporter.report(status('6'));
    reporter.report(status('7'));
    reporter.end();
    clock.advance(250);
    expect(reported.map(({ message, count }) => [message, count])).toEqual([
      ['1', 1],
      ['3', 2],
      ['4', 3],
      ['5', 4],
      ['7', 5],
    ]);
    expect(clock.pending).toBe(0);
  });

  it('does not report terminal and interrupted states', () => {
    const reported: ActionProgress[] = [];
    const reporter = new ProgressReporter((each) => reported.push(each), 0, new ManualClock());
    for (const state of ['completed', 'input-required', 'failed'] as const)
      reporter.report(status('x', state));
    expect(reported).toEqual([]);
  });
});
