import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allChecks } from '../../../src/conformance/checks/index.ts';
import { allInvariants } from '../../../src/conformance/invariants/index.ts';
import { runChecks } from '../../../src/conformance/run-checks.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { respondJson, type RawServer, startRawServer } from '../../support/http/raw-server.ts';

/** Creates an agent that understands only one prompt. */
const shy = defineAgent({
  name: 'Shy',
  description: 'Asks before it does anything',
  skills: [{ id: 'ask', name: 'Ask', description: 'Asks', tags: ['question'], examples: ['anything'] }],
  async process({ ask }) {
    const { parts } = await ask('What do you want?');
    return [{ parts }];
  },
});

describe('dragoman conformance with a card without version', () => {
  let old: RunningServer;
  beforeAll(async () => {
    old = await serve(shy, { onlyVersion: '0.1' });
  });
  afterAll(() => old.stop(0));

  it('tests the version that the agent supports and no other', async () => {
    const { variants: lanes, results } = await runChecks(old.url, {
      checks: allChecks,
      invariants: allInvariants,
    });
    expect(lanes.map(({ version }) => version)).toEqual(['0.1']);
    const broken = results.filter(({ verdict }) => verdict === 'fail').map(({ rule }) => rule.id);
    expect(broken).toEqual([]);
  });

  it('tests 0.3 if the agent supports only the methods of 0.3', async () => {
    const unmarked = await startUnmarked(['message/send']);
    const { variants: lanes } = await runChecks(unmarked.url, { checks: [], invariants: [] });
    expect(lanes.map(({ version }) => version)).toEqual(['0.3']);
    await unmarked.close();
  });

  it.each([-32_600, -32_602, -32_603])('tests 0.1 if the error of unknown methods is %i', async (code) => {
    const unmarked = await startUnmarked(['tasks/send'], code);
    const { variants: lanes } = await runChecks(unmarked.url, { checks: [], invariants: [] });
    expect(lanes.map(({ version }) => version)).toEqual(['0.1']);
    await unmarked.close();
  });

  it('derives the version from the card if the responses are ambiguous', async () => {
    const unmarked = await startUnmarked(['message/send', 'tasks/send']);
    const { variants: lanes } = await runChecks(unmarked.url, { checks: [], invariants: [] });
    expect(lanes.map(({ version }) => version)).toEqual(['0.3']);
    await unmarked.close();
  });
});

/** A server with a card without marks, which knows some methods. */
function startUnmarked(methods: readonly string[], unknownMethod = -32_601): Promise<RawServer> {
  return startRawServer(({ path, json: request }, response, url) => {
    if (path.startsWith('/.well-known/')) {
      respondJson(response, {
        name: 'Unmarked',
        description: 'Says little of itself',
        url,
        version: '1',
        capabilities: {},
        defaultInputModes: ['text'],
        defaultOutputModes: ['text'],
        skills: [],
      });
      return;
    }
    const isKnown = methods.includes(request.method);
    const { message } = request.params;
    if (isKnown && message) {
      const kind = request.method === 'tasks/send' ? {} : { kind: 'task' };
      const result = { ...kind, id: 't', contextId: 'c', status: { state: 'completed' } };
      respondJson(response, { jsonrpc: '2.0', id: request.id, result });
      return;
    }
    const code = isKnown ? -32_602 : unknownMethod;
    respondJson(response, { jsonrpc: '2.0', id: request.id, error: { code, message: 'no' } });
  });
}
