import { must } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';

/** GetTask: section 3.1.3. */
export const getChecks = defineChecks({ category: 'lifecycle', versions: ['1.0', '0.3', '0.1'] }, [
  {
    id: 'get.known',
    ...must('3.1.3', 'GET-001'),
    sentence: 'The agent returns an existing task with its state and artifacts.',
    remedy: 'Store the task before the response is sent, and return it completely.',
    async run(probe) {
      const created = await probe.completeTask();
      const task = await probe.getTask(created.id);
      probe.expectEqual(task.id, created.id, 'get returned another task');
      probe.expectEqual(task.state, created.state, 'get returned another state than send');
    },
  },
  {
    id: 'get.unknown',
    ...must('3.1.3', 'GET-002'),
    category: 'error-handling',
    sentence: 'The agent returns TaskNotFound for an unknown task.',
    remedy: 'Return -32001 (HTTP 404) if the task does not exist or belongs to another user.',
    async run(probe) {
      await probe.expectError('get', { id: crypto.randomUUID() }, 'TaskNotFound');
    },
  },
]);
