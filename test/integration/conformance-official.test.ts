import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examine } from '../../src/conformance/examine.ts';
import { fxWays } from '../../src/conformance/reach.ts';
import type { RunOutcome } from '../../src/conformance/run.ts';
import { fixtures } from '../interop/official-fixtures.ts';
import { type Started, start02, start03, start13 } from '../interop/official-servers.ts';

/** What is known to be wrong with each; docs/interop.md has the evidence. A MUST that breaks beside it is looked at. */
const faults: { readonly [sdk: string]: readonly string[] } = {
  '0.2': ['cancel.running', 'rpc.invalid-request', 'rpc.params', 'rpc.parse'],
  '0.3': ['http.no-5xx', 'rpc.invalid-request', 'rpc.params', 'stream.unknown-task', 'subscribe.unknown'],
  '1.3': [
    'history.negative',
    'list.since',
    'model.message',
    'model.part',
    'model.push-config',
    'model.role',
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
    'version.parameter',
    'version.patch',
  ],
};

describe.each([
  ['0.2', start02],
  ['0.3', start03],
  ['1.3', start13],
] as const)('the official SDK %s', (sdk, start) => {
  let server: Started;
  let outcome: RunOutcome;
  const { error, warn, log } = console;

  beforeAll(async () => {
    // The SDKs tell on the console what they refused.
    Object.assign(console, { error: () => undefined, warn: () => undefined, log: () => undefined });
    server = await start(fixtures);
    outcome = await examine(server.url, { ways: fxWays, timeout: 8_000 });
  }, 120_000);

  afterAll(async () => {
    await server.close();
    Object.assign(console, { error, warn, log });
  });

  it('breaks what it is known to break, and nothing else', () => {
    const broken = outcome.results.filter(({ verdict }) => verdict === 'fail').map(({ rule }) => rule.id);
    expect([...new Set(broken)].toSorted()).toEqual(faults[sdk]);
  });

  it('does not make the suite fail', () => {
    const errors = outcome.results.filter(({ verdict }) => verdict === 'error');
    expect(errors.map(({ rule, message }) => `${rule.id}: ${message}`)).toEqual([]);
  });
});
