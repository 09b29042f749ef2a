import { isJsonObject } from '../../../primitives/json.ts';
import { must } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import { artifactContent } from '../../observation/task-tracker.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import { type NormalizedTask, partsToText } from '../../drivers/normalized-views.ts';

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

/**
 * Returns every value of a task with its path, in a form that JSON and protobuf share: empty members are missing, and
 * timestamps are numbers.
 */
function flatten(value: unknown, at = 'task'): [path: string, value: unknown][] {
  if (value === undefined || value === '' || value === false) return [];
  if (Array.isArray(value)) return value.flatMap((each, index) => flatten(each, `${at}[${index}]`));
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([name, each]) => flatten(each, `${at}.${name}`));
  return [[at, at.endsWith('.timestamp') && typeof value === 'string' ? Date.parse(value) : value]];
}

/** Returns the first path at which two tasks differ, with both values. */
function findDifference(here: unknown, there: unknown): string | undefined {
  const [mine, others] = [here, there].map((each) => new Map(flatten(each)));
  const paths = new Set([...(mine?.keys() ?? []), ...(others?.keys() ?? [])]);
  const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 80) ?? 'nothing';
  const path = [...paths].find((each) => mine?.get(each) !== others?.get(each));
  return path && `${path}: ${show(mine?.get(path))} over gRPC, ${show(others?.get(path))} over JSON`;
}

/** Creates a task with contents of all types, and returns its id. */
async function createMixedTask(probe: Probe): Promise<string> {
  const draft = probe.prompts.promptFor('echo');
  const data = { list: [1, 2.5, -3, true, null, 'ü✓'], nested: { deep: { empty: '' } } };
  const raw = Buffer.from([0, 127, 128, 255, 10]).toString('base64');
  const parts = [{ text: `${draft.text ?? ''} Grüße, 你好` }, { data }, { raw, filename: 'bytes.bin' }];
  const metadata = { 'https://example.com/note': { a: [1, 'two'] } };
  const response = await probe.call('send', { message: { ...draft, parts, metadata } });
  const id = probe.driver.decodeTask(response.result)?.id;
  if (!id) throw new InconclusiveError(`The agent created no task to compare: ${describeResponse(response)}`);
  await probe.waitUntilTerminalOrInterrupted(id);
  return id;
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
    id: 'binding.same-content',
    ...must('5.1', 'BIND-002', 'MODEL-001'),
    sentence: 'The agent returns all contents of a task over gRPC as over the other transports.',
    remedy: 'Convert every field of a task: bytes, data of all types, metadata, history and timestamps.',
    transports: ['GRPC'],
    async run(probe) {
      const id = await createMixedTask(probe);
      const here = await probe.getTask(id);
      const there = await overOtherTransport(probe).getTask(id);
      const difference = findDifference(here.raw, there.raw);
      probe.expect(difference === undefined, `The task differs: ${difference}`, {
        exchanges: probe.exchanges.slice(-2),
      });
    },
  },
  {
    id: 'binding.same-task-0.3',
    ...must('3.4.1', '0.3/equivalence'),
    sentence: 'The agent returns the same task over gRPC and the other transports of 0.3.',
    remedy: 'Use one task store for all transports.',
    versions: ['0.3'],
    transports: ['GRPC'],
    async run(probe) {
      const { id } = await probe.completeTask({ message: probe.prompts.promptFor('artifact') });
      const describe = async (side: Probe): Promise<string> => {
        const { contextId, state, artifacts = [] } = await side.getTask(id);
        return JSON.stringify([id, contextId, state, artifacts.map(({ parts }) => partsToText(parts))]);
      };
      const [here, there] = [await describe(probe), await describe(overOtherTransport(probe))];
      probe.expectEqual(there, here, 'The task differs between transports');
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
