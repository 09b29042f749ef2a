import { expect } from 'vitest';
import { readScenarios, type Scenario } from '../../../src/testkit/scenario/files/read-scenarios.ts';
import { formatFailure } from '../../../src/testkit/scenario/reports/report.ts';
import { openHarness, type HarnessOptions } from '../../../src/testkit/scenario/harness/open-harness.ts';
import { runScenarios, type ScenarioResult } from '../../../src/testkit/scenario/run-scenarios.ts';

type Words = { [word: string]: unknown };

/** A message of the agent. */
export const agentMessageWith = (text: string) => ({ role: 'agent', parts: [{ kind: 'text', text }] });
/** An update in which the agent says something. */
export const workingUpdate = (text: string) => ({
  kind: 'status-update',
  final: false,
  status: { state: 'working', message: agentMessageWith(text) },
});
/** A task that ended with some words. */
export const completedTask = (text: string, more: object = {}) => ({
  kind: 'task',
  status: { state: 'completed', message: agentMessageWith(text) },
  ...more,
});
/** What is expected where a task ends with some words. */
export const expectCompleted = (text: string) => ({
  type: 'final_response',
  task_state: 'completed',
  content_parts: [{ type: 'text', text_exact: text }],
});

let count = 0;

/** A case with some words; JSON is YAML, too. */
export function buildScenario(words: Words): Scenario {
  const { input, ...rest } = words;
  const id = `case-${++count}`;
  const text = JSON.stringify({
    test_case_id: id,
    gateway_input: {
      target_agent_name: 'TestAgent_Proxied',
      user_identity: 'alice@example.com',
      parts: [{ type: 'text', text: 'hello' }],
      external_context: { a2a_session_id: `session-${id}` },
      ...(input as object),
    },
    downstream_a2a_agent_responses: rest.downstream_script ? [] : [completedTask('Done.')],
    expected_gateway_output: [expectCompleted('Done.')],
    ...rest,
  });
  const [scenario] = readScenarios(text, `${id}.yaml`);
  if (!scenario) throw new Error('no case');
  return scenario;
}

/** Runs a case. */
export async function runCase(words: Words, options: HarnessOptions = {}): Promise<ScenarioResult> {
  const [result] = await runScenarios([buildScenario(words)], {
    openHarness: () => openHarness(options),
    parallel: 1,
  });
  if (!result) throw new Error('no result');
  return result;
}

/** Runs a case that has to pass. */
export async function expectPassed(words: Words, options: HarnessOptions = {}): Promise<void> {
  const result = await runCase(words, options);
  expect(result.outcome === 'passed' ? '' : formatFailure(result)).toBe('');
}

/** Runs a case that has to fail, and says where. */
export async function failingPaths(words: Words): Promise<string[]> {
  const result = await runCase(words);
  expect(result.outcome).toBe('failed');
  return result.mismatches.map(({ path }) => path);
}

/** Where tokens come from. */
export const tokenUrl = 'https://test-oauth.example.com/token';
/** A case in which the proxy needs a token. */
export const oauthCase = {
  mock_oauth_server: { token_url: tokenUrl, access_token: 'first' },
  proxy_auth_config: {
    agent_name: 'TestAgent_Proxied',
    authentication: {
      type: 'oauth2_client_credentials',
      token_url: tokenUrl,
      client_id: 'me',
      client_secret: 'hush',
    },
  },
};
