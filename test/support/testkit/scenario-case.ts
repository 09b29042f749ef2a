import { expect } from 'vitest';
import { readScenarios, type Scenario } from '../../../src/testkit/scenario/files/read-scenarios.ts';
import { formatFailure } from '../../../src/testkit/scenario/reports/report.ts';
import { openHarness, type HarnessOptions } from '../../../src/testkit/scenario/harness/open-harness.ts';
import { runScenarios, type ScenarioResult } from '../../../src/testkit/scenario/run-scenarios.ts';

type CaseSpec = { [key: string]: unknown };

/** A message of the agent. */
export const agentMessageWith = (text: string) => ({ role: 'agent', parts: [{ kind: 'text', text }] });
/** A working status update with a message. */
export const workingUpdate = (text: string) => ({
  kind: 'status-update',
  final: false,
  status: { state: 'working', message: agentMessageWith(text) },
});
/** A completed task with a message. */
export const completedTask = (text: string, more: object = {}) => ({
  kind: 'task',
  status: { state: 'completed', message: agentMessageWith(text) },
  ...more,
});
/** The expectation of a completed task with a message. */
export const expectCompleted = (text: string) => ({
  type: 'final_response',
  task_state: 'completed',
  content_parts: [{ type: 'text', text_exact: text }],
});

let count = 0;

/** Builds a case with defaults for missing keys. The file is JSON, which is valid YAML. */
export function buildScenario(spec: CaseSpec): Scenario {
  const { input, ...rest } = spec;
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
export async function runCase(spec: CaseSpec, options: HarnessOptions = {}): Promise<ScenarioResult> {
  const [result] = await runScenarios([buildScenario(spec)], {
    openHarness: () => openHarness(options),
    parallel: 1,
  });
  if (!result) throw new Error('no result');
  return result;
}

/** Runs a case and expects it to pass. */
export async function expectPassed(spec: CaseSpec, options: HarnessOptions = {}): Promise<void> {
  const result = await runCase(spec, options);
  expect(result.outcome === 'passed' ? '' : formatFailure(result)).toBe('');
}

/** Runs a case, expects it to fail, and returns the paths of its mismatches. */
export async function failingPaths(spec: CaseSpec): Promise<string[]> {
  const result = await runCase(spec);
  expect(result.outcome).toBe('failed');
  return result.mismatches.map(({ path }) => path);
}

/** URL of the fake token endpoint. */
export const tokenUrl = 'https://test-oauth.example.com/token';
/** Keys of a case whose proxy needs an OAuth token. */
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
