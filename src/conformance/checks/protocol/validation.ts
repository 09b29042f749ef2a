import { type Citation, must, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeError, describeResponse } from '../../drivers/describe-response.ts';
import type { JsonObject } from '../../../primitives/json.ts';
import type { Probe } from '../../probe.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';

/** Replaces members of a wire message; undefined removes a member. */
type MessageChange = Readonly<Record<string, unknown>>;

/** Sends a message with replaced members and expects InvalidParams. */
async function expectInvalid(probe: Probe, change: MessageChange, subject: string): Promise<void> {
  const transform = (wire: JsonObject): JsonObject => ({
    ...wire,
    message: { ...(wire.message as object), ...change },
  });
  const response = await probe.call('send', { message: { text: 'hello' } }, { transform });
  const evidence = { expected: 'InvalidParams', actual: describeResponse(response) };
  if (!response.error) probe.warn(`${subject} was accepted`, evidence);
  else probe.assertError(response, 'InvalidParams', subject);
}

/** Rules that reject messages: name, citation, sentence, remedy, cases; some exist in JSON only. */
const invalidMessages: readonly (readonly [
  string,
  Citation,
  string,
  string,
  readonly (readonly [MessageChange, string, 'JSON'?])[],
])[] = [
  [
    'empty-parts',
    should('5.7', 'JSON-009', 'JSON-010', 'MODEL-004'),
    'The agent rejects a message without parts.',
    'Return -32602 if parts is empty or missing.',
    [
      [{ parts: [] }, 'A message with an empty list of parts'],
      [{ parts: undefined }, 'A message without parts'],
    ],
  ],
  [
    'part-content',
    should('4.1.6', 'JSON-009', 'MODEL-007'),
    'The agent rejects a part that does not have exactly one content field.',
    'Require exactly one of text, raw, url and data.',
    [
      [{ parts: [{ metadata: {} }] }, 'A part without content'],
      // In protobuf the last of both wins.
      [{ parts: [{ text: 'a', url: 'https://example.com' }] }, 'A part with two content fields', 'JSON'],
    ],
  ],
  [
    'role',
    should('4.1.5', 'JSON-009', 'MODEL-006'),
    'The agent rejects an unknown or missing role.',
    'Accept ROLE_USER and ROLE_AGENT only.',
    [
      [{ role: 'ROLE_WIZARD' }, 'An unknown role'],
      [{ role: undefined }, 'A message without a role'],
    ],
  ],
  [
    'message-id',
    should('4.1.4', 'JSON-009', 'MODEL-004'),
    'The agent rejects a message without messageId.',
    'Return -32602 if messageId is missing or empty.',
    [[{ messageId: undefined }, 'A message without messageId']],
  ],
];

/** Sends a message with a text of the given length. */
function sendLargeText(probe: Probe, length: number): Promise<HttpExchange> {
  // Bytes, because they do not count towards the heap limit.
  const text = new Uint8Array(length).fill(0x78);
  const transform = (wire: JsonObject): JsonObject => ({
    ...wire,
    message: { ...(wire.message as object), parts: [{ text }] },
  });
  const isGrpc = probe.driver.transport === 'GRPC';
  const request = probe.driver.encode('send', { message: { text: 'hello' } }, isGrpc ? { transform } : {});
  if (!request) throw new InconclusiveError('The version has no messages.');
  if (isGrpc) return probe.sendRaw(request);
  const [before = '', after = ''] = String(request.body).split('hello');
  return probe.sendRaw({ ...request, body: Buffer.concat([Buffer.from(before), text, Buffer.from(after)]) });
}

/** Validation of requests: sections 3.3.2, 5.7 and 13.4. */
export const validationChecks = defineChecks(
  { category: 'error-handling', versions: ['1.0'], runsExclusively: true },
  [
    ...invalidMessages.map(([name, citation, sentence, remedy, cases]) => ({
      id: `validation.${name}`,
      ...citation,
      sentence,
      remedy,
      async run(probe: Probe) {
        for (const [change, subject, only] of cases)
          if (only === undefined || probe.driver.transport !== 'GRPC')
            await expectInvalid(probe, change, subject);
      },
    })),
    {
      id: 'validation.unknown-fields',
      ...should('5.7', 'JSON-011'),
      category: 'lifecycle',
      sentence: 'The agent ignores unknown fields.',
      remedy: 'Ignore unknown fields; newer clients send them.',
      async run(probe) {
        const transform = (wire: JsonObject): JsonObject => ({
          ...wire,
          fromTheFuture: { a: [1] },
          message: { ...(wire.message as object), alsoNew: true },
        });
        const response = await probe.call('send', { message: probe.prompts.anyPrompt() }, { transform });
        probe.expectSuccess(response, 'A message with unknown fields was rejected');
      },
    },
    {
      id: 'validation.names-field',
      ...should('3.3.2', 'ERR-010', 'ERR-011', 'ERR-002'),
      sentence: 'The error for an invalid parameter names the parameter.',
      remedy: 'Name the field in the message and in a BadRequest.',
      async run(probe) {
        const response = await probe.call('list', { pageSize: 101 });
        if (!response.error) throw new InconclusiveError('A pageSize of 101 was not rejected.');
        const text = `${response.error.message} ${JSON.stringify(response.error.details ?? '')}`;
        probe.expect(/page_?size/i.test(text), 'The error does not name pageSize', { actual: text });
      },
    },
    {
      id: 'validation.no-side-effect',
      ...must('3.3.2', 'ERR-009', 'SEC-005'),
      sentence: 'The agent creates no task for a rejected message.',
      remedy: 'Validate the complete request before a task is created.',
      async run(probe) {
        const contextId = crypto.randomUUID();
        const message = { ...probe.prompts.anyPrompt(), contextId };
        const response = await probe.call('send', { message, historyLength: -5 });
        if (!response.error)
          throw new InconclusiveError('The message with a negative historyLength was not rejected.');
        const page = await probe.call('list', { contextId });
        const { tasks = [] } = (page.result ?? {}) as { tasks?: unknown[] };
        probe.expectEmpty(tasks, 'A rejected message created a task');
      },
    },
    {
      id: 'validation.deep',
      ...should('13.4', 'SEC-006', 'SEC-005'),
      sentence: 'The agent survives data that is nested 1,000 levels deep.',
      remedy: 'Limit the nesting depth, and return an error.',
      async run(probe) {
        let deep: readonly unknown[] = [];
        for (let level = 1; level < 1_000; level++) deep = [deep];
        const transform = (wire: JsonObject): JsonObject => ({
          ...wire,
          message: { ...(wire.message as object), metadata: { deep } },
        });
        const request = probe.driver.encode('send', { message: { text: 'hello' } }, { transform });
        if (!request) throw new InconclusiveError('The version has no messages.');
        const exchange = await probe.sendRaw(request);
        const { error, decodeError } = probe.driver.decode(exchange);
        const isInternal = error?.grpcStatus === 'INTERNAL' || error?.grpcStatus === 'UNKNOWN';
        const actual = error ? describeError(error) : (decodeError ?? exchange.end);
        const isHandled = exchange.status > 0 && exchange.status < 500 && !isInternal;
        probe.expect(isHandled, `The response to deeply nested data is ${actual}`);
        await probe.expectError('get', { id: crypto.randomUUID() }, 'TaskNotFound');
      },
    },
    {
      id: 'validation.large',
      ...should('13.4', 'SEC-006'),
      sentence: 'The agent rejects a body of 64 MiB and continues to serve requests.',
      remedy: 'Limit the body size, and return 413 or -32600.',
      async run(probe) {
        const exchange = await sendLargeText(probe, 64 * 1_024 * 1_024);
        const { status } = exchange;
        probe.expect(
          status === 0 || (status >= 400 && status < 500) || /"error"/.test(exchange.body.slice(0, 2_000)),
          `The response to a body of 64 MiB is HTTP ${status}`,
        );
        await probe.expectError('get', { id: crypto.randomUUID() }, 'TaskNotFound');
      },
    },
  ],
);
