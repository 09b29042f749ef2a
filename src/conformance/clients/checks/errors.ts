import { NotApplicableError } from '../../check-errors.ts';
import type { ProtocolErrorName } from '../../drivers/error-response.ts';
import { jsonTransports, must, should } from '../../rule-model.ts';
import { clientVersions, type ClientCheck, defineClientChecks } from '../client-check.ts';
import type { ClientProbe } from '../client-probe.ts';
import { callsOf, isSuccess, messagesOf } from '../client-run.ts';
import type { ReceivedCall } from '../server/received-request.ts';
import type { RawReply, Reply } from '../server/reply.ts';
import type { AgentScript } from '../server/suite-agent.ts';
import { wireFormat } from '../server/wire-content.ts';

/** Replies to the messages of the client with the same reply. */
const replyToMessages = (reply: (call: ReceivedCall, earlier: number) => Reply | undefined): AgentScript => ({
  reply: (call, { earlier }) => (call.message ? reply(call, earlier) : undefined),
});

const html: RawReply = {
  kind: 'raw',
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><p>Hi',
};
const json = (body: unknown): RawReply => ({
  kind: 'raw',
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** Responses that are neither a result nor an error of the protocol. */
const meaningless: readonly { readonly name: string; readonly reply: (call: ReceivedCall) => RawReply }[] = [
  { name: 'the response is a page of HTML', reply: () => html },
  {
    name: 'the response is HTTP 500',
    reply: () => ({ kind: 'raw', status: 500, body: 'Internal Server Error' }),
  },
  { name: 'the response has no body', reply: () => ({ kind: 'raw', status: 200 }) },
  { name: 'the response is the JSON text null', reply: () => json(null) },
  {
    name: 'the response has neither a result nor an error',
    reply: ({ transport, rpcId }) => json(transport === 'JSONRPC' ? { jsonrpc: '2.0', id: rpcId } : {}),
  },
];

/** Checks whether a client notices that an operation failed. */
export const errorChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'error-handling', versions: clientVersions },
  [
    {
      id: 'client-error.reported',
      ...must('3.3.2', 'ERR-001'),
      sentence: 'A client reports an error of the agent as an error.',
      remedy: 'Turn error responses into errors of the client: an exception, an exit code, a message.',
      async run(probe) {
        const errors: ProtocolErrorName[] = ['InvalidParams', 'UnsupportedOperation'];
        for (const error of errors) {
          const message = `refused-${error}`;
          const run = await probe.run(
            'send',
            replyToMessages(() => ({ kind: 'error', error, message })),
          );
          probe.expectVisibleError(run, `the agent responded with ${error}`, message);
        }
      },
    },
    {
      id: 'client-error.not-repeated',
      ...should('3.3.1', 'IDEM-001', 'RFC 9110/9.2.2'),
      sentence: 'A client does not repeat a message that the agent rejected.',
      remedy: 'Repeat a message only if no response was received, or if the response allows it.',
      async run(probe) {
        const message = 'refused';
        const run = await probe.run(
          'send',
          replyToMessages(() => ({ kind: 'error', error: 'InvalidParams', message })),
        );
        probe.expectOneMessage(run, 'the agent rejected the first one');
      },
    },
    {
      id: 'client-error.unknown-code',
      ...must('3.3.2', 'ERR-001'),
      transports: ['JSONRPC'],
      sentence: 'A client reports errors with codes that it does not know.',
      remedy: 'Treat any member "error" as an error, with or without a known code.',
      async run(probe) {
        const message = 'a-new-kind-of-error';
        const run = await probe.run(
          'send',
          replyToMessages(({ rpcId: id }) =>
            json({ jsonrpc: '2.0', id, error: { code: -31999, message, data: 'x' } }),
          ),
        );
        probe.expectVisibleError(run, 'the error has an unknown code', message);
      },
    },
    {
      id: 'client-error.meaningless',
      ...must('3.3.2', 'ERR-001'),
      transports: jsonTransports,
      sentence: 'A client reports an error if the response is neither a result nor an error of the protocol.',
      remedy: 'Check status, content type and form of each response.',
      async run(probe) {
        for (const { name, reply } of meaningless) {
          const run = await probe.run('send', replyToMessages(reply));
          probe.expectVisibleError(run, name);
        }
      },
    },
    {
      id: 'client-error.wrong-id',
      ...should('9.3', 'RPC-006', 'JSON-RPC 2.0/5'),
      transports: ['JSONRPC'],
      sentence: 'A client does not accept a response with the id of another request.',
      remedy: 'Compare the id of the response with that of the request.',
      async run(probe) {
        const run = await probe.run('send', {
          reply: (call, { agent }) =>
            call.message && call.operation === 'send'
              ? {
                  kind: 'raw',
                  status: 200,
                  headers: { 'content-type': 'application/json' },
                  body: JSON.stringify({
                    jsonrpc: '2.0',
                    id: 'another-request',
                    result: wireFormat(call.version, call.transport).result({
                      kind: 'task',
                      task: agent.task(call, 'completed'),
                    }),
                  }),
                }
              : undefined,
        });
        if (callsOf(run, 'send').length === 0)
          throw new NotApplicableError('The client streams every message.');
        probe.expectVisibleError(run, 'the response has the id of another request');
      },
    },
    {
      id: 'client-error.truncated',
      ...must('3.3.2', 'ERR-001'),
      transports: jsonTransports,
      sentence: 'A client reports an error if the connection breaks within a response.',
      remedy: 'Compare the length of the body with Content-Length, or use an HTTP library that does.',
      async run(probe) {
        const run = await probe.run(
          'send',
          replyToMessages(({ rpcId }) => ({ ...json({ jsonrpc: '2.0', id: rpcId }), isCut: true })),
        );
        probe.expectVisibleError(run, 'the connection broke within the response');
      },
    },
    {
      id: 'client-error.unreachable',
      ...must('3.3.2', 'ERR-001'),
      sentence: 'A client reports an error if the agent cannot be reached.',
      remedy: 'Report the failed connection; do not wait for it without end.',
      async run(probe) {
        const { transport } = probe.variant;
        const run = await probe.run('send', {
          hasBrokenCard: true,
          interfaces: ({ closed }) => [
            { transport, url: transport === 'GRPC' ? closed.replace('http://', '') : closed },
          ],
        });
        probe.expectVisibleError(run, 'the connection to the interface is refused');
      },
    },
    ...retryChecks(),
  ],
);

function retryChecks(): Omit<ClientCheck, 'category' | 'versions'>[] {
  const statuses: readonly [status: number, id: string, name: string][] = [
    [429, 'client-error.rate-limit', 'its rate limit is exceeded'],
    [503, 'client-error.unavailable', 'it is unavailable'],
  ];
  return statuses.map(([status, id, name]) => ({
    id,
    ...should('robustness', 'RFC 9110/10.2.3'),
    transports: jsonTransports,
    sentence: `A client waits as long as Retry-After says if an agent responds that ${name}, or reports an error.`,
    remedy: 'Read Retry-After before a message is repeated.',
    run: (probe: ClientProbe) => expectRetryAfter(probe, status),
  }));
}

async function expectRetryAfter(probe: ClientProbe, status: number): Promise<void> {
  const seconds = 2;
  const run = await probe.run(
    'send',
    replyToMessages((_call, earlier) =>
      earlier === 0
        ? { kind: 'raw', status, headers: { 'retry-after': String(seconds) }, body: 'later' }
        : undefined,
    ),
  );
  const [first, second] = messagesOf(run);
  if (!second) {
    probe.expectVisibleError(run, `the agent responded with HTTP ${status}`);
    return;
  }
  const waited = Math.round(second.at - (first?.response.endedAt ?? first?.at ?? 0));
  // Timers of clients may fire a little early.
  probe.expect(
    run,
    waited >= seconds * 1_000 - 100,
    `The client repeated the message too early after HTTP ${status}.`,
    {
      expected: `at least ${seconds * 1_000} ms`,
      actual: `${waited} ms`,
    },
  );
  probe.expect(run, isSuccess(run), 'The client failed although the repeated message was answered.');
}
