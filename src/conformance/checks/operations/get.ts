import { defineChecks } from '../../check.ts';

/** GetTask: section 3.1.3. */
export const getChecks = defineChecks([
  {
    id: 'get.known',
    requirements: ['GET-001'],
    section: '3.1.3',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A task that was made can be asked for, with its state and what it made.',
    remedy: 'Store the task before the answer is sent, and give it back whole.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const made = await probe.completeTask();
      const task = await probe.getTask(made.id);
      probe.expect(task.id === made.id, 'get gave another task', {
        expected: made.id,
        actual: task.id,
      });
      probe.expect(task.state === made.state, 'get gave another state than the answer to send', {
        expected: made.state,
        actual: task.state,
      });
    },
  },
  {
    id: 'get.unknown',
    requirements: ['GET-002'],
    section: '3.1.3',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A task that does not exist is refused with TaskNotFound.',
    remedy: 'Answer -32001 (HTTP 404) when the task is not there or not for this caller.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      await probe.expectError('get', { id: crypto.randomUUID() }, 'TaskNotFound');
    },
  },
]);
