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

function complaintsAbout(text: string, mode: ScenarioMode = 'strict'): string[] {
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

describe('a scenario file', () => {
  it('has defaults for what it does not say', () => {
    const { id, user, session, parts, versionsFrom, convertsProgress, skipped, spec: words } = first(small);
    expect({ id, user, session, parts, versionsFrom, convertsProgress, skipped }).toEqual({
      id: 'a',
      user: 'default_test_user@example.com',
      session: 'setup_session_for_default_test_user@example.com',
      parts: [{ type: 'text', text: 'hello' }],
      versionsFrom: 0,
      convertsProgress: undefined,
      skipped: undefined,
    });
    expect(words.skip_intermediate_events).toBe(false);
    expect(words.expected_completion_timeout_seconds).toBe(10);
    expect(words.gateway_input?.is_streaming).toBe(true);
  });

  it('may hold a list of cases', () => {
    const list = `- ${small.trimEnd().replaceAll('\n', '\n  ')}\n- ${small.trimEnd().replaceAll('\n', '\n  ').replace(': a', ': b')}\n`;
    expect(readScenarios(list, 'a.yaml').map(({ id, line }) => [id, line])).toEqual([
      ['a', 1],
      ['b', 7],
    ]);
  });

  it('sends a2a_parts rather than parts', () => {
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
      'an expression that is none',
      `${small}expected_gateway_output:\n  - type: error\n    error_message_matches_regex: "("\n`,
      expect.stringMatching(/^a\.yaml:9:5: .*error_message_matches_regex: is no regular expression/),
    ],
    [
      'a file without a name',
      `${small}expected_artifacts:\n  - version: 0\n`,
      'a.yaml:8:5: expected_artifacts[0]: needs either filename or filename_matches_regex',
    ],
  ])('is complained about, with line and column, for %s', (_what, text, complaint) => {
    expect(complaintsAbout(text)).toEqual([complaint]);
  });

  it('counts versions from 1 and leaves words alone when it asks with prompt', () => {
    const text = `test_case_id: a
gateway_input:
  target_agent_name: Someone
  prompt:
    parts:
      - text: hello
`;
    const { parts, versionsFrom, convertsProgress } = first(text);
    expect({ parts, versionsFrom, convertsProgress }).toEqual({
      parts: [{ text: 'hello' }],
      versionsFrom: 1,
      convertsProgress: false,
    });
    expect(first(`${text}versions_from: 0\nconvert_progress_updates: true\n`)).toMatchObject({
      versionsFrom: 0,
      convertsProgress: true,
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
  ])('is skipped with a reason when it has %s', (line, reason) => {
    expect(first(`${small}${line}\n`).skipped).toEqual(reason);
  });

  it('is not skipped for a list of no interactions', () => {
    expect(first(`${small}llm_interactions: []\n`).skipped).toBeUndefined();
  });
});

describe('a file that is read compatibly', () => {
  const theirs = `test_case_id: a
surprise: 1
gateway: direct
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

  it('leaves out what the other runner does not look at', () => {
    const { spec: words, parts } = first(theirs, 'compatible');
    expect(words.gateway).toBeUndefined();
    expect(words).not.toHaveProperty('surprise');
    expect(words.gateway_input).not.toHaveProperty('prompt');
    expect(parts).toEqual([{ type: 'text', text: 'hello' }]);
    expect(words.expected_gateway_output).toEqual([
      { type: 'final_response', task_state: 'completed' },
      { type: 'artifact_update' },
    ]);
  });

  it('is complained about in the strict mode', () => {
    expect(complaintsAbout(theirs).length).toBeGreaterThan(5);
    expect(complaintsAbout(theirs, 'compatible')).toEqual([]);
  });

  it('is still complained about for what is wrong', () => {
    expect(complaintsAbout('test_case_id: 1\ngateway_input: {target_agent_name: a}\n', 'compatible')).toEqual(
      ['a.yaml:1:1: test_case_id: expected string, received number'],
    );
  });
});
