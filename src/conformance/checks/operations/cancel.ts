import { defineChecks } from '../../check.ts';

/** CancelTask: sections 3.1.5 and 3.3.1. */
export const cancelChecks = defineChecks([
  {
    id: 'cancel.running',
    requirements: ['CANC-001'],
    section: '3.1.5',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A task that runs can be canceled, and the answer shows it canceled.',
    remedy: 'Stop the work, set the status, and answer with the task.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const task = await probe.startSlowTask();
      const result = await probe.expectResult('cancel', { id: task.id });
      const answered = probe.driver.decodeTask(result);
      probe.expect(answered !== undefined, 'cancel did not answer with a task');
      const after = await probe.pollTask(
        task.id,
        ({ state }) => state !== 'working' && state !== 'submitted',
      );
      probe.expect(after.state === 'canceled', 'The task was not canceled', {
        expected: 'canceled',
        actual: after.state,
      });
      probe.expect(answered?.state === 'canceled', 'The answer does not show the cancellation', {
        expected: 'canceled',
        actual: answered?.state ?? '',
      });
    },
  },
  {
    id: 'cancel.completed',
    requirements: ['CANC-002'],
    section: '3.1.5',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A task that has ended cannot be canceled: TaskNotCancelable.',
    remedy: 'Answer -32002, and leave the task as it is.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const task = await probe.completeTask();
      await probe.expectError('cancel', { id: task.id }, 'TaskNotCancelable');
      const after = await probe.getTask(task.id);
      probe.expect(after.state === 'completed', 'The refused cancellation changed the task', {
        expected: 'completed',
        actual: after.state,
      });
    },
  },
  {
    id: 'cancel.failed',
    requirements: ['CANC-002'],
    section: '3.1.5',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A task that is failed cannot be canceled: TaskNotCancelable.',
    remedy: 'Answer -32002, and leave the task as it is.',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.sendPrompt('failed');
      await probe.expectError('cancel', { id: task.id }, 'TaskNotCancelable');
    },
  },
  {
    id: 'cancel.rejected',
    requirements: ['CANC-002'],
    section: '3.1.5',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A task that is rejected cannot be canceled: TaskNotCancelable.',
    remedy: 'Answer -32002, and leave the task as it is.',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.sendPrompt('rejected');
      await probe.expectError('cancel', { id: task.id }, 'TaskNotCancelable');
    },
  },
  {
    id: 'cancel.unknown',
    requirements: ['CANC-003'],
    section: '3.1.5',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A task that does not exist cannot be canceled: TaskNotFound.',
    remedy: 'Answer -32001 (HTTP 404).',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      await probe.expectError('cancel', { id: crypto.randomUUID() }, 'TaskNotFound');
    },
  },
  {
    id: 'cancel.twice',
    requirements: ['IDEM-003', 'IDEM-002'],
    section: '3.3.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'Canceling twice has the effect of canceling once.',
    remedy:
      'Answer the second time with the canceled task, or with TaskNotCancelable or TaskNotFound; change nothing.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const task = await probe.startSlowTask();
      await probe.expectResult('cancel', { id: task.id });
      await probe.waitUntilTerminalOrInterrupted(task.id);
      const again = await probe.call('cancel', { id: task.id });
      if (again.error)
        probe.assertError(again, ['TaskNotCancelable', 'TaskNotFound'], 'The second cancellation');
      const after = await probe.call('get', { id: task.id });
      const state = probe.driver.decodeTask(after.result)?.state;
      probe.expect(
        state === 'canceled' || after.error !== undefined,
        'The second cancellation changed the task',
        { expected: 'canceled', actual: state ?? '' },
      );
    },
  },
  {
    id: 'cancel.waiting',
    requirements: ['CANC-001'],
    section: '3.1.5',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A task that waits for input can be canceled.',
    remedy: 'Let callers leave a conversation: set the status to canceled.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      await probe.expectResult('cancel', { id: task.id });
      const after = await probe.waitUntilTerminalOrInterrupted(task.id);
      probe.expect(after.state === 'canceled', 'The waiting task was not canceled', {
        expected: 'canceled',
        actual: after.state,
      });
    },
  },
  {
    id: 'cancel.quiet',
    requirements: ['CANC-001', 'STRM-006'],
    section: '3.1.5',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A canceled task stays canceled: the work that was under way changes nothing any more.',
    remedy: 'Let the work stop, and ignore what it still gives.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const task = await probe.startSlowTask();
      await probe.expectResult('cancel', { id: task.id });
      const first = await probe.waitUntilTerminalOrInterrupted(task.id);
      await new Promise((resolve) => setTimeout(resolve, 600));
      const later = await probe.getTask(task.id);
      probe.expect(later.state === first.state, 'The task went on after it was canceled', {
        expected: first.state,
        actual: later.state,
      });
    },
  },
]);
