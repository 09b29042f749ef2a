import { must } from '../../rule-model.ts';
import { type Check, defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { IdentifiedTask, Probe } from '../../probe.ts';
import type { DecodedResponse } from '../../drivers/protocol-driver.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { objectOf, objectsOf } from '../../drivers/normalized-views.ts';
import { openWebhook, pushConfigId, registerWebhook } from '../push/webhook-steps.ts';
import { callAny, type DriverCall, pushCalls, streamCalls } from './credentials.ts';

const foreignText = 'text of another user';

/** Runs a check with the probe of another user, who can send messages. */
function withOtherUser(run: (probe: Probe, other: Probe) => Promise<void>): Check['run'] {
  return async (probe) => {
    const other = probe.withCredentials(probe.context.otherUserHeaders ?? {});
    // A user without any permission would pass every check.
    const response = await other.call('send', { message: probe.prompts.anyPrompt() });
    if (response.error || response.decodeError !== undefined)
      throw new InconclusiveError(`The other user cannot send messages: ${describeResponse(response)}`);
    await run(probe, other);
  };
}

/** Expects that the request of another user was rejected. */
function expectDenied(probe: Probe, response: DecodedResponse, action: string): void {
  probe.expect(
    response.error !== undefined || response.exchange.status >= 400,
    `Another user can ${action}`,
    { expected: 'TaskNotFound', actual: describeResponse(response), exchanges: [response.exchange] },
  );
}

async function expectUnchanged(probe: Probe, before: IdentifiedTask, action: string): Promise<void> {
  const after = await probe.getTask(before.id);
  probe.expect(
    after.state === before.state || (before.state !== 'canceled' && after.state === 'completed'),
    `Another user changed the task with ${action}`,
    { expected: before.state, actual: after.state },
  );
}

/** Returns a response without the values that may differ: the requested ids and timestamps. */
function fingerprint({ exchange, error, result }: DecodedResponse, ids: readonly string[]): string {
  const comparable = { status: exchange.status, error: error?.raw, result };
  const text = ids.reduce((all, id) => all.replaceAll(id, '{id}'), JSON.stringify(comparable));
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, '{time}')
    .replaceAll(/"(requestId|request_id|traceId|trace_id|timestamp)":"?[^",}]*"?/g, '"$1":""');
}

/** Returns a call of every operation on one task and one push configuration. */
function taskCalls(probe: Probe, taskId: string, configId: string): DriverCall[] {
  const message = { text: foreignText, taskId };
  return [
    ['get', { id: taskId }],
    ['cancel', { id: taskId }],
    ['send', { message }],
    ...streamCalls(probe, [
      ['subscribe', { id: taskId }],
      ['stream', { message }],
    ]),
    ...pushCalls(probe, taskId, configId),
  ];
}

function readTaskIds(result: unknown): unknown[] {
  return objectsOf(objectOf(result).tasks).map(({ id }) => id);
}

const shared = {
  category: 'error-handling',
  versions: ['1.0'],
  preconditions: ['credentials', 'other-user'],
} as const;

/** Isolation of users: sections 3.3.2 and 13.1. */
export const authorizationChecks = defineChecks(shared, [
  {
    id: 'authorization.get',
    ...must('13.1', 'AUTHZ-007', 'AUTHZ-001', 'IANA-006'),
    sentence: 'The agent does not return a task to another user.',
    remedy: 'Look up tasks by owner and id.',
    run: withOtherUser(async (probe, other) => {
      const { id } = await probe.completeTask();
      expectDenied(probe, await other.call('get', { id }), 'read the task');
    }),
  },
  {
    id: 'authorization.list',
    ...must('13.1', 'AUTHZ-003', 'AUTHZ-004', 'AUTHZ-006', 'LIST-004', 'LIST-007'),
    sentence: 'The agent neither lists nor counts tasks of other users, with or without filters.',
    remedy: 'Filter by owner before all other filters.',
    run: withOtherUser(async (probe, other) => {
      const { id, contextId } = await probe.completeTask();
      const all = await other.expectResult('list', { pageSize: 100 });
      probe.expect(!readTaskIds(all).includes(id), 'The list of another user contains the task');
      if (contextId === undefined) return;
      const response = await other.call('list', { contextId });
      if (response.error) return;
      probe.expect(readTaskIds(response.result).length === 0, 'Another user can list the tasks of a context');
      const { totalSize = 0 } = objectOf(response.result);
      probe.expectEqual(totalSize, 0, 'Another user receives the number of tasks of a context');
    }),
  },
  {
    id: 'authorization.cancel',
    ...must('13.1', 'AUTHZ-008', 'AUTHZ-002'),
    sentence: 'The agent does not cancel a task for another user.',
    remedy: 'Look up tasks by owner and id.',
    run: withOtherUser(async (probe, other) => {
      const { id } = await probe.startSlowTask();
      const response = await other.call('cancel', { id });
      const after = await probe.getTask(id);
      await probe.call('cancel', { id });
      expectDenied(probe, response, 'cancel the task');
      probe.expect(after.state !== 'canceled', 'The rejected request of another user canceled the task');
    }),
  },
  {
    id: 'authorization.send',
    ...must('13.1', 'AUTHZ-002', 'AUTHZ-001'),
    sentence: 'The agent does not accept messages of another user for a task.',
    remedy: 'Look up the task of a message by owner and id.',
    run: withOtherUser(async (probe, other) => {
      const task = await probe.sendPrompt('input-required');
      const message = { text: foreignText, taskId: task.id };
      expectDenied(probe, await other.call('send', { message }), 'send a message to the task');
      await expectUnchanged(probe, task, 'a message');
    }),
  },
  {
    id: 'authorization.stream',
    ...must('13.1', 'AUTHZ-002', 'AUTHZ-008'),
    sentence: 'The agent does not stream a task to another user.',
    remedy: 'Look up the task by owner and id before the stream is opened.',
    preconditions: ['credentials', 'other-user', 'streaming'],
    run: withOtherUser(async (probe, other) => {
      const task = await probe.sendPrompt('input-required');
      const taskId = task.id;
      const message = { text: foreignText, taskId };
      expectDenied(probe, await callAny(other, 'subscribe', { id: taskId }), 'subscribe to the task');
      expectDenied(probe, await callAny(other, 'stream', { message }), 'continue the task');
      await expectUnchanged(probe, task, 'a stream');
    }),
  },
  {
    id: 'authorization.push',
    ...must('13.1', 'AUTHZ-008', 'AUTHZ-003', 'PUSH-006'),
    sentence: 'The agent does not let another user read, create or delete push configurations of a task.',
    remedy: 'Look up the task by owner and id before its push configurations.',
    preconditions: ['credentials', 'other-user', 'push'],
    run: withOtherUser(async (probe, other) => {
      const { id: taskId } = await probe.sendPrompt('input-required');
      const hook = await openWebhook(probe);
      const id = pushConfigId(await registerWebhook(probe, taskId, { url: hook.url }));
      expectDenied(probe, await other.call('getPush', { taskId, id }), 'read a push configuration');
      const listed = await other.call('listPush', { taskId });
      expectDenied(probe, listed, 'list the push configurations');
      const webhook = { url: hook.url };
      expectDenied(probe, await other.call('createPush', { taskId, webhook }), 'create a push configuration');
      const deleted = await other.call('deletePush', { taskId, id });
      await probe.expectResult('getPush', { taskId, id });
      expectDenied(probe, deleted, 'delete a push configuration');
    }),
  },
  {
    id: 'authorization.alike',
    ...must('3.3.2', 'ERR-008', 'ERR-013', 'AUTHZ-009'),
    sentence: 'The agent returns the same response for tasks of other users and unknown tasks.',
    remedy: 'Return TaskNotFound for both, with the same status, code and message, before other validation.',
    run: withOtherUser(async (probe, other) => {
      const waiting = await probe.sendPrompt('input-required').catch(() => undefined);
      const tasks = [waiting, await probe.completeTask()].flatMap((task) => task?.id ?? []);
      const webhook = { url: (await openWebhook(probe)).url };
      const created =
        probe.capabilities.pushNotifications === true
          ? await probe.call('createPush', { taskId: tasks[0] ?? '', webhook })
          : undefined;
      const config = isJsonObject(created?.result) ? String(created.result.id) : crypto.randomUUID();
      for (const id of tasks) {
        const unknownId = crypto.randomUUID();
        const unknownCalls = taskCalls(probe, unknownId, config);
        for (const [index, [operation, input]] of taskCalls(probe, id, config).entries()) {
          const foreign = await callAny(other, operation, input);
          const unknown = await callAny(other, operation, unknownCalls[index]?.[1] ?? {});
          const [a, b] = [fingerprint(foreign, [id, config]), fingerprint(unknown, [unknownId, config])];
          if (a !== b)
            probe.warn(`${operation} distinguishes a task of another user from an unknown task`, {
              expected: b,
              actual: a,
              exchanges: [foreign.exchange, unknown.exchange],
            });
        }
      }
    }),
  },
]);
