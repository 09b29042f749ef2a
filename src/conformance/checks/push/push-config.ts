import { may, must, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { asText, objectOf, objectsOf } from '../../drivers/normalized-views.ts';
import { isLoopbackUrl } from './loopback.ts';
import { openWebhook, pushConfigId, registerWebhook } from './webhook-steps.ts';

/** Never called, because the tasks of these checks send no events. */
const unusedUrl = 'https://webhook.example.com/a2a';

/** Creates a task that sends no events to webhooks, and returns its id. */
async function createIdleTask(probe: Probe): Promise<string> {
  const task = probe.prompts.knows('input-required')
    ? await probe.sendPrompt('input-required')
    : await probe.startSlowTask().catch(() => probe.completeTask());
  return task.id;
}

/** Creates a push configuration whose webhook is not called. Its URL is reachable, because agents may check it. */
async function createConfig(
  probe: Probe,
  taskId: string,
  authentication: { scheme?: string; credentials?: string } = {},
) {
  const { url } = await openWebhook(probe);
  return { url, config: await registerWebhook(probe, taskId, { url, ...authentication }) };
}

function readConfigs(result: unknown): JsonObject[] {
  return objectsOf(objectOf(result).configs);
}

const shared = { category: 'lifecycle', versions: ['1.0'], preconditions: ['push'] } as const;

/** Push configurations: sections 3.1.7 to 3.1.10 and 3.3.4. */
export const pushConfigChecks = defineChecks(shared, [
  {
    id: 'push.create',
    ...must('3.1.7', 'PUSH-003'),
    sentence: 'The agent returns a created push configuration with an id, and finds it by that id.',
    remedy: 'Generate an id if the client sends none, store the configuration, and return it.',
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const { url, config } = await createConfig(probe, taskId);
      const id = pushConfigId(config);
      probe.expectEqual(config.url, url, 'The response has another url');
      probe.expectEqual(config.taskId ?? taskId, taskId, 'The response has another taskId');
      await probe.expectResult('getPush', { taskId, id });
    },
  },
  {
    id: 'push.create-unknown',
    ...must('3.1.7', 'PUSH-004'),
    category: 'error-handling',
    sentence: 'The agent rejects a push configuration for an unknown task with TaskNotFound.',
    remedy: 'Check that the task exists before the configuration is stored.',
    async run(probe) {
      const taskId = crypto.randomUUID();
      await probe.expectError('createPush', { taskId, webhook: { url: unusedUrl } }, 'TaskNotFound');
    },
  },
  {
    id: 'push.url',
    ...must('3.3.2', 'ERR-009', 'SEC-005'),
    category: 'error-handling',
    sentence: 'The agent rejects a push configuration without a valid url.',
    remedy: 'Require url, and validate it.',
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const input = { taskId, webhook: { url: unusedUrl } };
      // A protobuf string is never a number.
      const numbers = probe.driver.transport === 'GRPC' ? [] : [17];
      for (const url of [undefined, '', 'not an address', ...numbers]) {
        const response = await probe.call('createPush', input, { transform: (wire) => ({ ...wire, url }) });
        const subject = `A push configuration with the url ${JSON.stringify(url)}`;
        probe.assertError(response, ['InvalidParams', 'InvalidRequest'], subject);
      }
    },
  },
  {
    id: 'push.get',
    ...must('3.1.8', 'PUSH-005'),
    sentence: 'The agent returns a push configuration with the url and authentication it was created with.',
    remedy: 'Store and return the complete configuration; credentials may be masked.',
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const [one, two] = [
        await createConfig(probe, taskId, { scheme: 'Bearer', credentials: 'secret-of-a-check' }),
        await createConfig(probe, taskId),
      ];
      for (const { url, config } of [one, two]) {
        const id = pushConfigId(config);
        const stored = objectOf(await probe.expectResult('getPush', { taskId, id }));
        probe.expectEqual(stored.url, url, 'The stored configuration has another url');
        probe.expectEqual(stored.id, id, 'The stored configuration has another id');
        if (config !== one.config) continue;
        const { scheme } = objectOf(stored.authentication);
        const message = 'The stored configuration lacks its authentication';
        probe.expectEqual(asText(scheme)?.toLowerCase(), 'bearer', message, { actual: stored });
      }
    },
  },
  {
    id: 'push.get-unknown',
    ...must('3.1.8', 'PUSH-006'),
    category: 'error-handling',
    sentence: 'The agent returns TaskNotFound for an unknown push configuration.',
    remedy: 'Return -32001 (HTTP 404) if the task or the configuration does not exist.',
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const { config } = await createConfig(probe, taskId);
      await probe.expectError('getPush', { taskId, id: crypto.randomUUID() }, 'TaskNotFound');
      const unknownTask = { taskId: crypto.randomUUID(), id: pushConfigId(config) };
      await probe.expectError('getPush', unknownTask, 'TaskNotFound');
    },
  },
  {
    id: 'push.list',
    ...must('3.1.9', 'PUSH-007'),
    sentence: 'The agent lists exactly the push configurations of the task.',
    remedy: 'Store configurations by task and id, without a limit of one per task.',
    async run(probe) {
      const [taskId, otherTaskId] = [await createIdleTask(probe), await createIdleTask(probe)];
      const own = [await createConfig(probe, taskId), await createConfig(probe, taskId)];
      await createConfig(probe, otherTaskId);
      const found = await listAllConfigs(probe, taskId);
      const describe = ({ id, url }: JsonObject): string => `${String(id)} ${String(url)}`;
      const expected = own.map(({ config, url }) => describe({ id: config.id, url }));
      const message = 'The list does not contain exactly the configurations of the task';
      probe.expectSameItems(found.map(describe), expected, message);
    },
  },
  {
    id: 'push.list-empty',
    ...must('3.1.9', 'PUSH-007'),
    sentence: 'The agent returns an empty list for a task without push configurations.',
    remedy: 'Return an empty list, not an error.',
    async run(probe) {
      const result = await probe.expectResult('listPush', { taskId: await createIdleTask(probe) });
      probe.expectEmpty(readConfigs(result), 'The list contains configurations that were not created');
    },
  },
  {
    id: 'push.list-unknown',
    ...must('3.1.9', 'PUSH-007'),
    category: 'error-handling',
    sentence: 'The agent rejects the list of push configurations of an unknown task with TaskNotFound.',
    remedy: 'Check that the task exists first.',
    async run(probe) {
      await probe.expectError('listPush', { taskId: crypto.randomUUID() }, 'TaskNotFound');
    },
  },
  {
    id: 'push.list-pages',
    ...may('3.1.9', 'PUSH-008'),
    sentence: 'The pages of push configurations together contain each configuration once.',
    remedy: 'Return a page token with each page but the last.',
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const created: string[] = [];
      for (let i = 0; i < 3; i++) created.push(pushConfigId((await createConfig(probe, taskId)).config));
      const ids = (await listAllConfigs(probe, taskId, 1)).map(({ id }) => String(id));
      probe.expectSameItems(ids, created, 'The pages do not contain each configuration once');
    },
  },
  {
    id: 'push.delete',
    ...must('3.1.10', 'PUSH-009'),
    sentence: 'The agent deletes exactly the named push configuration.',
    remedy: 'Delete the named configuration only.',
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const [deleted, remaining] = [await createConfig(probe, taskId), await createConfig(probe, taskId)];
      await probe.expectResult('deletePush', { taskId, id: pushConfigId(deleted.config) });
      const ids = (await listAllConfigs(probe, taskId)).map(({ id }) => id);
      probe.expect(!ids.includes(deleted.config.id), 'The list still contains the deleted configuration');
      probe.expect(ids.includes(remaining.config.id), 'Another configuration was deleted as well');
      await probe.expectError('getPush', { taskId, id: pushConfigId(deleted.config) }, 'TaskNotFound');
    },
  },
  {
    id: 'push.delete-twice',
    ...must('3.1.10', 'PUSH-010'),
    sentence: 'Deletion of a push configuration is idempotent.',
    remedy: 'Return success for the second deletion as well.',
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const { config } = await createConfig(probe, taskId);
      const input = { taskId, id: pushConfigId(config) };
      await probe.expectResult('deletePush', input);
      const second = await probe.call('deletePush', input);
      probe.expectSuccess(second, 'The second deletion failed');
    },
  },
  {
    id: 'push.delete-unknown',
    ...must('3.1.10', 'PUSH-010', 'PUSH-009'),
    category: 'error-handling',
    sentence: 'The agent rejects the deletion of a push configuration of an unknown task with TaskNotFound.',
    remedy: 'Check that the task exists first.',
    async run(probe) {
      const input = { taskId: crypto.randomUUID(), id: crypto.randomUUID() };
      await probe.expectError('deletePush', input, 'TaskNotFound');
    },
  },
  {
    id: 'push.everywhere',
    ...must('5.1', 'BIND-002', 'PUSH-005'),
    sentence: 'The agent returns a push configuration over all transports.',
    remedy: 'Use one store for all transports.',
    async run(probe) {
      const [other] = probe.context.siblings;
      if (!other) throw new NotApplicableError('The agent has only one transport.');
      const taskId = await createIdleTask(probe);
      const { url, config } = await createConfig(probe, taskId);
      const input = { taskId, id: pushConfigId(config) };
      const stored = objectOf(await probe.withDriver(other).expectResult('getPush', input));
      probe.expectEqual(stored.url, url, `${other.transport} returns another push configuration`);
    },
  },
  {
    id: 'push.ssrf',
    ...should('13.2', 'PUSH-025'),
    sentence: 'The agent rejects webhooks at addresses that are not public (SSRF).',
    remedy: 'Resolve the host, and reject private, link-local and loopback addresses.',
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const accepted: string[] = [];
      for (const host of ['10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '[fd00::1]']) {
        const url = `http://${host}/a2a`;
        const { result } = await probe.call('createPush', { taskId, webhook: { url } });
        if (!isJsonObject(result)) continue;
        accepted.push(url);
        await probe.call('deletePush', { taskId, id: asText(result.id) ?? '' });
      }
      if (accepted.length === 0) return;
      // A local test setup may accept private addresses, but never the cloud metadata address.
      const metadata = accepted.find((url) => url.includes('169.254.169.254'));
      if (metadata === undefined && isLoopbackUrl(probe.driver.url))
        throw new InconclusiveError(
          `${accepted.join(', ')} are accepted, which may be intended in a local test setup. Test the deployed agent.`,
        );
      probe.warn(`Webhooks at ${accepted.join(', ')} are accepted`);
    },
  },
  {
    id: 'push.unsupported',
    ...must('3.3.4', 'CAP-001', 'CAP-002'),
    category: 'error-handling',
    sentence:
      'An agent without the pushNotifications capability rejects all push configuration operations with PushNotificationNotSupported.',
    remedy: 'Return -32003, or declare capabilities.pushNotifications.',
    preconditions: ['no-push'],
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const id = crypto.randomUUID();
      const expected = 'PushNotificationNotSupported';
      await probe.expectError('createPush', { taskId, webhook: { url: unusedUrl } }, expected);
      await probe.expectError('getPush', { taskId, id }, expected);
      await probe.expectError('listPush', { taskId }, expected);
      await probe.expectError('deletePush', { taskId, id }, expected);
    },
  },
]);

/** Reads all pages of push configurations of a task. */
async function listAllConfigs(probe: Probe, taskId: string, pageSize?: number): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < 20; page++) {
    const result = await probe.expectResult('listPush', { taskId, pageSize, pageToken });
    found.push(...readConfigs(result));
    pageToken = asText(objectOf(result).nextPageToken);
    if (!pageToken) return found;
  }
  probe.expect(false, 'The pagination of push configurations did not end after 20 pages');
  return found;
}
