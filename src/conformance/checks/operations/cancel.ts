import { sleep, systemClock } from '../../../primitives/clock.ts';
import { must } from '../../rule-model.ts';
import { type Check, defineChecks } from '../../check.ts';

/** A terminal task that cannot be canceled. */
function terminalCheck(
  state: 'failed' | 'rejected' | 'completed',
  versions: Check['versions'],
  createTask: (...args: Parameters<Check['run']>) => Promise<{ id: string }>,
): Check {
  return {
    id: `cancel.${state}`,
    ...must('3.1.5', 'CANC-002'),
    category: 'error-handling',
    sentence: `The agent rejects the cancellation of a ${state} task with TaskNotCancelable.`,
    remedy: 'Return -32002, and do not change the task.',
    versions,
    async run(probe) {
      const { id } = await createTask(probe);
      await probe.expectError('cancel', { id }, 'TaskNotCancelable');
      if (state !== 'completed') return;
      const after = await probe.getTask(id);
      probe.expectEqual(after.state, state, 'The rejected cancellation changed the task');
    },
  };
}

/** CancelTask: sections 3.1.5 and 3.3.1. */
export const cancelChecks = defineChecks({ category: 'lifecycle', versions: ['1.0', '0.3', '0.1'] }, [
  {
    id: 'cancel.running',
    ...must('3.1.5', 'CANC-001'),
    sentence: 'The agent cancels a working task and returns it in the state canceled.',
    remedy: 'Stop the work, set the status, and return the task.',
    async run(probe) {
      const { id } = await probe.startSlowTask();
      const returned = probe.driver.decodeTask(await probe.expectResult('cancel', { id }));
      probe.expect(returned !== undefined, 'cancel did not return a task');
      const after = await probe.pollTask(id, ({ state }) => state !== 'working' && state !== 'submitted');
      probe.expectEqual(after.state, 'canceled', 'The task was not canceled');
      probe.expectEqual(returned?.state, 'canceled', 'The response contains another state');
    },
  },
  terminalCheck('completed', ['1.0', '0.3', '0.1'], (probe) => probe.completeTask()),
  terminalCheck('failed', ['1.0'], (probe) => probe.sendPrompt('failed')),
  terminalCheck('rejected', ['1.0'], (probe) => probe.sendPrompt('rejected')),
  {
    id: 'cancel.unknown',
    ...must('3.1.5', 'CANC-003'),
    category: 'error-handling',
    sentence: 'The agent rejects the cancellation of an unknown task with TaskNotFound.',
    remedy: 'Return -32001 (HTTP 404).',
    async run(probe) {
      await probe.expectError('cancel', { id: crypto.randomUUID() }, 'TaskNotFound');
    },
  },
  {
    id: 'cancel.twice',
    ...must('3.3.1', 'IDEM-003', 'IDEM-002'),
    sentence: 'Cancellation is idempotent: a second cancellation does not change the task.',
    remedy:
      'Return the canceled task, TaskNotCancelable or TaskNotFound for the second request; change nothing.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const { id } = await probe.startSlowTask();
      await probe.expectResult('cancel', { id });
      await probe.waitUntilTerminalOrInterrupted(id);
      const second = await probe.call('cancel', { id });
      if (second.error)
        probe.assertError(second, ['TaskNotCancelable', 'TaskNotFound'], 'The second cancellation');
      const after = await probe.call('get', { id });
      const state = probe.driver.decodeTask(after.result)?.state;
      if (!after.error) probe.expectEqual(state, 'canceled', 'The second cancellation changed the task');
    },
  },
  {
    id: 'cancel.waiting',
    ...must('3.1.5', 'CANC-001'),
    sentence: 'The agent cancels a task in the state input-required.',
    remedy: 'Accept cancellations in interrupted states, and set the status to canceled.',
    async run(probe) {
      const { id } = await probe.sendPrompt('input-required');
      await probe.expectResult('cancel', { id });
      const after = await probe.waitUntilTerminalOrInterrupted(id);
      probe.expectEqual(after.state, 'canceled', 'The interrupted task was not canceled');
    },
  },
  {
    id: 'cancel.quiet',
    ...must('3.1.5', 'CANC-001', 'STRM-006'),
    sentence: 'A canceled task does not change any more.',
    remedy: 'Stop the work, and ignore results that arrive after the cancellation.',
    async run(probe) {
      const { id } = await probe.startSlowTask();
      await probe.expectResult('cancel', { id });
      const canceled = await probe.waitUntilTerminalOrInterrupted(id);
      await sleep(systemClock, 600);
      const later = await probe.getTask(id);
      probe.expectEqual(later.state, canceled.state, 'The task changed after it was canceled');
    },
  },
]);
