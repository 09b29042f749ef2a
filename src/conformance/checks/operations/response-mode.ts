import { must, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { eventState, type NormalizedTask } from '../../drivers/normalized-views.ts';
import { artifactContent, restingStates, terminalStates } from '../../observation/task-tracker.ts';

function describeArtifacts({ artifacts = [] }: NormalizedTask): string {
  return artifacts.map((each) => `${each.id}: ${artifactContent(each)}`).join('; ');
}

/** Blocking and non-blocking responses, and the length of the history: sections 3.2.2 and 3.2.4. */
export const responseModeChecks = defineChecks({ category: 'lifecycle', versions: ['1.0'] }, [
  {
    id: 'mode.blocking',
    ...must('3.2.2', 'MODE-001'),
    sentence: 'By default, a send returns when the task is terminal or interrupted.',
    remedy: 'Return when the task is terminal or interrupted; return earlier only with returnImmediately.',
    async run(probe) {
      const startedAt = performance.now();
      const task = await probe.sendPrompt('slow');
      probe.expect(
        restingStates.has(task.state),
        `The send returned a task in the state ${task.state} after ${Math.round(performance.now() - startedAt)} ms`,
        { expected: [...restingStates], actual: task.state },
      );
    },
  },
  {
    id: 'mode.blocking-input',
    ...must('3.2.2', 'MODE-001'),
    sentence: 'A send returns when the task requires input.',
    remedy: 'Return the task in the state input-required.',
    async run(probe) {
      const response = await probe.call('send', { message: probe.prompts.promptFor('input-required') });
      const task = probe.driver.decodeTask(response.result);
      if (!task?.id) throw new InconclusiveError('No task could be created.');
      if (restingStates.has(task.state)) return;
      const stopped = await probe.waitUntilTerminalOrInterrupted(task.id);
      probe.expect(
        stopped.state !== 'input-required',
        `The send returned a task in the state ${task.state}, before it required input`,
        { expected: 'input-required', actual: task.state },
      );
    },
  },
  {
    id: 'mode.newest',
    ...must('3.2.2', 'MODE-002'),
    sentence: 'A blocking send returns the current state and all artifacts.',
    remedy: 'Read the task again before the response is sent.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const task = await probe.sendPrompt('artifact');
      if (task.state !== 'completed')
        throw new InconclusiveError(`The task is ${task.state}, so its artifacts cannot be compared.`);
      const later = await probe.getTask(task.id);
      const [sent, stored] = [describeArtifacts(task), describeArtifacts(later)];
      probe.expectEqual(sent, stored, 'get returned other artifacts than send');
      probe.expectEqual(task.state, later.state, 'get returned another state than send');
    },
  },
  {
    id: 'mode.immediately',
    ...must('3.2.2', 'MODE-003', 'SEND-004'),
    sentence: 'With returnImmediately, a send returns as soon as the task exists.',
    remedy: 'Return directly after the task is created, and continue to work in the background.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const startedAt = performance.now();
      const task = await probe.startSlowTask();
      const duration = performance.now() - startedAt;
      probe.expect(
        !terminalStates.has(task.state),
        `The send returned after ${Math.round(duration)} ms, when the task had ended`,
        { expected: 'a working task', actual: task.state },
      );
      const later = await probe.pollTask(task.id, ({ state }) => state !== 'submitted');
      probe.expect(later.state !== 'submitted', 'The work never started');
      await probe.call('cancel', { id: task.id });
    },
  },
  {
    id: 'mode.immediately-goes-on',
    ...must('3.1.1', 'SEND-004'),
    sentence: 'A task continues after it was returned immediately.',
    remedy: 'Do not bind the work to the request that started it.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const task = await probe.startSlowTask();
      const stopped = await probe.waitUntilTerminalOrInterrupted(task.id);
      probe.expectEqual(stopped.state, 'completed', 'The task was not completed');
    },
  },
  {
    id: 'mode.immediately-stream',
    ...must('3.2.2', 'MODE-004'),
    category: 'streaming',
    sentence: 'The agent ignores returnImmediately for streams.',
    remedy: 'Evaluate returnImmediately only for SendMessage.',
    preconditions: ['streaming'],
    async run(probe) {
      const { events } = await probe.expectStream('stream', {
        message: probe.prompts.promptFor('completed'),
        returnImmediately: true,
      });
      const actual = eventState(events.at(-1));
      probe.expect(restingStates.has(actual), 'The stream ended before the task', { actual });
    },
  },
  {
    id: 'history.zero',
    ...should('3.2.4', 'HIST-001'),
    sentence: 'With historyLength = 0 the response contains no history.',
    remedy: 'Omit history if historyLength is 0.',
    async run(probe) {
      const { id } = await probe.completeTask();
      const task = await probe.getTask(id, 0);
      probe.expect(
        !('history' in task.raw) || (task.history ?? []).length > 0,
        'The task has an empty history instead of none',
      );
      probe.expectEmpty(task.history ?? [], 'get returned history despite historyLength = 0');
      const sent = await probe.sendPrompt('completed', { historyLength: 0 });
      probe.expectEmpty(sent.history ?? [], 'send returned history despite historyLength = 0');
    },
  },
  {
    id: 'history.newest',
    ...must('3.2.4', 'HIST-002'),
    sentence: 'With historyLength = n the response contains at most the newest n messages.',
    remedy: 'Remove the oldest messages of the history.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const canInterrupt = probe.prompts.knows('input-required');
      const { id: taskId, contextId } = canInterrupt
        ? await probe.sendPrompt('input-required')
        : await probe.completeTask();
      const message = { text: 'the newest words', messageId: crypto.randomUUID(), taskId, contextId };
      if (canInterrupt) await probe.expectResult('send', { message });
      await probe.waitUntilTerminalOrInterrupted(taskId);
      const { history = [] } = await probe.getTask(taskId, 1);
      probe.expectEmpty(history.slice(1), 'The history is longer than historyLength');
      const newest = (await probe.getTask(taskId)).history?.at(-1);
      if (history.length === 0 || newest === undefined) return;
      const [returned, expected] = [history[0], newest].map((each) => JSON.stringify(each));
      probe.expectEqual(returned, expected, 'The history does not contain the newest message');
    },
  },
  {
    id: 'history.negative',
    ...must('3.2.4', 'HIST-004', 'ERR-009'),
    category: 'error-handling',
    sentence: 'The agent rejects a negative historyLength.',
    remedy: 'Return -32602 (HTTP 400).',
    async run(probe) {
      const { id } = await probe.completeTask();
      await probe.expectError('get', { id, historyLength: -1 }, 'InvalidParams');
      const message = probe.prompts.anyPrompt();
      await probe.expectError('send', { message, historyLength: -1 }, 'InvalidParams');
    },
  },
]);
