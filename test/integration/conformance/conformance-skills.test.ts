import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { allChecks } from '../../../src/conformance/checks/index.ts';
import { runChecks, type RunChecksOutcome, UnknownSkillError } from '../../../src/conformance/run-checks.ts';
import { type RawServer, respondJson, startRawServer } from '../../support/http/raw-server.ts';

const skill = (id: string, ...examples: string[]): object => ({
  id,
  name: id,
  description: id,
  tags: [id],
  examples,
});

describe('skills in a conformance test', () => {
  let agent: RawServer;
  let texts: string[] = [];
  beforeEach(() => void (texts = []));
  beforeAll(async () => {
    agent = await startRawServer(({ path, json }, response, url) => {
      if (path.startsWith('/.well-known/')) {
        const skills = [
          skill('add', '1 + 1', '2 + 2', 'Add {number}'),
          skill('ask', 'Ask me'),
          skill('many', ...Array.from({ length: 30 }, (_, index) => `Example ${index}`)),
        ];
        const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
        respondJson(response, { name: 'Skilled', supportedInterfaces, capabilities: {}, skills });
        return;
      }
      const [{ text }] = json.params.message.parts as [{ text: string }];
      texts.push(text);
      const state = text === 'Ask me' ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_COMPLETED';
      const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Which?' }] };
      const task = { id: crypto.randomUUID(), contextId: 'c', status: { state, message } };
      respondJson(response, { jsonrpc: '2.0', id: json.id, result: { task } });
    });
  });
  afterAll(() => agent.close());

  const run = (rule: string, skills?: readonly string[]): Promise<RunChecksOutcome> =>
    runChecks(agent.url, {
      checks: allChecks,
      invariants: [],
      only: [rule],
      warmUp: true,
      ...(skills ? { skills } : {}),
    });

  it('sends the examples of all skills by default, at most 20, the first of each skill first', async () => {
    const { results } = await run('skill.examples');
    expect(results).toMatchObject([{ verdict: 'pass' }]);
    expect(texts).toHaveLength(20);
    expect(new Set(texts).size).toBe(20);
    expect(texts).toEqual(expect.arrayContaining(['1 + 1', '2 + 2', 'Ask me', 'Example 0', 'Example 16']));
  });

  it('sends the examples of all named skills', async () => {
    await run('skill.examples', ['add', 'ask']);
    expect(texts.toSorted()).toEqual(['1 + 1', '2 + 2', 'Ask me']);
  });

  it('uses the examples as prompts for the states that they lead to', async () => {
    const { results } = await run('turn.question');
    expect(results).toMatchObject([{ verdict: 'pass' }]);
  });

  it('rejects with the skills of the card if a named skill does not exist', async () => {
    const error = await run('skill.examples', ['add', 'nope']).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnknownSkillError);
    expect(error).toMatchObject({ message: 'Unknown skill: nope', known: ['add', 'ask', 'many'] });
  });
});
