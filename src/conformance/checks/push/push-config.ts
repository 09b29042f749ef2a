import { type Check, defineChecks, type Precondition } from '../../check.ts';
import type { ReportCategory, RequirementLevel } from '../../rule-model.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { asList, asText } from '../../drivers/normalized-views.ts';
import { isLoopbackUrl } from './loopback.ts';
import { pushConfigId, registerWebhook } from './webhook-steps.ts';

/** A check about webhooks: id, requirements, section, level, sentence, remedy, and what it does. */
export function definePushCheck(
  id: string,
  requirements: readonly string[],
  section: string,
  level: RequirementLevel,
  sentence: string,
  remedy: string,
  run: (probe: Probe) => Promise<void>,
  needs: readonly Precondition[] = ['push'],
): Check {
  const category: ReportCategory = /unknown|url|unsupported/.test(id) ? 'error-handling' : 'lifecycle';
  return {
    id,
    requirements,
    section,
    level,
    category,
    sentence,
    remedy,
    versions: ['1.0'],
    preconditions: needs,
    run,
  };
}

/** An address that nobody is asked at, because no task of it goes on. */
const unused = 'https://webhook.example.com/a2a';

/** A task that waits, and so has no news for webhooks. */
async function waiting(probe: Probe): Promise<string> {
  const { prompts: reach } = probe.context;
  const task = reach.knows('input-required')
    ? await probe.sendPrompt('input-required')
    : await probe.startSlowTask().catch(() => probe.completeTask());
  return task.id;
}

/** Registers a webhook that will not be called; on this machine where addresses are resolved at once. */
async function registered(
  probe: Probe,
  taskId: string,
  more: { scheme?: string; credentials?: string } = {},
) {
  const hook = await probe.context.receiver.openEndpoint();
  return { url: hook.url, config: await registerWebhook(probe, taskId, { url: hook.url, ...more }) };
}

function listed(result: unknown): JsonObject[] {
  return isJsonObject(result) ? (asList(result.configs) ?? []).filter(isJsonObject) : [];
}

/** Push configurations: sections 3.1.7 to 3.1.10 and 3.3.4. */
export const pushConfigChecks = defineChecks([
  definePushCheck(
    'push.create',
    ['PUSH-003'],
    '3.1.7',
    'MUST',
    'A webhook that is registered comes back with an id, under which it can be asked for.',
    'Make an id where the caller gave none, store the configuration, and answer with it.',
    async (probe) => {
      const taskId = await waiting(probe);
      const { url, config } = await registered(probe, taskId);
      const id = pushConfigId(config);
      probe.expect(config.url === url, 'The answer has another url', {
        expected: url,
        actual: String(config.url),
      });
      probe.expect(config.taskId === undefined || config.taskId === taskId, 'The answer names another task', {
        expected: taskId,
        actual: String(config.taskId),
      });
      await probe.expectResult('getPush', { taskId, id });
    },
  ),
  definePushCheck(
    'push.create-unknown',
    ['PUSH-004'],
    '3.1.7',
    'MUST',
    'A webhook for a task that does not exist is refused with TaskNotFound.',
    'Look for the task before the configuration is stored.',
    async (probe) => {
      const taskId = crypto.randomUUID();
      await probe.expectError('createPush', { taskId, webhook: { url: unused } }, 'TaskNotFound');
    },
  ),
  definePushCheck(
    'push.url',
    ['ERR-009', 'SEC-005'],
    '3.3.2',
    'MUST',
    'A webhook without an address, or with one that is none, is refused as invalid.',
    'Require url, and parse it.',
    async (probe) => {
      const taskId = await waiting(probe);
      const overrides = (url: unknown) => ({
        transform: (wire: Record<string, unknown>) => ({ ...wire, url }),
      });
      for (const url of [undefined, '', 'not an address', 17]) {
        const response = await probe.call('createPush', { taskId, webhook: { url: unused } }, overrides(url));
        probe.assertError(
          response,
          ['InvalidParams', 'InvalidRequest'],
          `A webhook with the url ${JSON.stringify(url)}`,
        );
      }
    },
  ),
  definePushCheck(
    'push.get',
    ['PUSH-005'],
    '3.1.8',
    'MUST',
    'A configuration that is asked for has the url and the settings that it was made with.',
    'Store and return all of the configuration; credentials may be masked.',
    async (probe) => {
      const taskId = await waiting(probe);
      const [one, two] = [
        await registered(probe, taskId, { scheme: 'Bearer', credentials: 'secret-of-a-check' }),
        await registered(probe, taskId),
      ];
      for (const { url, config } of [one, two]) {
        const id = pushConfigId(config);
        const got = await probe.expectResult('getPush', { taskId, id });
        probe.expect(isJsonObject(got) && got.url === url, 'The configuration has another url', {
          expected: url,
          actual: isJsonObject(got) ? String(got.url) : '',
        });
        probe.expect(isJsonObject(got) && got.id === id, 'The configuration has another id', {
          expected: id,
        });
      }
      const got = await probe.expectResult('getPush', { taskId, id: pushConfigId(one.config) });
      const { scheme } = isJsonObject(got) && isJsonObject(got.authentication) ? got.authentication : {};
      probe.expect(asText(scheme)?.toLowerCase() === 'bearer', 'The configuration lost its authentication', {
        expected: 'authentication.scheme Bearer',
        actual: JSON.stringify(got).slice(0, 200),
      });
    },
  ),
  definePushCheck(
    'push.get-unknown',
    ['PUSH-006'],
    '3.1.8',
    'MUST',
    'A configuration that does not exist is refused with TaskNotFound.',
    'Answer -32001 (HTTP 404) when the task or the configuration is not there.',
    async (probe) => {
      const taskId = await waiting(probe);
      const { config } = await registered(probe, taskId);
      await probe.expectError('getPush', { taskId, id: crypto.randomUUID() }, 'TaskNotFound');
      const nowhere = { taskId: crypto.randomUUID(), id: pushConfigId(config) };
      await probe.expectError('getPush', nowhere, 'TaskNotFound');
    },
  ),
  definePushCheck(
    'push.list',
    ['PUSH-007'],
    '3.1.9',
    'MUST',
    'The list has every configuration of the task, and those of no other.',
    'Keep configurations by task and id, as many as there are.',
    async (probe) => {
      const [taskId, other] = [await waiting(probe), await waiting(probe)];
      const own = [await registered(probe, taskId), await registered(probe, taskId)];
      const foreign = await registered(probe, other);
      const found = await every(probe, taskId);
      for (const { config, url } of own)
        probe.expect(
          found.some((each) => each.id === config.id && each.url === url),
          'A configuration is not in the list of its task',
          { expected: pushConfigId(config), actual: found.map(({ id }) => String(id)).join(', ') },
        );
      probe.expect(
        found.every(({ url }) => url !== foreign.url),
        'The list has a configuration of another task',
      );
      probe.expect(found.length === own.length, 'The list has more than there is', {
        expected: String(own.length),
        actual: String(found.length),
      });
    },
  ),
  definePushCheck(
    'push.list-empty',
    ['PUSH-007'],
    '3.1.9',
    'MUST',
    'A task without webhooks has an empty list of them.',
    'Answer with no configurations, which is no error.',
    async (probe) => {
      const result = await probe.expectResult('listPush', { taskId: await waiting(probe) });
      probe.expect(listed(result).length === 0, 'There are configurations that nobody made');
    },
  ),
  definePushCheck(
    'push.list-unknown',
    ['PUSH-007'],
    '3.1.9',
    'MUST',
    'The webhooks of a task that does not exist are refused with TaskNotFound.',
    'Look for the task first.',
    async (probe) => {
      await probe.expectError('listPush', { taskId: crypto.randomUUID() }, 'TaskNotFound');
    },
  ),
  definePushCheck(
    'push.list-pages',
    ['PUSH-008'],
    '3.1.9',
    'MAY',
    'Where the list comes in pages, they have every configuration once, and end.',
    'Give a token with each page but the last.',
    async (probe) => {
      const taskId = await waiting(probe);
      const made = [
        await registered(probe, taskId),
        await registered(probe, taskId),
        await registered(probe, taskId),
      ];
      const ids = (await every(probe, taskId, 1)).map(({ id }) => String(id));
      probe.expect(
        ids.length === made.length && made.every(({ config }) => ids.includes(pushConfigId(config))),
        'The pages do not have every configuration once',
        { expected: made.map(({ config }) => pushConfigId(config)).join(', '), actual: ids.join(', ') },
      );
    },
  ),
  definePushCheck(
    'push.delete',
    ['PUSH-009'],
    '3.1.10',
    'MUST',
    'A configuration that was deleted is gone, and the others stay.',
    'Delete the one that is named, and no other.',
    async (probe) => {
      const taskId = await waiting(probe);
      const [goes, stays] = [await registered(probe, taskId), await registered(probe, taskId)];
      await probe.expectResult('deletePush', { taskId, id: pushConfigId(goes.config) });
      const ids = (await every(probe, taskId)).map(({ id }) => id);
      probe.expect(!ids.includes(goes.config.id), 'The deleted configuration is still in the list');
      probe.expect(ids.includes(stays.config.id), 'Another configuration was deleted as well');
      await probe.expectError('getPush', { taskId, id: pushConfigId(goes.config) }, 'TaskNotFound');
    },
  ),
  definePushCheck(
    'push.delete-twice',
    ['PUSH-010'],
    '3.1.10',
    'MUST',
    'Deleting a configuration twice succeeds twice.',
    'Answer the second time as the first time; there is nothing left to do.',
    async (probe) => {
      const taskId = await waiting(probe);
      const { config } = await registered(probe, taskId);
      const input = { taskId, id: pushConfigId(config) };
      await probe.expectResult('deletePush', input);
      const again = await probe.call('deletePush', input);
      probe.expect(!again.error && again.decodeError === undefined, 'The second deletion failed', {
        expected: 'the same as the first time',
        actual: describeResponse(again),
      });
    },
  ),
  definePushCheck(
    'push.delete-unknown',
    ['PUSH-010', 'PUSH-009'],
    '3.1.10',
    'MUST',
    'Deleting a webhook of a task that does not exist is refused with TaskNotFound.',
    'Look for the task first.',
    async (probe) => {
      const input = { taskId: crypto.randomUUID(), id: crypto.randomUUID() };
      await probe.expectError('deletePush', input, 'TaskNotFound');
    },
  ),
  definePushCheck(
    'push.everywhere',
    ['BIND-002', 'PUSH-005'],
    '5.1',
    'MUST',
    'A webhook that was registered over one binding is there over the others.',
    'Let all bindings use one store.',
    async (probe) => {
      const [other] = probe.context.siblings;
      if (!other) throw new InconclusiveError('The agent has one binding only.');
      const taskId = await waiting(probe);
      const { url, config } = await registered(probe, taskId);
      const got = await probe.withDriver(other).expectResult('getPush', { taskId, id: pushConfigId(config) });
      probe.expect(isJsonObject(got) && got.url === url, `Over ${other.transport} it is another webhook`);
    },
  ),
  definePushCheck(
    'push.ssrf',
    ['PUSH-025'],
    '13.2',
    'SHOULD',
    'Webhooks at addresses that are not public are refused.',
    'Resolve the host and refuse private, link-local and loopback addresses.',
    async (probe) => {
      const taskId = await waiting(probe);
      const taken: string[] = [];
      for (const host of ['10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '[fd00::1]']) {
        const url = `http://${host}/a2a`;
        const { result } = await probe.call('createPush', { taskId, webhook: { url } });
        if (!isJsonObject(result)) continue;
        taken.push(url);
        await probe.call('deletePush', { taskId, id: asText(result.id) ?? '' });
      }
      if (taken.length === 0) return;
      // A machine that tests itself may take private addresses, but has no use for the metadata of a cloud.
      const metadata = taken.find((url) => url.includes('169.254.169.254'));
      if (metadata === undefined && isLoopbackUrl(probe.driver.url))
        throw new InconclusiveError(
          `${taken.join(', ')} are taken, which may be meant for a machine that tests itself. Try the agent where it is deployed.`,
        );
      probe.warn(`Webhooks at ${taken.join(', ')} are taken`);
    },
  ),
  definePushCheck(
    'push.unsupported',
    ['CAP-001', 'CAP-002'],
    '3.3.4',
    'MUST',
    'Without push notifications in the card all operations for them are refused: PushNotificationNotSupported.',
    'Answer -32003, or declare capabilities.pushNotifications.',
    async (probe) => {
      const taskId = await waiting(probe);
      const id = crypto.randomUUID();
      const wrong = 'PushNotificationNotSupported';
      await probe.expectError('createPush', { taskId, webhook: { url: unused } }, wrong);
      await probe.expectError('getPush', { taskId, id }, wrong);
      await probe.expectError('listPush', { taskId }, wrong);
      await probe.expectError('deletePush', { taskId, id }, wrong);
    },
    ['no-push'],
  ),
]);

/** Every configuration of a task, page by page. */
async function every(probe: Probe, taskId: string, pageSize?: number): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < 20; page++) {
    const input = {
      taskId,
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(pageToken === undefined ? {} : { pageToken }),
    };
    const result = await probe.expectResult('listPush', input);
    found.push(...listed(result));
    pageToken = isJsonObject(result) ? asText(result.nextPageToken) : undefined;
    if (!pageToken) return found;
  }
  probe.expect(false, 'The list of configurations has no last page');
  return found;
}
