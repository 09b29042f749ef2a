import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { jsonTransports, should } from '../../rule-model.ts';
import { clientVersions, type ClientCheck, defineClientChecks } from '../client-check.ts';
import type { ReceivedCall } from '../server/received-request.ts';
import type { RawReply } from '../server/reply.ts';
import type { AgentScript } from '../server/suite-agent.ts';
import { expectClosedByClient } from './card-faults.ts';

const json = { 'content-type': 'application/json' };
const script = (reply: (call: ReceivedCall) => RawReply): AgentScript => ({
  reply: (call) => (call.message ? reply(call) : undefined),
});

/** Compresses 128 MiB to some hundred kilobytes, once. */
let bomb: Promise<Uint8Array> | undefined;

/** Checks that no response can crash or block a client. */
export const hostileChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'error-handling', versions: clientVersions, transports: jsonTransports },
  [
    {
      id: 'client-hostile.deep',
      ...should('robustness', 'robustness/nesting', 'SEC-006'),
      sentence: 'A client neither crashes nor hangs if a response is nested very deeply.',
      remedy: 'Limit the depth of JSON before it is processed recursively.',
      async run(probe) {
        const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
        const run = await probe.run(
          'send',
          script(({ rpcId, transport }) => ({
            kind: 'raw',
            status: 200,
            headers: json,
            body:
              transport === 'JSONRPC'
                ? `{"jsonrpc":"2.0","id":${JSON.stringify(rpcId ?? null)},"result":${deep}}`
                : deep,
          })),
        );
        probe.expectEnd(run, 'the response is nested 100,000 levels deep');
      },
    },
    {
      id: 'client-hostile.endless',
      ...should('robustness', 'robustness/size', 'SEC-006'),
      sentence: 'A client limits the size of a response.',
      remedy: 'Stop reading after some megabytes and report an error.',
      async run(probe) {
        const run = await probe.run(
          'send',
          script(() => ({
            kind: 'raw',
            status: 200,
            headers: json,
            body: '{"jsonrpc": "2.0", "x": "',
            endless: 'x',
          })),
        );
        expectClosedByClient(probe, run, 'the response never ends');
      },
    },
    {
      id: 'client-hostile.compressed',
      ...should('robustness', 'robustness/decompression', 'SEC-006'),
      sentence: 'A client neither crashes nor hangs if a small response is decompressed to a very large one.',
      remedy: 'Limit the size of a response after it is decompressed, or do not accept compression.',
      async run(probe) {
        bomb ??= promisify(gzip)(Buffer.alloc(128 * 1_024 * 1_024, 'x'), { level: 1 });
        const body = await bomb;
        const run = await probe.run(
          'send',
          script(() => ({
            kind: 'raw',
            status: 200,
            headers: { ...json, 'content-encoding': 'gzip' },
            body,
          })),
        );
        probe.expectVisibleError(run, 'the response is decompressed to 128 MiB');
      },
    },
    {
      id: 'client-hostile.values',
      ...should('robustness', 'robustness/types', 'SEC-005'),
      sentence: 'A client neither crashes nor hangs if members of a response have wrong types.',
      remedy: 'Validate responses before they are used.',
      async run(probe) {
        const wrong = {
          id: 7,
          contextId: {},
          status: 'done',
          artifacts: { length: -1 },
          history: 'x',
          kind: [],
        };
        for (const result of [
          wrong,
          { task: wrong },
          { message: { parts: { length: 1e9 } } },
          [],
          'text',
          true,
        ]) {
          const run = await probe.run(
            'send',
            script(({ rpcId, transport }) => ({
              kind: 'raw',
              status: 200,
              headers: json,
              body: JSON.stringify(transport === 'JSONRPC' ? { jsonrpc: '2.0', id: rpcId, result } : result),
            })),
          );
          probe.expectEnd(run, `the result is ${JSON.stringify(result).slice(0, 60)}`);
        }
      },
    },
  ],
);
