import { type Check, defineChecks } from '../../check.ts';
import {
  requiredExtensions,
  createDriver,
  parseVersionName,
  withDeclaredExtensions,
} from '../../discovery/card-variants.ts';
import type { RequirementLevel, CheckedTransport } from '../../rule-model.ts';
import { NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type {
  OperationInput,
  DecodedResponse,
  RequestOverrides,
  DriverOperation,
} from '../../drivers/protocol-driver.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { asList, asText } from '../../drivers/normalized-views.ts';

/** A check about versions: id, requirements, section, level, sentence, remedy, and what it does. */
function about(
  id: string,
  requirements: readonly string[],
  section: string,
  level: RequirementLevel,
  sentence: string,
  remedy: string,
  run: (probe: Probe) => Promise<void>,
  transports?: readonly CheckedTransport[],
): Check {
  return {
    id,
    requirements,
    section,
    level,
    category: 'interop',
    sentence,
    remedy,
    versions: ['1.0'],
    ...(transports ? { transports } : {}),
    run,
  };
}

const input = (version: string): RequestOverrides => ({ headers: { 'a2a-version': version } });

/** Without the header, which an empty text removes. */
const silent: RequestOverrides = input('');

/** True for an answer that holds a task in the words of 1.0. */
function isNew({ result }: DecodedResponse): boolean {
  const task = isJsonObject(result) && isJsonObject(result.task) ? result.task : result;
  const status = isJsonObject(task) ? task.status : undefined;
  return (
    isJsonObject(status) &&
    String(status.state).startsWith('TASK_STATE_') &&
    !(isJsonObject(task) && 'kind' in task)
  );
}

/** The versions that are spoken at the same address, and that address. */
function versionsAt({ card, driver }: Probe): Map<string, string> {
  const same = (asList(card.supportedInterfaces) ?? [])
    .filter(isJsonObject)
    .filter((each) => each.protocolBinding === driver.transport && sameAddress(asText(each.url), driver.url));
  return new Map(
    same.flatMap(({ protocolVersion, url }) => {
      const named = parseVersionName(protocolVersion);
      return named === undefined ? [] : [[named, asText(url) ?? ''] as const];
    }),
  );
}

/** The address of REST may have a tenant at its end. */
function sameAddress(a = '', b = ''): boolean {
  const [outer, inner] = [`${a.replace(/\/+$/, '')}/`, `${b.replace(/\/+$/, '')}/`];
  return inner.startsWith(outer);
}

async function likeNew(probe: Probe, id: string, overrides: RequestOverrides, how: string): Promise<void> {
  const response = await probe.call('get', { id }, overrides);
  probe.expect(isNew(response), `${how} is not served as 1.0`, {
    expected: 'the task, in the words of 1.0',
    actual: describeResponse(response),
  });
}

/** Versions: section 3.6. */
export const versionChecks = defineChecks([
  about(
    'version.patch',
    ['VER-002'],
    '3.6',
    'MUST',
    'The patch number of a version plays no part.',
    'Compare Major.Minor only: 1.0.0, 1.0.1 and 1.0 are the same.',
    async (probe) => {
      const { id } = await probe.completeTask();
      for (const version of ['1.0', '1.0.0', '1.0.1', '1.0.27'])
        await likeNew(probe, id, input(version), `A2A-Version: ${version}`);
    },
  ),
  about(
    'version.parameter',
    ['VER-002', 'VER-005'],
    '3.6.1',
    'MUST',
    'The version may come as a parameter of the request instead of as a header.',
    'Read A2A-Version from the query where there is no header.',
    async (probe) => {
      const { id } = await probe.completeTask();
      await likeNew(probe, id, { ...silent, query: 'A2A-Version=1.0' }, '?A2A-Version=1.0');
    },
    ['HTTP+JSON'],
  ),
  about(
    'version.parameter-rpc',
    ['VER-005'],
    '3.6.1',
    'SHOULD',
    'The version may come as a parameter of the address, for JSON-RPC as well.',
    'Read A2A-Version from the query where there is no header.',
    async (probe) => {
      const { id } = await probe.completeTask();
      await likeNew(probe, id, { ...silent, query: 'A2A-Version=1.0' }, '?A2A-Version=1.0');
    },
    ['JSONRPC'],
  ),
  about(
    'version.unknown',
    ['VER-006'],
    '3.6.2',
    'MUST',
    'A version that the interface does not speak is refused with VersionNotSupported.',
    'Answer -32009 with the reason VERSION_NOT_SUPPORTED before anything is done.',
    async (probe) => {
      const { id } = await probe.completeTask();
      const operations: [DriverOperation, OperationInput][] = [
        ['get', { id }],
        ['send', { message: probe.context.prompts.anyPrompt() }],
        ['list', {}],
        ['cancel', { id }],
      ];
      for (const [operation, what] of operations)
        await probe.expectError(operation, what, 'VersionNotSupported', input('9.9'));
      // 10.0 begins like 1.0 to those who do not read on.
      for (const version of ['2.0', '10.0'])
        await probe.expectError('get', { id }, 'VersionNotSupported', input(version));
    },
  ),
  {
    ...about(
      'version.unknown-stream',
      ['VER-006'],
      '3.6.2',
      'MUST',
      'No stream is opened in a version that the interface does not speak.',
      'Look at the version before the stream is opened.',
      async (probe) => {
        const { error, exchange } = await probe.openStream(
          'stream',
          { message: probe.context.prompts.anyPrompt() },
          { overrides: input('9.9') },
        );
        probe.assertError(
          { exchange, ...(error ? { error } : {}) },
          'VersionNotSupported',
          'A stream in 9.9',
        );
      },
    ),
    preconditions: ['streaming'],
  },
  about(
    'version.missing',
    ['VER-007'],
    '3.6.2',
    'MUST',
    'A request without a version, or with an empty one, is one of 0.3.',
    'Answer -32009 where the interface does not speak 0.3, and as 0.3 where it does.',
    async (probe) => {
      const speaksOld = versionsAt(probe).has('0.3');
      // There, REST of both versions may be told apart by its paths, and looks the same.
      if (speaksOld && probe.driver.transport === 'HTTP+JSON')
        throw new NotApplicableError('REST of 0.3 is spoken at this address as well.');
      const { id } = await probe.completeTask();
      for (const [overrides, how] of [
        [silent, 'without A2A-Version'],
        [input(' '), 'with an empty A2A-Version'],
      ] as const) {
        const response = await probe.call('get', { id }, overrides);
        probe.expect(!isNew(response), `A request ${how} is served as 1.0`, {
          expected: speaksOld ? 'an answer as in 0.3, or an error' : 'VersionNotSupported',
          actual: describeResponse(response),
        });
        // Where 0.3 is spoken there is no such method or path; where it is not, there is one error only.
        if (!speaksOld) probe.assertError(response, 'VersionNotSupported', `A request ${how}`);
      }
    },
  ),
  about(
    'version.semantics',
    ['VER-005'],
    '3.6.2',
    'MUST',
    'A request of 1.0 is understood as one of 1.0, whatever else the agent speaks.',
    'Choose methods and shapes by the version of the request: 1.0 has no tasks/get.',
    async (probe) => {
      const { id } = await probe.completeTask();
      const older = createDriver('0.3', 'JSONRPC', probe.driver.url);
      const request = older.encode('get', { id }, { headers: { 'a2a-version': '1.0' } });
      if (!request) throw new NotApplicableError('0.3 has no such method.');
      const response = probe.driver.decode(await probe.sendRaw(request));
      probe.expect(response.result === undefined, 'A method of 0.3 is served to a caller of 1.0', {
        expected: 'MethodNotFound',
        actual: describeResponse(response),
      });
    },
    ['JSONRPC'],
  ),
  about(
    'version.older',
    ['VER-005', 'VER-008'],
    '3.6.2',
    'MUST',
    'Where the card says that 0.3 is spoken at the same address, requests of 0.3 are answered as 0.3.',
    'Choose methods and shapes by the version of the request.',
    async (probe) => {
      const url = versionsAt(probe).get('0.3');
      if (url === undefined) throw new NotApplicableError('0.3 is not spoken at this address.');
      const driver = createDriver('0.3', probe.driver.transport, url);
      const older = probe.withDriver(withDeclaredExtensions(driver, requiredExtensions(probe.card)));
      for (const version of ['0.3', '0.3.0', '']) {
        const response = await older.call(
          'send',
          { message: probe.context.prompts.anyPrompt() },
          input(version),
        );
        const found = older.driver.decodeTask(response.result) ?? older.driver.decodeMessage(response.result);
        probe.expect(
          found !== undefined,
          `A message of 0.3 with A2A-Version "${version}" is not understood`,
          {
            expected: 'a task or a message in the words of 0.3',
            actual: describeResponse(response),
          },
        );
      }
    },
  ),
]);
