import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { artifactContent, terminalStates } from '../../observation/task-tracker.ts';
import type { NormalizedTask } from '../../drivers/normalized-views.ts';

const resting = new Set([...terminalStates, 'input-required', 'auth-required']);

/** What a task has made, in one text. */
function contents({ artifacts = [] }: NormalizedTask): string {
  return artifacts.map((each) => `${each.id}: ${artifactContent(each)}`).join('; ');
}

/** When answers come, and how much history they have: sections 3.2.2 and 3.2.4. */
export const responseModeChecks = defineChecks([
  {
    id: 'mode.blocking',
    requirements: ['MODE-001'],
    section: '3.2.2',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'Unless it is told otherwise, a send waits until the task has ended or waits for its caller.',
    remedy: 'Answer when the task rests; answer at once only for returnImmediately.',
    versions: ['1.0'],
    async run(probe) {
      const began = performance.now();
      const task = await probe.sendPrompt('slow');
      probe.expect(
        resting.has(task.state),
        `The answer came while the task was ${task.state}, after ${Math.round(performance.now() - began)} ms`,
        { expected: [...resting].join(', '), actual: task.state },
      );
    },
  },
  {
    id: 'mode.blocking-input',
    requirements: ['MODE-001'],
    section: '3.2.2',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A send is answered when the task waits for input.',
    remedy: 'Answer with the task in the state input-required.',
    versions: ['1.0'],
    async run(probe) {
      const response = await probe.call('send', {
        message: probe.context.prompts.promptFor('input-required'),
      });
      const task = probe.driver.decodeTask(response.result);
      if (!task?.id) throw new InconclusiveError('No task could be made.');
      if (resting.has(task.state)) return;
      const rested = await probe.waitUntilTerminalOrInterrupted(task.id);
      probe.expect(
        rested.state !== 'input-required',
        `The answer came while the task was ${task.state}, before it asked`,
        {
          expected: 'input-required',
          actual: task.state,
        },
      );
    },
  },
  {
    id: 'mode.newest',
    requirements: ['MODE-002'],
    section: '3.2.2',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'The answer to a send that waited has the newest state and everything that was made.',
    remedy: 'Read the task again before you answer.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const task = await probe.sendPrompt('artifact');
      if (task.state !== 'completed')
        throw new InconclusiveError(`The task was ${task.state}, so nothing can be compared.`);
      const later = await probe.getTask(task.id);
      const [now, then] = [contents(task), contents(later)];
      probe.expect(now === then, 'The task has other artifacts when it is asked for', {
        expected: then,
        actual: now,
      });
      probe.expect(later.state === task.state, 'The task has another state when it is asked for', {
        expected: later.state,
        actual: task.state,
      });
    },
  },
  {
    id: 'mode.immediately',
    requirements: ['MODE-003', 'SEND-004'],
    section: '3.2.2',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'With returnImmediately the answer comes as soon as there is a task.',
    remedy: 'Answer right after the task was made, and go on working.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const began = performance.now();
      const task = await probe.startSlowTask();
      const took = performance.now() - began;
      probe.expect(
        !terminalStates.has(task.state),
        `The task had ended when the answer came, after ${Math.round(took)} ms`,
        { expected: 'a task at work', actual: task.state },
      );
      const later = await probe.pollTask(task.id, ({ state }) => state !== 'submitted');
      probe.expect(later.state !== 'submitted', 'The work never began');
      await probe.call('cancel', { id: task.id });
    },
  },
  {
    id: 'mode.immediately-goes-on',
    requirements: ['SEND-004'],
    section: '3.1.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'Work goes on after a task was returned at once.',
    remedy: 'Do not tie the work to the request that began it.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const task = await probe.startSlowTask();
      const rested = await probe.waitUntilTerminalOrInterrupted(task.id);
      probe.expect(rested.state === 'completed', 'The task was never completed', {
        expected: 'completed',
        actual: rested.state,
      });
    },
  },
  {
    id: 'mode.immediately-stream',
    requirements: ['MODE-004'],
    section: '3.2.2',
    level: 'MUST',
    category: 'streaming',
    sentence: 'returnImmediately changes nothing about streams.',
    remedy: 'Ignore it for streams.',
    versions: ['1.0'],
    preconditions: ['streaming'],
    async run(probe) {
      const { events } = await probe.expectStream('stream', {
        message: probe.context.prompts.promptFor('completed'),
        returnImmediately: true,
      });
      const last = events.at(-1);
      const state = last?.kind === 'status' ? last.state : last?.kind === 'task' ? last.task.state : '';
      probe.expect(resting.has(state), 'The stream ended before the task did', { actual: state });
    },
  },
  {
    id: 'history.zero',
    requirements: ['HIST-001'],
    section: '3.2.4',
    level: 'SHOULD',
    category: 'lifecycle',
    sentence: 'With historyLength 0 there is no history.',
    remedy: 'Leave the member out.',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.completeTask();
      const asked = await probe.getTask(task.id, 0);
      probe.expect(
        !('history' in asked.raw) || (asked.history ?? []).length > 0,
        'There is an empty history instead of none',
      );
      probe.expect((asked.history ?? []).length === 0, 'There is history although none was asked for', {
        actual: String(asked.history?.length),
      });
      const sent = await probe.sendPrompt('completed', { historyLength: 0 });
      probe.expect(
        (sent.history ?? []).length === 0,
        'The answer to a send has history although none was asked for',
        { actual: String(sent.history?.length) },
      );
    },
  },
  {
    id: 'history.newest',
    requirements: ['HIST-002'],
    section: '3.2.4',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'With historyLength n there are the newest n messages, or fewer.',
    remedy: 'Cut the history at its old end.',
    versions: ['1.0', '0.3'],
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      const reply = { text: 'the newest words', messageId: crypto.randomUUID(), taskId: task.id };
      await probe.expectResult('send', { message: reply });
      await probe.waitUntilTerminalOrInterrupted(task.id);
      const { history = [] } = await probe.getTask(task.id, 1);
      probe.expect(history.length <= 1, 'There is more history than was asked for', {
        expected: '1',
        actual: String(history.length),
      });
      const whole = (await probe.getTask(task.id)).history ?? [];
      const newest = whole.at(-1);
      if (history.length === 1 && newest !== undefined)
        probe.expect(JSON.stringify(history[0]) === JSON.stringify(newest), 'The history is not the newest', {
          expected: JSON.stringify(newest).slice(0, 200),
          actual: JSON.stringify(history[0]).slice(0, 200),
        });
    },
  },
  {
    id: 'history.negative',
    requirements: ['HIST-004', 'ERR-009'],
    section: '3.2.4',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'A negative historyLength is refused.',
    remedy: 'Answer -32602 (HTTP 400).',
    versions: ['1.0'],
    async run(probe) {
      const task = await probe.completeTask();
      await probe.expectError('get', { id: task.id, historyLength: -1 }, 'InvalidParams');
      await probe.expectError(
        'send',
        { message: probe.context.prompts.anyPrompt(), historyLength: -1 },
        'InvalidParams',
      );
    },
  },
]);
