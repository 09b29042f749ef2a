import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';

/** Sends a message whose wire form was changed, and expects it to be refused as invalid. */
async function refusedWith(
  probe: Probe,
  change: (message: Record<string, unknown>) => void,
  what: string,
): Promise<void> {
  const response = await probe.call(
    'send',
    { message: { text: 'hello' } },
    {
      transform(wire) {
        change(wire.message as Record<string, unknown>);
        return wire;
      },
    },
  );
  if (!response.error)
    probe.warn(`${what} was taken`, {
      expected: 'InvalidParams',
      actual: describeResponse(response),
      exchanges: [response.exchange],
    });
  else probe.assertError(response, 'InvalidParams', what);
}

const rule = { section: '5.7', level: 'SHOULD', category: 'error-handling', versions: ['1.0'] } as const;

/** What is checked before it is used: sections 3.3.2, 5.7 and 13.4. */
export const validationChecks = defineChecks([
  {
    ...rule,
    id: 'validation.empty-parts',
    requirements: ['JSON-009', 'JSON-010', 'MODEL-004'],
    sentence: 'A message without parts is refused.',
    remedy: 'Answer -32602 when parts is empty or missing.',
    async run(probe) {
      await refusedWith(
        probe,
        (message) => {
          message.parts = [];
        },
        'A message with an empty list of parts',
      );
      await refusedWith(
        probe,
        (message) => {
          delete message.parts;
        },
        'A message without parts',
      );
    },
  },
  {
    ...rule,
    id: 'validation.part-content',
    requirements: ['JSON-009', 'MODEL-007'],
    section: '4.1.6',
    sentence: 'A part with no content or with two is refused.',
    remedy: 'Count text, raw, url and data: there must be one.',
    async run(probe) {
      await refusedWith(
        probe,
        (message) => {
          message.parts = [{ metadata: {} }];
        },
        'A part without content',
      );
      await refusedWith(
        probe,
        (message) => {
          message.parts = [{ text: 'a', url: 'https://example.com' }];
        },
        'A part with two contents',
      );
    },
  },
  {
    ...rule,
    id: 'validation.role',
    requirements: ['JSON-009', 'MODEL-006'],
    section: '4.1.5',
    sentence: 'A role that does not exist is refused.',
    remedy: 'Take ROLE_USER and ROLE_AGENT only.',
    async run(probe) {
      await refusedWith(
        probe,
        (message) => {
          message.role = 'ROLE_WIZARD';
        },
        'An unknown role',
      );
      await refusedWith(
        probe,
        (message) => {
          delete message.role;
        },
        'A message without a role',
      );
    },
  },
  {
    ...rule,
    id: 'validation.message-id',
    requirements: ['JSON-009', 'MODEL-004'],
    section: '4.1.4',
    sentence: 'A message without an id is refused.',
    remedy: 'Answer -32602 when messageId is missing or empty.',
    async run(probe) {
      await refusedWith(
        probe,
        (message) => {
          delete message.messageId;
        },
        'A message without an id',
      );
    },
  },
  {
    ...rule,
    id: 'validation.unknown-fields',
    requirements: ['JSON-011'],
    category: 'lifecycle',
    sentence: 'Fields that nobody knows are ignored.',
    remedy: 'Let unknown members pass: newer callers send them.',
    async run(probe) {
      const response = await probe.call(
        'send',
        { message: probe.context.prompts.anyPrompt() },
        {
          transform: (wire) => ({
            ...wire,
            fromTheFuture: { a: [1] },
            message: { ...(wire.message as object), alsoNew: true },
          }),
        },
      );
      probe.expect(
        !response.error && response.decodeError === undefined,
        `A message with unknown fields was refused: ${describeResponse(response)}`,
      );
    },
  },
  {
    ...rule,
    id: 'validation.names-field',
    requirements: ['ERR-010', 'ERR-011', 'ERR-002'],
    section: '3.3.2',
    sentence: 'An error about a parameter says which one.',
    remedy: 'Name the field in the message, and in a BadRequest.',
    async run(probe) {
      const response = await probe.call('list', { pageSize: 101 });
      if (!response.error) throw new InconclusiveError('A page size that is too large was not refused.');
      const all = `${response.error.message} ${JSON.stringify(response.error.details ?? '')}`;
      probe.expect(/page_?size/i.test(all), 'The error does not name pageSize', {
        actual: response.error.message,
      });
    },
  },
  {
    ...rule,
    id: 'validation.no-side-effect',
    requirements: ['ERR-009', 'SEC-005'],
    section: '3.3.2',
    level: 'MUST',
    sentence: 'A message that is refused makes no task.',
    remedy: 'Check everything before you begin.',
    async run(probe) {
      const contextId = crypto.randomUUID();
      const response = await probe.call('send', {
        message: { ...probe.context.prompts.anyPrompt(), contextId },
        historyLength: -5,
      });
      if (!response.error) throw new InconclusiveError('The message was not refused.');
      const listed = await probe.call('list', { contextId });
      const { tasks = [] } = (listed.result ?? {}) as { tasks?: unknown[] };
      probe.expect(tasks.length === 0, 'A refused message made a task', { actual: String(tasks.length) });
    },
  },
  {
    ...rule,
    id: 'validation.deep',
    requirements: ['SEC-006', 'SEC-005'],
    section: '13.4',
    sentence: 'JSON that is nested a thousand levels deep breaks nothing.',
    remedy: 'Limit the depth, and answer with an error.',
    async run(probe) {
      const deep = `${'['.repeat(1_000)}${']'.repeat(1_000)}`;
      const said = probe.driver.encode('send', { message: { text: 'hello' } });
      const body = String(said?.body).replace('"hello"', `"hello","metadata":{"deep":${deep}}`);
      const exchange = await probe.sendRaw({
        ...said,
        method: said?.method ?? 'POST',
        url: said?.url ?? '',
        body,
      });
      probe.expect(
        exchange.status > 0 && exchange.status < 500,
        `Deep JSON was answered with ${exchange.status === 0 ? exchange.end : exchange.status}`,
      );
      await probe.expectError('get', { id: crypto.randomUUID() }, 'TaskNotFound');
    },
  },
  {
    ...rule,
    id: 'validation.large',
    requirements: ['SEC-006'],
    section: '13.4',
    sentence: 'A body of many megabytes is refused, and the server lives.',
    remedy: 'Limit the size of bodies, and answer 413 or -32600.',
    async run(probe) {
      const said = probe.driver.encode('send', { message: { text: 'hello' } });
      const [before = '', after = ''] = String(said?.body).split('hello');
      // As bytes, which do not count as memory of the program.
      const body = Buffer.concat([
        Buffer.from(before),
        Buffer.alloc(64 * 1_024 * 1_024, 'x'),
        Buffer.from(after),
      ]);
      const exchange = await probe.sendRaw({
        ...said,
        method: said?.method ?? 'POST',
        url: said?.url ?? '',
        body,
      });
      const { status } = exchange;
      probe.expect(
        status === 0 || (status >= 400 && status < 500) || /"error"/.test(exchange.body.slice(0, 2_000)),
        `64 MiB were answered with ${status}`,
      );
      await probe.expectError('get', { id: crypto.randomUUID() }, 'TaskNotFound');
    },
    runsExclusively: true,
  },
]);
