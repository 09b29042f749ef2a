import { type Check, defineChecks, type Precondition } from '../../check.ts';
import type { RequirementLevel } from '../../rule-model.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type { OperationInput, DecodedResponse, DriverOperation } from '../../drivers/protocol-driver.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { asList, type NormalizedTask } from '../../drivers/normalized-views.ts';
import { pushConfigId, registerWebhook } from '../push/webhook-steps.ts';

/** A check with two callers: id, requirements, section, level, sentence, remedy, and what it does with somebody else. */
function between(
  id: string,
  requirements: readonly string[],
  section: string,
  level: RequirementLevel,
  sentence: string,
  remedy: string,
  run: (probe: Probe, other: Probe) => Promise<void>,
  needs: readonly Precondition[] = [],
): Check {
  const rule = { id, requirements, section, level, category: 'error-handling' as const, sentence, remedy };
  return {
    ...rule,
    versions: ['1.0'],
    preconditions: ['credentials', 'other-user', ...needs],
    async run(probe) {
      const other = probe.withCredentials(probe.context.otherUserHeaders ?? {});
      // Who may do nothing at all proves nothing.
      const response = await other.call('send', { message: probe.context.prompts.anyPrompt() });
      if (response.error || response.decodeError !== undefined)
        throw new InconclusiveError(
          `The other caller cannot even send a message: ${describeResponse(response)}`,
        );
      await run(probe, other);
    },
  };
}

async function asked(
  probe: Probe,
  operation: DriverOperation,
  input: OperationInput,
): Promise<DecodedResponse> {
  if (operation !== 'stream' && operation !== 'subscribe') return probe.call(operation, input);
  const { exchange, error, events } = await probe.openStream(operation, input, { until: () => true });
  return { exchange, ...(error ? { error } : { result: events[0]?.raw }) };
}

/** Expects that somebody else gets nothing. */
function kept(probe: Probe, response: DecodedResponse, what: string): void {
  probe.expect(response.error !== undefined || response.exchange.status >= 400, `Somebody else can ${what}`, {
    expected: 'TaskNotFound',
    actual: describeResponse(response),
    exchanges: [response.exchange],
  });
}

async function unchanged(probe: Probe, before: NormalizedTask, what: string): Promise<void> {
  const after = await probe.getTask(before.id ?? '');
  probe.expect(
    after.state === before.state || (before.state !== 'canceled' && after.state === 'completed'),
    `Somebody else changed the task with ${what}`,
    { expected: before.state, actual: after.state },
  );
}

/** An answer without what must differ: the ids that were asked with, and moments. */
function gist({ exchange, error, result }: DecodedResponse, ids: readonly string[]): string {
  const known = { status: exchange.status, error: error?.raw, result };
  const text = ids.reduce((all, id) => all.replaceAll(id, '{id}'), JSON.stringify(known));
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, '{moment}')
    .replaceAll(/"(requestId|request_id|traceId|trace_id|timestamp)":"?[^",}]*"?/g, '"$1":""');
}

/** Operations on one task, and on one webhook of it. */
function operations(probe: Probe, taskId: string, configId: string): [DriverOperation, OperationInput][] {
  const { streaming, pushNotifications } = probe.capabilities;
  const text = 'a word of somebody else';
  return [
    ['get', { id: taskId }],
    ['cancel', { id: taskId }],
    ['send', { message: { text, taskId } }],
    ...(streaming === true
      ? ([
          ['subscribe', { id: taskId }],
          ['stream', { message: { text, taskId } }],
        ] as [DriverOperation, OperationInput][])
      : []),
    ...(pushNotifications === true
      ? ([
          ['createPush', { taskId, webhook: { url: 'https://webhook.example.com/a2a' } }],
          ['getPush', { taskId, id: configId }],
          ['listPush', { taskId }],
          ['deletePush', { taskId, id: configId }],
        ] as [DriverOperation, OperationInput][])
      : []),
  ];
}

function idsIn(result: unknown): unknown[] {
  return isJsonObject(result) ? (asList(result.tasks) ?? []).filter(isJsonObject).map(({ id }) => id) : [];
}

/** What callers see of each other: sections 3.3.2 and 13.1. */
export const authorizationChecks = defineChecks([
  between(
    'authorization.get',
    ['AUTHZ-007', 'AUTHZ-001', 'IANA-006'],
    '13.1',
    'MUST',
    'A task cannot be read by somebody else.',
    'Look tasks up by owner and id.',
    async (probe, other) => {
      const { id } = await probe.completeTask();
      kept(probe, await other.call('get', { id }), 'read the task');
    },
  ),
  between(
    'authorization.list',
    ['AUTHZ-003', 'AUTHZ-004', 'AUTHZ-006', 'LIST-004', 'LIST-007'],
    '13.1',
    'MUST',
    'The tasks of somebody else are not listed, with a filter or without one, and not counted.',
    'Filter by owner before everything else.',
    async (probe, other) => {
      const { id, contextId } = await probe.completeTask();
      const all = await other.expectResult('list', { pageSize: 100 });
      probe.expect(!idsIn(all).includes(id), 'The list of somebody else has the task');
      if (contextId === undefined) return;
      const response = await other.call('list', { contextId });
      if (response.error) return;
      probe.expect(idsIn(response.result).length === 0, 'Somebody else can list the tasks of a context');
      const total = isJsonObject(response.result) ? response.result.totalSize : undefined;
      probe.expect(total === undefined || total === 0, 'Somebody else learns how many tasks a context has', {
        expected: '0',
        actual: String(total),
      });
    },
  ),
  between(
    'authorization.cancel',
    ['AUTHZ-008', 'AUTHZ-002'],
    '13.1',
    'MUST',
    'A task cannot be canceled by somebody else.',
    'Look tasks up by owner and id.',
    async (probe, other) => {
      const task = await probe.startSlowTask();
      const id = task.id;
      const response = await other.call('cancel', { id });
      const after = await probe.getTask(id);
      await probe.call('cancel', { id });
      kept(probe, response, 'cancel the task');
      probe.expect(after.state !== 'canceled', 'Somebody else canceled the task, although it was refused');
    },
  ),
  between(
    'authorization.send',
    ['AUTHZ-002', 'AUTHZ-001'],
    '13.1',
    'MUST',
    'Nobody else can go on with a task.',
    'Look the task of a message up by owner and id.',
    async (probe, other) => {
      const task = await probe.sendPrompt('input-required');
      const message = { text: 'a word of somebody else', taskId: task.id };
      kept(probe, await other.call('send', { message }), 'send a message to the task');
      await unchanged(probe, task, 'a message');
    },
  ),
  between(
    'authorization.stream',
    ['AUTHZ-002', 'AUTHZ-008'],
    '13.1',
    'MUST',
    'Nobody else can follow a task, or go on with it in a stream.',
    'Look the task up by owner and id before the stream is opened.',
    async (probe, other) => {
      const task = await probe.sendPrompt('input-required');
      const taskId = task.id;
      const message = { text: 'a word of somebody else', taskId };
      kept(probe, await asked(other, 'subscribe', { id: taskId }), 'follow the task');
      kept(probe, await asked(other, 'stream', { message }), 'go on with the task');
      await unchanged(probe, task, 'a stream');
    },
    ['streaming'],
  ),
  between(
    'authorization.push',
    ['AUTHZ-008', 'AUTHZ-003', 'PUSH-006'],
    '13.1',
    'MUST',
    'Nobody else can see, make or delete the webhooks of a task.',
    'Look the task up by owner and id before its webhooks.',
    async (probe, other) => {
      const { id: taskId } = await probe.sendPrompt('input-required');
      const hook = await probe.context.receiver.openEndpoint();
      const id = pushConfigId(await registerWebhook(probe, taskId, { url: hook.url }));
      kept(probe, await other.call('getPush', { taskId, id }), 'read a webhook');
      const listed = await other.call('listPush', { taskId });
      kept(probe, listed, 'list the webhooks');
      const webhook = { url: hook.url };
      kept(probe, await other.call('createPush', { taskId, webhook }), 'add a webhook');
      const gone = await other.call('deletePush', { taskId, id });
      await probe.expectResult('getPush', { taskId, id });
      kept(probe, gone, 'delete a webhook');
    },
    ['push'],
  ),
  between(
    'authorization.alike',
    ['ERR-008', 'ERR-013', 'AUTHZ-009'],
    '3.3.2',
    'MUST',
    'What belongs to somebody else looks exactly like what does not exist.',
    'Answer TaskNotFound for both, with the same status, code and words, before anything else is looked at.',
    async (probe, other) => {
      const waiting = await probe.sendPrompt('input-required').catch(() => undefined);
      const tasks = [waiting, await probe.completeTask()].flatMap((task) => task?.id ?? []);
      const webhook = { url: (await probe.context.receiver.openEndpoint()).url };
      const made =
        probe.capabilities.pushNotifications === true
          ? await probe.call('createPush', { taskId: tasks[0] ?? '', webhook })
          : undefined;
      const config = isJsonObject(made?.result) ? String(made.result.id) : crypto.randomUUID();
      for (const id of tasks) {
        const nowhere = crypto.randomUUID();
        const none = operations(probe, nowhere, config);
        for (const [index, [operation, input]] of operations(probe, id, config).entries()) {
          const foreign = await asked(other, operation, input);
          const unknown = await asked(other, operation, none[index]?.[1] ?? {});
          const [a, b] = [gist(foreign, [id, config]), gist(unknown, [nowhere, config])];
          if (a !== b)
            probe.warn(`${operation} tells a task of somebody else from none`, {
              expected: b.slice(0, 300),
              actual: a.slice(0, 300),
              exchanges: [foreign.exchange, unknown.exchange],
            });
        }
      }
    },
  ),
]);
