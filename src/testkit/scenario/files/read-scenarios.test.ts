import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../../documents/diagnostic.ts';
import { readScenarios, type ScenarioMode } from './read-scenarios.ts';

const small = `test_case_id: a
gateway_input:
  target_agent_name: Someone
  parts:
    - type: text
      text: hello
`;

function diagnosticsFor(text: string, mode: ScenarioMode = 'strict'): string[] {
  try {
    readScenarios(text, 'a.yaml', mode);
    return [];
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DocumentError);
    return (thrown as Error).message.split('\n');
  }
}

const first = (text: string, mode?: ScenarioMode) => {
  const [scenario] = readScenarios(text, 'a.yaml', mode);
  if (!scenario) throw new Error('no case');
  return scenario;
};

describe('readScenarios', () => {
  it('applies defaults', () => {
    const { id, user, session, parts, firstVersion, convertProgress, skipReason, spec } = first(small);
    expect({ id, user, session, parts, firstVersion, convertProgress, skipReason }).toEqual({
      id: 'a',
      user: 'default_test_user@example.com',
      session: 'setup_session_for_default_test_user@example.com',
      parts: [{ type: 'text', text: 'hello' }],
      firstVersion: 0,
      convertProgress: undefined,
      skipReason: undefined,
    });
    expect(spec.skip_intermediate_events).toBe(false);
    expect(spec.expected_completion_timeout_seconds).toBe(10);
    expect(spec.gateway_input?.is_streaming).toBe(true);
  });

  it('reads a list of cases', () => {
    const list = `- ${small.trimEnd().replaceAll('\n', '\n  ')}\n- ${small.trimEnd().replaceAll('\n', '\n  ').replace(': a', ': b')}\n`;
    expect(readScenarios(list, 'a.yaml').map(({ id, line }) => [id, line])).toEqual([
      ['a', 1],
      ['b', 7],
    ]);
  });

  it('prefers a2a_parts to parts', () => {
    const text = `${small}  a2a_parts:\n    - type: text\n      text: rather\n`;
    expect(first(text).parts).toEqual([{ type: 'text', text: 'rather' }]);
  });

  it.each([
    ['an unknown key', `${small}expected_output: []\n`, 'a.yaml:7:1: expected_output: unknown key'],
    [
      'an unknown key of an expectation',
      `${small}expected_gateway_output:\n  - type: final_response\n    kind: task\n`,
      'a.yaml:9:5: expected_gateway_output[0].kind: unknown key',
    ],
    [
      'a key of another kind of event',
      `${small}expected_gateway_output:\n  - type: error\n    task_state: failed\n`,
      'a.yaml:9:5: expected_gateway_output[0].task_state: unknown key',
    ],
    [
      'a wrong value',
      `${small}skip_intermediate_events: maybe\n`,
      'a.yaml:7:1: skip_intermediate_events: expected boolean, received string',
    ],
    ['a case without input', 'test_case_id: a\n', 'a.yaml:1:1: gateway_input: is missing'],
    [
      'an invalid regular expression',
      `${small}expected_gateway_output:\n  - type: error\n    error_message_matches_regex: "("\n`,
      expect.stringMatching(/^a\.yaml:9:5: .*error_message_matches_regex: must be a regular expression/),
    ],
    [
      'a file without a name',
      `${small}expected_artifacts:\n  - version: 0\n`,
      'a.yaml:8:5: expected_artifacts[0]: must have either filename or filename_matches_regex',
    ],
  ])('reports %s with line and column', (_name, text, diagnostic) => {
    expect(diagnosticsFor(text)).toEqual([diagnostic]);
  });

  it('counts versions from 1 and does not convert progress with prompt', () => {
    const text = `test_case_id: a
gateway_input:
  target_agent_name: Someone
  prompt:
    parts:
      - text: hello
`;
    const { parts, firstVersion, convertProgress } = first(text);
    expect({ parts, firstVersion, convertProgress }).toEqual({
      parts: [{ text: 'hello' }],
      firstVersion: 1,
      convertProgress: false,
    });
    expect(first(`${text}first_version: 0\nconvert_progress_updates: true\n`)).toMatchObject({
      firstVersion: 0,
      convertProgress: true,
    });
  });

  it.each([
    ['llm_interactions: [{}]', 'it needs a language model (llm_interactions)'],
    ['http_request_input: {}', expect.stringContaining('http_request_input')],
    ['expected_http_responses: []', expect.stringContaining('expected_http_responses')],
    ['setup_tasks: []', expect.stringContaining('setup_tasks')],
    ['setup_projects: []', expect.stringContaining('setup_projects')],
    ['monkeypatch_spec: []', expect.stringContaining('monkeypatch_spec')],
    ['primed_image_generation_responses: []', expect.stringContaining('primed_image_generation_responses')],
    ['test_runner_config_overrides: {}', expect.stringContaining('test_runner_config_overrides')],
    ['description: "{{STATIC_FILE_SERVER_URL}}/a"', expect.stringContaining('STATIC_FILE_SERVER_URL')],
  ])('skips a case with %s', (line, reason) => {
    expect(first(`${small}${line}\n`).skipReason).toEqual(reason);
  });

  it('does not skip a case with an empty llm_interactions list', () => {
    expect(first(`${small}llm_interactions: []\n`).skipReason).toBeUndefined();
  });
});

describe('readScenarios in compatible mode', () => {
  const foreignFile = `test_case_id: a
surprise: 1
harness: direct
gateway_input:
  target_agent_name: Someone
  gateway_request_id: x
  prompt: hello
  parts:
    - type: text
      text: hello
      kind: text
expected_gateway_output:
  - type: final_response
    kind: task
    status: {state: failed}
    task_state: completed
  - type: artifact_update
    assert_part_is_uri_reference: true
expected_artifacts:
`;

  it('ignores unknown and Dragoman-only keys', () => {
    const { spec, parts } = first(foreignFile, 'compatible');
    expect(spec.harness).toBeUndefined();
    expect(spec).not.toHaveProperty('surprise');
    expect(spec.gateway_input).not.toHaveProperty('prompt');
    expect(parts).toEqual([{ type: 'text', text: 'hello' }]);
    expect(spec.expected_gateway_output).toEqual([
      { type: 'final_response', task_state: 'completed' },
      { type: 'artifact_update' },
    ]);
  });

  it('accepts a file that the strict mode rejects', () => {
    expect(diagnosticsFor(foreignFile).length).toBeGreaterThan(5);
    expect(diagnosticsFor(foreignFile, 'compatible')).toEqual([]);
  });

  it('reports invalid values', () => {
    expect(diagnosticsFor('test_case_id: 1\ngateway_input: {target_agent_name: a}\n', 'compatible')).toEqual([
      'a.yaml:1:1: test_case_id: expected string, received number',
    ]);
  });
});
