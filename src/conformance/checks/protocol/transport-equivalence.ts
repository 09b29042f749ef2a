import { defineChecks } from '../../check.ts';
import { NotApplicableError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import { artifactContent } from '../../observation/task-tracker.ts';
import type { NormalizedTask } from '../../drivers/normalized-views.ts';

/** The same agent over its other transport. */
function other(probe: Probe): Probe {
  const [driver] = probe.context.siblings;
  if (!driver) throw new NotApplicableError('The agent has one transport only.');
  return probe.withDriver(driver);
}

function gist({ id, contextId, state, artifacts = [] }: NormalizedTask): string {
  return JSON.stringify({
    id,
    contextId,
    state,
    artifacts: artifacts.map((each) => [each.id, artifactContent(each)]),
  });
}

const rule = { section: '5.1', level: 'MUST', category: 'lifecycle', versions: ['1.0'] } as const;

/** All transports show the same agent: section 5.1. */
export const transportEquivalenceChecks = defineChecks([
  {
    ...rule,
    id: 'binding.same-task',
    requirements: ['BIND-002', 'MODEL-001', 'BIND-001'],
    sentence: 'A task that was made over one transport is the same over the other.',
    remedy: 'Let all transports share one store.',
    async run(probe) {
      const made = await probe.completeTask({ message: probe.context.prompts.promptFor('artifact') });
      const here = await probe.getTask(made.id);
      const there = await other(probe).getTask(made.id);
      probe.expect(gist(here) === gist(there), 'The task differs between transports', {
        expected: gist(here).slice(0, 300),
        actual: gist(there).slice(0, 300),
        exchanges: probe.exchanges.slice(-2),
      });
    },
  },
  {
    ...rule,
    id: 'binding.same-list',
    requirements: ['BIND-002'],
    sentence: 'A list is the same over both transports.',
    remedy: 'Let all transports share one store.',
    async run(probe) {
      const { contextId } = await probe.completeTask();
      const beside = other(probe);
      await beside.completeTask({ message: { contextId: contextId ?? '' } });
      const ids = async (side: Probe): Promise<string> => {
        const page = (await side.expectResult('list', { contextId: contextId ?? '' })) as {
          tasks?: { id?: string }[];
        };
        return (page.tasks ?? []).map(({ id }) => id).join();
      };
      const [here, there] = [await ids(probe), await ids(beside)];
      probe.expect(here === there, 'The lists differ between transports', { expected: here, actual: there });
    },
  },
  {
    ...rule,
    id: 'binding.same-cancel',
    requirements: ['BIND-001', 'BIND-002'],
    sentence: 'A task of one transport can be canceled over the other.',
    remedy: 'Let all transports share one store.',
    async run(probe) {
      const task = await probe.startSlowTask();
      await other(probe).expectResult('cancel', { id: task.id });
      const after = await probe.waitUntilTerminalOrInterrupted(task.id);
      probe.expect(after.state === 'canceled', 'The cancellation did not reach the task', {
        expected: 'canceled',
        actual: after.state,
      });
    },
  },
  {
    ...rule,
    id: 'binding.same-errors',
    requirements: ['BIND-003', 'ERR-020', 'ERR-021', 'ERR-012', 'ERR-001'],
    category: 'error-handling',
    sentence: 'The same mistake is the same error over both transports.',
    remedy: 'Map errors in one place.',
    async run(probe) {
      const beside = other(probe);
      const done = await probe.completeTask();
      for (const side of [probe, beside]) {
        await side.expectError('get', { id: crypto.randomUUID() }, 'TaskNotFound');
        await side.expectError('cancel', { id: done.id }, 'TaskNotCancelable');
        await side.expectError(
          'send',
          { message: { text: 'go on', taskId: done.id } },
          'UnsupportedOperation',
        );
        await side.expectError('list', { pageSize: 101 }, 'InvalidParams');
      }
    },
  },
]);
