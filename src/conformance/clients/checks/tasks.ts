import { NotApplicableError } from '../../check-errors.ts';
import { asText } from '../../drivers/normalized-views.ts';
import type { DriverOperation } from '../../drivers/protocol-driver.ts';
import { must } from '../../rule-model.ts';
import { clientVersions, type ClientCheck, defineClientChecks } from '../client-check.ts';
import type { ClientProbe } from '../client-probe.ts';
import { callsOf } from '../client-run.ts';
import type { ClientOperation } from '../client-under-test.ts';

/** @throws RuleViolationError unless the client asked for the task that it was told, and succeeded. */
function expectTask(probe: ClientProbe, operation: ClientOperation & DriverOperation): void {
  const run = probe.require(operation);
  const [call] = callsOf(run, operation);
  probe.expectEqual(
    run,
    call?.call.taskId,
    run.instruction.taskId,
    `The client named another task in ${operation}.`,
  );
  probe.expectSuccess(run, operation, 'the agent knows the task');
}

/** Runs an operation that the agent rejects. */
async function expectRejection(
  probe: ClientProbe,
  operation: ClientOperation & DriverOperation,
  error: 'TaskNotFound' | 'TaskNotCancelable',
): Promise<void> {
  const message = `refused-${error}`;
  const run = await probe.run(operation, {
    reply: (call) => (call.operation === operation ? { kind: 'error', error, message } : undefined),
  });
  probe.expectVisibleError(run, `the agent responded with ${error}`, message);
}

/** Checks the operations on tasks. */
export const taskChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'lifecycle', versions: clientVersions },
  [
    {
      id: 'client-get.task',
      ...must('3.1.3', 'GET-001'),
      needs: 'get',
      sentence: 'A client asks for a task by its id and accepts the task as the response.',
      remedy: 'Send the id unchanged; in 1.0 the response is the task itself.',
      async run(probe) {
        expectTask(probe, 'get');
      },
    },
    {
      id: 'client-get.unknown',
      ...must('3.1.3', 'GET-002'),
      needs: 'get',
      category: 'error-handling',
      sentence: 'A client reports that a task does not exist.',
      remedy: 'Turn TaskNotFound into an error of the client.',
      run: (probe) => expectRejection(probe, 'get', 'TaskNotFound'),
    },
    {
      id: 'client-cancel.task',
      ...must('3.1.5', 'CANC-001'),
      needs: 'cancel',
      sentence: 'A client cancels a task by its id and accepts the task as the response.',
      remedy: 'Send the id unchanged; in 1.0 the response is the task itself.',
      async run(probe) {
        const run = probe.require('cancel');
        const [call] = callsOf(run, 'cancel');
        probe.expectEqual(
          run,
          call?.call.taskId,
          run.instruction.taskId,
          'The client canceled another task.',
        );
        probe.expectExitZero(run, 'the agent canceled the task');
      },
    },
    {
      id: 'client-cancel.refused',
      ...must('3.1.5', 'CANC-002'),
      needs: 'cancel',
      category: 'error-handling',
      sentence: 'A client reports that a task cannot be canceled.',
      remedy: 'Turn TaskNotCancelable into an error of the client.',
      run: (probe) => expectRejection(probe, 'cancel', 'TaskNotCancelable'),
    },
    {
      id: 'client-subscribe.completes',
      ...must('3.1.6', 'SUBS-002'),
      needs: 'subscribe',
      category: 'streaming',
      sentence: 'A client subscribes to a task by its id and receives its events until the end.',
      remedy: 'Read the task as the first event, and updates after it.',
      async run(probe) {
        expectTask(probe, 'subscribe');
      },
    },
    {
      id: 'client-subscribe.unknown',
      ...must('3.1.6', 'SUBS-004'),
      needs: 'subscribe',
      category: 'error-handling',
      sentence: 'A client reports that a task to which it subscribes does not exist.',
      remedy: 'Turn TaskNotFound into an error of the client.',
      run: (probe) => expectRejection(probe, 'subscribe', 'TaskNotFound'),
    },
    {
      id: 'client-list.completes',
      ...must('3.1.4', 'LIST-002'),
      versions: ['1.0'],
      needs: 'list',
      sentence: 'A client lists tasks.',
      remedy: 'Read tasks, nextPageToken, pageSize and totalSize of the response.',
      async run(probe) {
        probe.expectExitZero(probe.require('list'), 'the agent returned a page of tasks');
      },
    },
    {
      id: 'client-list.page-token',
      ...must('3.1.4', 'LIST-005', 'REST-011'),
      versions: ['1.0'],
      needs: 'list',
      sentence: 'A client that asks for the next page sends the page token unchanged.',
      remedy: 'Treat page tokens as opaque, and percent-encode them in a query.',
      async run(probe) {
        const token = 'next/page?a=1&b= +%2F=';
        const run = await probe.run('list', {
          reply: (call, { agent, earlier }) => {
            if (call.operation !== 'list' || earlier > 0) return undefined;
            const { result } = agent.reply(call, {}) as { result: object };
            return { kind: 'result', result: { ...result, nextPageToken: token, totalSize: 2 } };
          },
        });
        const second = callsOf(run, 'list').at(1);
        if (!second) throw new NotApplicableError('The client lists the first page only.');
        probe.expectEqual(
          run,
          asText(second.call.params.pageToken),
          token,
          'The client changed the page token.',
        );
      },
    },
    {
      id: 'client-get.path',
      ...must('11.5', 'REST-011'),
      versions: ['1.0', '0.3'],
      transports: ['HTTP+JSON'],
      needs: 'get',
      sentence: 'A client percent-encodes ids in the path of a request.',
      remedy: 'Encode each id with encodeURIComponent or its equivalent.',
      async run(probe) {
        const id = 'a b/ä?c=1&d';
        const run = await probe.run('get', {}, { taskId: id });
        const [call] = callsOf(run, 'get');
        probe.expectEqual(run, call?.call.taskId, id, 'The id of the task arrived changed.');
      },
    },
  ],
);
