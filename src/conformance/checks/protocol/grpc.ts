import { must, should } from '../../rule-model.ts';
import { type Check, defineChecks } from '../../check.ts';
import { InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import { requiredExtensions } from '../../discovery/card-variants.ts';
import { grpcOrigin } from '../../discovery/grpc-address.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import { type ProtocolErrorName, protocolErrors } from '../../drivers/error-response.ts';
import { asText, eventTaskId, objectsOf } from '../../drivers/normalized-views.ts';
import type {
  DecodedResponse,
  DriverOperation,
  OperationInput,
  RequestOverrides,
} from '../../drivers/protocol-driver.ts';
import type { Probe } from '../../probe.ts';
import { prefixMessage } from '../../wire/grpc/grpc-message-reader.ts';
import type { RawRequest } from '../../wire/raw-http-client.ts';
import { unsupportedPart } from '../operations/send.ts';

function encode(probe: Probe, operation: DriverOperation, input: OperationInput): RawRequest {
  const request = probe.driver.encode(operation, input);
  if (!request) throw new NotApplicableError(`The version has no operation "${operation}".`);
  return request;
}

/** Calls GetTask for a task that does not exist, with changes to the request. */
async function getUnknownTask(probe: Probe, changes: Partial<RawRequest>): Promise<DecodedResponse> {
  const request = encode(probe, 'get', { id: crypto.randomUUID() });
  const headers = { ...request.headers, ...changes.headers };
  return probe.driver.decode(await probe.sendRaw({ ...request, ...changes, headers }));
}

/** Expects that the agent still answers on the same connection. */
async function expectAlive(probe: Probe): Promise<void> {
  await probe.expectError('get', { id: crypto.randomUUID() }, 'TaskNotFound');
}

async function expectRejectedBytes(
  probe: Probe,
  body: Uint8Array,
  subject: string,
  alsoValid?: string,
): Promise<void> {
  const response = await getUnknownTask(probe, { body });
  const actual = describeResponse(response);
  const { grpcStatus = '' } = response.error ?? {};
  // Libraries of gRPC reject bytes that they cannot parse with INTERNAL.
  probe.expect(
    ['INVALID_ARGUMENT', 'INTERNAL', alsoValid].includes(grpcStatus),
    `${subject} was not rejected as invalid`,
    {
      expected: 'INVALID_ARGUMENT or INTERNAL',
      actual,
    },
  );
}

/**
 * The message of GetTask with these bytes as the id: field 2 in 1.0; in 0.3 field 1, with a resource name. A second value of a
 * field replaces the first, and other fields of the request, such as the tenant, remain.
 */
function getTaskMessage(probe: Probe, bytes: readonly number[]): Uint8Array {
  const is1_0 = probe.driver.version === '1.0';
  const value = is1_0 ? bytes : [...Buffer.from('tasks/'), ...bytes];
  const { body } = encode(probe, 'get', { id: 'x' });
  const message = Buffer.from(body ?? '').subarray(prefixMessage(new Uint8Array()).length);
  return Uint8Array.from([...message, is1_0 ? 0x12 : 0x0a, value.length, ...value]);
}

/** Returns calls that must fail, with the names of their errors. */
async function failingCalls(
  probe: Probe,
): Promise<(readonly [ProtocolErrorName, DriverOperation, OperationInput, RequestOverrides?])[]> {
  const { id } = await probe.completeTask();
  const webhook = { url: 'https://webhook.example.com/a2a' };
  const message = probe.prompts.anyPrompt();
  const noExtension: RequestOverrides = { headers: { 'a2a-extensions': '' } };
  return [
    ['TaskNotFound', 'get', { id: crypto.randomUUID() }],
    ['TaskNotCancelable', 'cancel', { id }],
    ['UnsupportedOperation', 'send', { message: { text: 'go on', taskId: id } }],
    ['VersionNotSupported', 'get', { id }, { headers: { 'a2a-version': '9.9' } }],
    ...(probe.capabilities.pushNotifications === true
      ? []
      : [['PushNotificationNotSupported', 'createPush', { taskId: id, webhook }] as const]),
    ...(requiredExtensions(probe.card).length === 0
      ? []
      : [['ExtensionSupportRequired', 'send', { message }, noExtension] as const]),
    ...(excludesMediaTypes(probe)
      ? [['ContentTypeNotSupported', 'send', { message: { parts: [unsupportedPart(probe)] } }] as const]
      : []),
  ];
}

function excludesMediaTypes(probe: Probe): boolean {
  try {
    return unsupportedPart(probe) !== undefined;
  } catch {
    return false;
  }
}

function isUnimplemented({ error }: DecodedResponse): boolean {
  return error?.grpcStatus === 'UNIMPLEMENTED' && error.reason === undefined;
}

/** Returns the operations that an agent with these capabilities must implement. */
function implementedOperations({ capabilities, driver }: Probe): DriverOperation[] {
  const optional: readonly (readonly [boolean, readonly DriverOperation[]])[] = [
    [driver.version === '1.0', ['list']],
    [capabilities.pushNotifications === true, ['createPush', 'getPush', 'listPush', 'deletePush']],
    [capabilities.extendedAgentCard === true, ['extendedCard']],
    [capabilities.streaming === true, ['subscribe']],
  ];
  return ['get', 'cancel', ...optional.flatMap(([applies, operations]) => (applies ? operations : []))];
}

const checkUrls: Check['run'] = async (probe) => {
  const { card } = probe;
  const interfaces = [
    ...objectsOf(card.supportedInterfaces),
    ...objectsOf(card.additionalInterfaces),
    { url: card.url, transport: card.preferredTransport },
  ].filter((each) => each.protocolBinding === 'GRPC' || each.transport === 'GRPC');
  if (interfaces.length === 0) throw new NotApplicableError('The card declares no gRPC interface.');
  for (const { url } of interfaces)
    if (grpcOrigin(asText(url) ?? '', probe.context.cardUrl) === undefined)
      probe.warn(`The gRPC interface has the url ${JSON.stringify(url)}`, {
        expected: 'host:port, or a URL with http, https, grpc or grpcs',
        exchanges: [],
      });
};

const shared = { category: 'error-handling', versions: ['1.0', '0.3'], transports: ['GRPC'] } as const;

/** gRPC: section 10. */
export const grpcChecks = defineChecks(shared, [
  {
    id: 'card.grpc-url',
    ...must('4.4.6', 'MODEL-014', 'CARD-002', '0.3/grpc-url'),
    category: 'agent-card',
    sentence: 'The url of a gRPC interface is host:port or an absolute URL.',
    remedy: 'Publish the address as host:port, such as agents.example.com:443.',
    about: 'card',
    run: checkUrls,
  },
  {
    id: 'grpc.methods',
    ...must('10.3', 'GRPC-001', 'BIND-001', '0.3/grpc-methods'),
    category: 'lifecycle',
    sentence: 'The agent implements the methods of A2AService for all its capabilities.',
    remedy: 'Register every method of the service; reject unsupported ones with the A2A error.',
    async run(probe) {
      const id = crypto.randomUUID();
      const input = { id, taskId: id, webhook: { url: 'https://webhook.example.com/a2a' } };
      for (const operation of implementedOperations(probe)) {
        const response = await probe.call(operation, input);
        probe.expect(!isUnimplemented(response), `The method for ${operation} does not exist`, {
          actual: describeResponse(response),
        });
      }
    },
  },
  {
    id: 'grpc.unknown-method',
    ...must('10.3', 'GRPC-001', '0.3/grpc-unknown-method'),
    sentence: 'The agent rejects an unknown method with UNIMPLEMENTED.',
    remedy: 'Return UNIMPLEMENTED for unknown methods and services.',
    async run(probe) {
      const { url } = encode(probe, 'get', { id: 'x' });
      const unknown = ['./NoSuchMethod', '../no.such.Service/Get'].map((path) => new URL(path, url).href);
      for (const each of unknown) {
        const response = await getUnknownTask(probe, { url: each });
        // Clients read HTTP 404 as UNIMPLEMENTED; a web server may answer for unknown services.
        const isWebServer = each.includes('no.such') && response.exchange.status === 404;
        const actual = response.error?.grpcStatus ?? describeResponse(response);
        probe.expect(
          isWebServer || actual === 'UNIMPLEMENTED',
          `${new URL(each).pathname} was not rejected`,
          {
            expected: 'UNIMPLEMENTED',
            actual,
          },
        );
      }
    },
  },
  {
    id: 'grpc.error-info',
    ...must('10.6', 'GRPC-007', 'GRPC-008', 'GRPC-009', 'ERR-019', 'ERR-021'),
    sentence:
      'The details of every A2A error contain an ErrorInfo with its reason and the domain a2a-protocol.org.',
    remedy:
      'Add google.rpc.ErrorInfo to grpc-status-details-bin, such as TASK_NOT_FOUND of a2a-protocol.org.',
    versions: ['1.0'],
    async run(probe) {
      for (const [name, operation, input, overrides] of await failingCalls(probe)) {
        const response = await probe.call(operation, input, overrides);
        // Rules of the operation report a call that is not rejected.
        if (!response.error) continue;
        const details = objectsOf(response.error?.details);
        const info = details.find((each) => String(each['@type']).endsWith('google.rpc.ErrorInfo'));
        probe.expect(info, `The details of ${name} have no ErrorInfo`, { actual: response.error?.details });
        probe.expectEqual(
          info?.reason,
          protocolErrors[name].reason,
          `ErrorInfo of ${name} has the wrong reason`,
        );
        probe.expectEqual(info?.domain, 'a2a-protocol.org', `ErrorInfo of ${name} has the wrong domain`);
      }
    },
  },
  {
    id: 'grpc.malformed',
    runsExclusively: true,
    ...must('10.1', 'GRPC-001', 'SEC-005', '0.3/grpc-malformed'),
    sentence: 'The agent rejects bytes that are not a message, and continues to serve the connection.',
    remedy: 'Return INVALID_ARGUMENT, and keep the connection open.',
    async run(probe) {
      const message = getTaskMessage(probe, [0x61]);
      const cases: readonly (readonly [Uint8Array, string])[] = [
        [prefixMessage(Uint8Array.from([0xff, 0xff, 0xff])), 'A message that is not protobuf'],
        [prefixMessage(message.subarray(0, 2)), 'A message with an incomplete field'],
      ];
      for (const [body, subject] of cases) await expectRejectedBytes(probe, body, subject);
      const incomplete = prefixMessage(message).subarray(0, -1);
      // Libraries of gRPC see a call without a message, for which its status is UNIMPLEMENTED.
      await expectRejectedBytes(probe, incomplete, 'A message shorter than its length', 'UNIMPLEMENTED');
      await expectAlive(probe);
    },
  },
  {
    id: 'grpc.utf8',
    runsExclusively: true,
    ...must('10.1', 'GRPC-001', 'SEC-005', '0.3/grpc-utf8'),
    sentence: 'The agent rejects a string that is not UTF-8.',
    remedy: 'Use a protobuf library that validates strings, as proto3 requires.',
    async run(probe) {
      await expectRejectedBytes(
        probe,
        prefixMessage(getTaskMessage(probe, [0xc3, 0x28])),
        'A task id that is not valid UTF-8',
      );
    },
  },
  {
    id: 'grpc.compression',
    runsExclusively: true,
    ...should('10.1', 'GRPC-001', '0.3/grpc-compression'),
    sentence: 'The agent rejects a message with an unknown compression.',
    remedy: 'Return UNIMPLEMENTED, and list the supported encodings in grpc-accept-encoding.',
    async run(probe) {
      const body = prefixMessage(getTaskMessage(probe, [0x61]), 1);
      const response = await getUnknownTask(probe, { body, headers: { 'grpc-encoding': 'x-unknown' } });
      const { grpcStatus = '' } = response.error ?? {};
      const isRejected = ['UNIMPLEMENTED', 'INTERNAL', 'INVALID_ARGUMENT'].includes(grpcStatus);
      probe.expect(isRejected, 'A message with an unknown compression was not rejected', {
        expected: 'UNIMPLEMENTED',
        actual: describeResponse(response),
      });
      await expectAlive(probe);
    },
  },
  {
    id: 'grpc.request-type',
    runsExclusively: true,
    ...must('10.1', 'GRPC-001', '0.3/grpc-request-type'),
    sentence: 'The agent accepts application/grpc and application/grpc+proto, and no other content type.',
    remedy: 'Accept both names, and respond to others with HTTP 415.',
    async run(probe) {
      for (const type of ['application/grpc', 'application/grpc+proto']) {
        const response = await getUnknownTask(probe, { headers: { 'content-type': type } });
        probe.assertError(response, 'TaskNotFound', `A call of the type ${type}`);
      }
      const response = await getUnknownTask(probe, { headers: { 'content-type': 'application/json' } });
      const isProcessed = response.error?.grpcStatus === 'NOT_FOUND' || response.result !== undefined;
      probe.expect(!isProcessed, 'A call of the type application/json was processed', {
        expected: 'HTTP 415',
        actual: describeResponse(response),
      });
    },
  },
  {
    id: 'grpc.metadata',
    ...should('10.2', 'GRPC-005', '0.3/grpc-metadata'),
    sentence: 'The agent ignores metadata that it does not know, also binary metadata.',
    remedy: 'Ignore unknown metadata.',
    async run(probe) {
      const headers = { 'x-unknown': 'value', 'x-unknown-bin': 'AAEC/w', 'user-agent': 'conformance' };
      const response = await getUnknownTask(probe, { headers });
      probe.assertError(response, 'TaskNotFound', 'A call with unknown metadata');
    },
  },
  {
    id: 'grpc.deadline',
    ...should('10.1', 'GRPC-001', '0.3/grpc-deadline'),
    category: 'streaming',
    sentence: 'The agent ends a call at the deadline of the client, and continues the task.',
    remedy: 'Read grpc-timeout, and end the call with DEADLINE_EXCEEDED.',
    preconditions: ['streaming'],
    async run(probe) {
      const timeout = { headers: { 'grpc-timeout': '500m' } };
      const { events, exchange, error } = await probe.streamPrompt('slow', { overrides: timeout });
      const [id] = events.flatMap((event) => eventTaskId(event) ?? []);
      if (id === undefined) throw new InconclusiveError('The stream contains no task id.');
      const isEnded = error?.grpcStatus === 'DEADLINE_EXCEEDED' || exchange.end === 'truncated';
      probe.expect(
        isEnded,
        `The call with a deadline of 500 ms ended after ${Math.round(exchange.totalMs)} ms`,
        {
          expected: 'DEADLINE_EXCEEDED',
          actual: exchange.grpc?.status.name ?? exchange.end,
        },
      );
      const task = await probe.waitUntilTerminalOrInterrupted(id);
      probe.expectEqual(task.state, 'completed', 'The task did not continue after the deadline');
    },
  },
  {
    id: 'grpc.cancellation',
    ...must('10.1', 'GRPC-001', 'ORD-006', '0.3/grpc-cancellation'),
    sentence: 'A call that the client cancels does not disturb the other calls of the connection.',
    remedy: 'End only the canceled call, not the connection.',
    async run(probe) {
      const { prompts } = probe;
      const message = prompts.knows('slow') ? prompts.promptFor('slow') : prompts.anyPrompt();
      const pending = probe.call('send', { message });
      const canceled = new AbortController();
      probe.context.countMessage();
      const call = probe.sendRaw({ ...encode(probe, 'send', { message }), signal: canceled.signal });
      // The response shows that the calls before it have been sent.
      await expectAlive(probe);
      canceled.abort();
      await call;
      await expectAlive(probe);
      probe.expectSuccess(await pending, 'The cancellation of a call ended another one');
    },
  },
]);
