import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testConformance } from '../../../src/conformance/test-conformance.ts';
import { fixturePrompts } from '../../../src/conformance/prompts/prompt-catalog.ts';
import type { RunChecksOutcome } from '../../../src/conformance/run-checks.ts';
import { fixtures } from '../../interop/official-fixtures.ts';
import { type Started, start02, start03, start13 } from '../../interop/official-servers.ts';

/** Known violations of each SDK, with evidence in docs/interop.md. Other violations of a MUST fail the test. */
const faults: { readonly [sdk: string]: readonly string[] } = {
  '0.2': ['cancel.running', 'rpc.invalid-request', 'rpc.params', 'rpc.parse'],
  '0.3': [
    'grpc.utf8',
    'http.no-5xx',
    'rpc.invalid-request',
    'rpc.params',
    'stream.unknown-task',
    'subscribe.unknown',
  ],
  '1.3': [
    'grpc.enum',
    'grpc.utf8',
    'history.negative',
    'list.since-inclusive',
    'model.empty',
    'model.message',
    'model.part',
    'model.push-config',
    'model.role',
    'push-before.delivers',
    'push.url',
    'rest.params',
    'rest.utf8',
    'rpc.batch',
    'rpc.invalid-request',
    'rpc.object-id',
    'rpc.params',
    'rpc.parse',
    'rpc.version-mark',
    'send.data',
    'send.media-type',
    'stream.media-type',
    'version.older',
    'version.parameter',
    'version.patch',
  ],
};

const servers = { '0.2': start02, '0.3': start03, '1.3': start13 } as const;
type Sdk = keyof typeof servers;
const sdks = Object.keys(servers) as Sdk[];
const outcomes = new Map<Sdk, RunChecksOutcome>();
const { error, warn, log } = console;

// Most of a run is waiting, so all three are looked at at once.
beforeAll(async () => {
  // The SDKs log rejected requests to the console.
  Object.assign(console, { error: () => undefined, warn: () => undefined, log: () => undefined });
  await Promise.all(
    sdks.map(async (sdk) => {
      const server: Started = await servers[sdk](fixtures);
      outcomes.set(sdk, await testConformance(server.url, { prompts: fixturePrompts, timeout: 8_000 }));
      await server.close();
    }),
  );
}, 120_000);

afterAll(() => void Object.assign(console, { error, warn, log }));

describe.each(sdks)('conformance of the official SDK %s', (sdk) => {
  const results = () => outcomes.get(sdk)?.results ?? [];

  it('reports exactly the known violations', () => {
    const broken = results()
      .filter(({ verdict }) => verdict === 'fail')
      .map(({ rule }) => rule.id);
    expect([...new Set(broken)].toSorted()).toEqual(faults[sdk]);
  });

  it('causes no internal error of the suite', () => {
    const errors = results().filter(({ verdict }) => verdict === 'error');
    expect(errors.map(({ rule, message }) => `${rule.id}: ${message}`)).toEqual([]);
  });
});
