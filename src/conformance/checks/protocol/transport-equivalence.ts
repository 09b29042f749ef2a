import { must } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { NotApplicableError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import { artifactContent } from '../../observation/task-tracker.ts';
import type { NormalizedTask } from '../../drivers/normalized-views.ts';

/** Returns a probe for another transport of the same agent. */
function overOtherTransport(probe: Probe): Probe {
  const [driver] = probe.context.siblings;
  if (!driver) throw new NotApplicableError('The agent has only one transport.');
  return probe.withDriver(driver);
}

function fingerprint({ id, contextId, state, artifacts = [] }: NormalizedTask): string {
  return JSON.stringify({
    id,
    contextId,
    state,
    artifacts: artifacts.map((each) => [each.id, artifactContent(each)]),
  });
}

/** Functional equivalence of the transports: section 5.1. */
export const transportEquivalenceChecks = defineChecks({ category: 'lifecycle', versions: ['1.0'] }, [
  {
    id: 'binding.same-task',
    ...must('5.1', 'BIND-002', 'MODEL-001', 'BIND-001'),
    sentence: 'The agent returns the same task over all transports.',
    remedy: 'Use one task store for all transports.',
    async run(probe) {
      const created = await probe.completeTask({ message: probe.prompts.promptFor('artifact') });
      const here = await probe.getTask(created.id);
      const there = await overOtherTransport(probe).getTask(created.id);
      probe.expect(fingerprint(here) === fingerprint(there), 'The task differs between transports', {
        expected: fingerprint(here),
        actual: fingerprint(there),
        exchanges: probe.exchanges.slice(-2),
      });
    },
  },
  {
    id: 'binding.same-list',
    ...must('5.1', 'BIND-002'),
    sentence: 'The agent lists the same tasks over all transports.',
    remedy: 'Use one task store for all transports.',
    async run(probe) {
      const { contextId } = await probe.completeTask();
      const other = overOtherTransport(probe);
      await other.completeTask({ message: { contextId: contextId ?? '' } });
      const ids = async (side: Probe): Promise<string> => {
        const page = (await side.expectResult('list', { contextId: contextId ?? '' })) as {
          tasks?: { id?: string }[];
        };
        return (page.tasks ?? []).map(({ id }) => id).join();
      };
      const [here, there] = [await ids(probe), await ids(other)];
      probe.expectEqual(there, here, 'The lists differ between transports');
    },
  },
  {
    id: 'binding.same-cancel',
    ...must('5.1', 'BIND-001', 'BIND-002'),
    sentence: 'The agent cancels a task over any transport.',
    remedy: 'Use one task store for all transports.',
    async run(probe) {
      const task = await probe.startSlowTask();
      await overOtherTransport(probe).expectResult('cancel', { id: task.id });
      const after = await probe.waitUntilTerminalOrInterrupted(task.id);
      probe.expectEqual(after.state, 'canceled', 'The task was not canceled');
    },
  },
  {
    id: 'binding.same-errors',
    ...must('5.1', 'BIND-003', 'ERR-020', 'ERR-021', 'ERR-012', 'ERR-001'),
    category: 'error-handling',
    sentence: 'The agent returns the same error for the same mistake over all transports.',
    remedy: 'Map errors in one place for all transports.',
    async run(probe) {
      const other = overOtherTransport(probe);
      const done = await probe.completeTask();
      for (const side of [probe, other]) {
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
