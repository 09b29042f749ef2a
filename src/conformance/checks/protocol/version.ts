import { must, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import {
  requiredExtensions,
  createDriver,
  endpointUrl,
  parseVersionName,
  withDeclaredExtensions,
} from '../../discovery/card-variants.ts';
import { NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type {
  OperationInput,
  DecodedResponse,
  RequestOverrides,
  DriverOperation,
} from '../../drivers/protocol-driver.ts';
import { asText, objectOf, objectsOf } from '../../drivers/normalized-views.ts';
import type { JsonObject } from '../../../primitives/json.ts';
import { stripTrailing } from '../../../primitives/text.ts';

const withVersion = (version: string): RequestOverrides => ({ headers: { 'a2a-version': version } });

/** Removes the version header. */
const withoutVersion: RequestOverrides = withVersion('');

/** Returns true if a response contains a task in the 1.0 format. */
function hasTask1_0({ result }: DecodedResponse): boolean {
  const { task: wrapped } = objectOf(result);
  const task = objectOf(wrapped ?? result);
  return String(objectOf(task.status).state).startsWith('TASK_STATE_') && !('kind' in task);
}

/** Returns true if the card declares 0.3 for any transport. */
function declares0_3({ supportedInterfaces }: JsonObject): boolean {
  return objectsOf(supportedInterfaces).some(
    ({ protocolVersion }) => parseVersionName(protocolVersion) === '0.3',
  );
}

/** Returns the versions that the card declares for the URL of the driver, with their URLs. */
function declaredVersions({ card, driver, context }: Probe): Map<string, string> {
  const interfaces = objectsOf(card.supportedInterfaces).filter(
    ({ protocolBinding, url }) =>
      protocolBinding === driver.transport &&
      isSameUrl(endpointUrl(driver.transport, asText(url), context.cardUrl), driver.url),
  );
  return new Map(
    interfaces.flatMap(({ protocolVersion, url }) => {
      const version = parseVersionName(protocolVersion);
      const endpoint = endpointUrl(driver.transport, asText(url), context.cardUrl);
      return version === undefined ? [] : [[version, endpoint ?? ''] as const];
    }),
  );
}

/** A REST URL may end with the tenant. */
function isSameUrl(declared = '', used = ''): boolean {
  const [outer, inner] = [`${stripTrailing(declared, '/')}/`, `${stripTrailing(used, '/')}/`];
  return inner.startsWith(outer);
}

async function expectTask1_0(
  probe: Probe,
  id: string,
  overrides: RequestOverrides,
  subject: string,
): Promise<void> {
  const response = await probe.call('get', { id }, overrides);
  probe.expect(hasTask1_0(response), `${subject} is not served as 1.0`, {
    expected: 'the task in the 1.0 format',
    actual: describeResponse(response),
  });
}

async function expectVersionParameter(probe: Probe): Promise<void> {
  const { id } = await probe.completeTask();
  await expectTask1_0(probe, id, { ...withoutVersion, query: 'A2A-Version=1.0' }, '?A2A-Version=1.0');
}

/** Versions: section 3.6. */
export const versionChecks = defineChecks({ category: 'interop', versions: ['1.0'] }, [
  {
    id: 'version.patch',
    ...must('3.6', 'VER-002'),
    sentence: 'The agent ignores the patch number of A2A-Version.',
    remedy: 'Compare major and minor only: 1.0.0, 1.0.1 and 1.0 are equal.',
    async run(probe) {
      const { id } = await probe.completeTask();
      for (const version of ['1.0', '1.0.0', '1.0.1', '1.0.27'])
        await expectTask1_0(probe, id, withVersion(version), `A2A-Version: ${version}`);
    },
  },
  {
    id: 'version.parameter',
    ...must('3.6.1', 'VER-002', 'VER-005'),
    sentence: 'The agent accepts A2A-Version as a query parameter.',
    remedy: 'Read A2A-Version from the query string if the header is missing.',
    transports: ['HTTP+JSON'],
    run: expectVersionParameter,
  },
  {
    id: 'version.parameter-rpc',
    ...should('3.6.1', 'VER-005'),
    sentence: 'The agent accepts A2A-Version as a query parameter of the JSON-RPC endpoint.',
    remedy: 'Read A2A-Version from the query string if the header is missing.',
    transports: ['JSONRPC'],
    run: expectVersionParameter,
  },
  {
    id: 'version.unknown',
    ...must('3.6.2', 'VER-006', 'GRPC-005'),
    sentence: 'The agent rejects an unsupported version with VersionNotSupported.',
    remedy: 'Return -32009 with the reason VERSION_NOT_SUPPORTED before the request is processed.',
    async run(probe) {
      const { id } = await probe.completeTask();
      const operations: [DriverOperation, OperationInput][] = [
        ['get', { id }],
        ['send', { message: probe.prompts.anyPrompt() }],
        ['list', {}],
        ['cancel', { id }],
      ];
      for (const [operation, input] of operations)
        await probe.expectError(operation, input, 'VersionNotSupported', withVersion('9.9'));
      // 10.0 must not match the prefix 1.0.
      for (const version of ['2.0', '10.0'])
        await probe.expectError('get', { id }, 'VersionNotSupported', withVersion(version));
    },
  },
  {
    id: 'version.unknown-stream',
    ...must('3.6.2', 'VER-006'),
    sentence: 'The agent opens no stream for an unsupported version.',
    remedy: 'Check the version before the stream is opened.',
    preconditions: ['streaming'],
    async run(probe) {
      const input = { message: probe.prompts.anyPrompt() };
      const subject = 'A stream with version 9.9';
      await probe.expectStreamError('stream', input, 'VersionNotSupported', subject, withVersion('9.9'));
    },
  },
  {
    id: 'version.missing',
    ...must('3.6.2', 'VER-007', 'GRPC-006'),
    sentence: 'The agent treats a request without a version, or with an empty one, as 0.3.',
    remedy: 'Return -32009 if 0.3 is not supported, else process the request as 0.3.',
    async run(probe) {
      const supports0_3 = declaredVersions(probe).has('0.3');
      const { transport } = probe.driver;
      // The path of REST and of gRPC may distinguish both versions, so the responses do not tell.
      if (supports0_3 && transport !== 'JSONRPC')
        throw new NotApplicableError('The same URL serves 0.3, with other paths.');
      // 0.3 names no tenant, so that a server of several agents may not list their methods of 0.3.
      if (transport === 'GRPC' && declares0_3(probe.card))
        throw new NotApplicableError('The agent supports 0.3, whose methods have other paths.');
      const { id } = await probe.completeTask();
      for (const [overrides, description] of [
        [withoutVersion, 'without A2A-Version'],
        [withVersion(' '), 'with an empty A2A-Version'],
      ] as const) {
        const response = await probe.call('get', { id }, overrides);
        probe.expect(!hasTask1_0(response), `A request ${description} is served as 1.0`, {
          expected: supports0_3 ? 'a response in the 0.3 format, or an error' : 'VersionNotSupported',
          actual: describeResponse(response),
        });
        // An agent with 0.3 may also return an error for the unknown method or path.
        if (!supports0_3) probe.assertError(response, 'VersionNotSupported', `A request ${description}`);
      }
    },
  },
  {
    id: 'version.semantics',
    ...must('3.6.2', 'VER-005'),
    sentence: 'The agent processes a request of 1.0 as 1.0, regardless of other supported versions.',
    remedy: 'Select methods and formats by the version of the request; 1.0 has no tasks/get.',
    transports: ['JSONRPC'],
    async run(probe) {
      const { id } = await probe.completeTask();
      const driver0_3 = createDriver('0.3', 'JSONRPC', probe.driver.url);
      const request = driver0_3.encode('get', { id }, { headers: { 'a2a-version': '1.0' } });
      if (!request) throw new NotApplicableError('0.3 has no such method.');
      const response = probe.driver.decode(await probe.sendRaw(request));
      probe.expect(response.result === undefined, 'A method of 0.3 is served in a request of 1.0', {
        expected: 'MethodNotFound',
        actual: describeResponse(response),
      });
    },
  },
  {
    id: 'version.older',
    ...must('3.6.2', 'VER-005', 'VER-008'),
    sentence: 'The agent processes requests of 0.3 as 0.3 if the card declares 0.3 for the same URL.',
    remedy: 'Select methods and formats by the version of the request.',
    async run(probe) {
      const url = declaredVersions(probe).get('0.3');
      if (url === undefined) throw new NotApplicableError('The card does not declare 0.3 for this URL.');
      const driver = createDriver('0.3', probe.driver.transport, url);
      const probe0_3 = probe.withDriver(withDeclaredExtensions(driver, requiredExtensions(probe.card)));
      for (const version of ['0.3', '0.3.0', '']) {
        const input = { message: probe.prompts.anyPrompt() };
        const response = await probe0_3.call('send', input, withVersion(version));
        const decoded = probe0_3.decodeSendResult(response);
        probe.expect(decoded, `A message of 0.3 with A2A-Version "${version}" failed`, {
          expected: 'a task or a message in the 0.3 format',
          actual: describeResponse(response),
        });
      }
    },
  },
]);
