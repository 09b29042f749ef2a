import { expect, it } from 'vitest';
import { allChecks } from '../../../src/conformance/checks/index.ts';
import { serveMutant } from '../../../src/conformance/mutants/harness/serve-mutant.ts';
import { fixturePrompts } from '../../../src/conformance/prompts/prompt-catalog.ts';
import { runChecks } from '../../../src/conformance/run-checks.ts';
import { withInterceptor } from '../../../src/protocol/composition/with-interceptor.ts';
import { A2AError } from '../../../src/protocol/errors.ts';

const isLocal = (url: string | undefined): boolean => url?.includes('127.0.0.1') ?? false;
const rejection = (): A2AError => new A2AError('INVALID_PARAMS', 'No');

it('returns one reason for all rules of push notifications if the agent rejects webhooks on the local host', async () => {
  const served = await serveMutant({
    agent: (agent) =>
      withInterceptor(agent, {
        async send(request, call) {
          if (isLocal(request.configuration?.pushConfig?.url)) throw rejection();
          return agent.send(request, call);
        },
        async createPushConfig(request, call) {
          if (isLocal(request.url)) throw rejection();
          return agent.createPushConfig(request, call);
        },
      }),
  });
  try {
    const { results, warnings } = await runChecks(served.url, {
      checks: allChecks,
      invariants: [],
      prompts: fixturePrompts,
      only: ['send.answers', 'push.create', 'push.inline', 'push.hangs', 'push.lives', 'push-before'],
      transports: ['JSONRPC'],
    });
    const violated = results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn');
    expect(violated.map(({ rule, message }) => `${rule.id}: ${message}`)).toEqual([]);
    const inconclusive = results.filter(({ verdict }) => verdict === 'inconclusive');
    expect(inconclusive.length).toBeGreaterThan(8);
    const [reason, ...others] = new Set(inconclusive.map(({ message }) => message));
    expect(reason).toMatch(/^The agent rejects webhooks on the local host\..*--webhook-url\.$/);
    expect(others).toEqual([]);
    expect(warnings).toEqual([reason]);
  } finally {
    await served.close();
  }
});
