import { expect, it, onTestFinished } from 'vitest';
import { computeLevel } from '../../../src/conformance/conformance-level.ts';
import { fixtureAgent } from '../../../src/conformance/mutants/harness/fixture-agent.ts';
import { fixturePrompts } from '../../../src/conformance/prompts/prompt-catalog.ts';
import { testConformance } from '../../../src/conformance/test-conformance.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { postgresTaskStore } from '../../../src/store/postgres.ts';
import { reverseProxies } from '../../support/process/reverse-proxy.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const postgres = usePostgres();

/** Serves the fixture agent on the database and returns its URL. */
async function startReplica(): Promise<string> {
  const taskStore = await postgresTaskStore({ url: postgres().url });
  const agent = fixtureAgent({ taskStore, push: { egress: { allowLoopback: true } } });
  // nginx cannot serve gRPC in clear text on the port of the other transports.
  const server = await serve(agent, {
    grpc: false,
    limits: { requestsPerClient: Infinity, streamsPerClient: Infinity },
  });
  onTestFinished(async () => {
    await server.stop(0);
    await agent.close();
    await taskStore[Symbol.asyncDispose]();
  });
  return server.url;
}

/** Tests an agent and returns its level and the verdict of each rule that did not pass. */
async function verdicts(url: string) {
  const { results, variants } = await testConformance(url, { prompts: fixturePrompts, timeout: 30_000 });
  const others = results.filter(({ verdict }) => verdict !== 'pass');
  return {
    level: computeLevel(results, variants),
    passed: results.length - others.length,
    others: others.map(({ rule, version, transport, verdict }) =>
      [rule.id, version, transport, verdict].join(' '),
    ),
  };
}

it.skipIf(!hasPostgres).each(reverseProxies)(
  'three replicas behind $name conform as one does',
  { timeout: 600_000 },
  async ({ program, start }) => {
    if (program === undefined) return;
    const urls = await Promise.all([startReplica(), startReplica(), startReplica()]);
    const proxy = await start(
      program,
      urls.map((url) => Number(new URL(url).port)),
    );
    onTestFinished(() => proxy.stop());
    const one = await verdicts(urls[0] ?? '');
    const three = await verdicts(proxy.url);
    expect(three).toEqual(one);
    expect(three.level).toBe('full');
    expect(three.passed).toBeGreaterThan(300);
  },
);
