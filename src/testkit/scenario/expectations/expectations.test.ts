import { describe, expect, it } from 'vitest';
import { memoryArtifactStore } from '../../../artifacts/stores/memory.ts';
import type { Part } from '../../../protocol/part.ts';
import type { Task } from '../../../protocol/task.ts';
import { fileMismatches } from './expect-files.ts';
import { outputMismatches } from './expect-output.ts';
import { requestMismatches } from './expect-requests.ts';
import { readScenarios, type Scenario } from '../files/read-scenarios.ts';
import type { ScenarioCapture, GatewayEvent } from '../harness/harness-types.ts';

/** Builds a case from JSON, which is valid YAML. */
function scenarioWith(keys: object): Scenario {
  const input = { target_agent_name: 'Someone', user_identity: 'alice', parts: [{ text: 'hi' }] };
  const text = JSON.stringify({ test_case_id: 'a', gateway_input: input, ...keys });
  const [scenario] = readScenarios(text, 'a.yaml');
  if (!scenario) throw new Error('no case');
  return scenario;
}

const agentMessage = (parts: Part[]) => ({ messageId: 'm', role: 'agent' as const, parts });

const update = (...parts: Part[]): GatewayEvent => ({
  at: 1,
  type: 'status_update',
  status: { state: 'working', message: agentMessage(parts) },
  isFinal: false,
});

const task = (overrides: Partial<Task> = {}): GatewayEvent => ({
  at: 2,
  type: 'final_response',
  task: {
    id: 't',
    contextId: 'c',
    status: { state: 'completed', message: agentMessage([{ text: 'Done.' }]) },
    metadata: { produced_artifacts: [{ filename: 'a.txt', version: 0 }], agent_name: 'X' },
    ...overrides,
  },
});

const file = (part: Part): GatewayEvent => ({
  at: 1,
  type: 'artifact_update',
  artifact: { artifactId: 'f', name: 'report.csv', parts: [{ raw: 'eA==' }] },
  received: [part],
});

const failure: GatewayEvent = {
  at: 3,
  type: 'error',
  code: -32603,
  message: 'The agent answered HTTP 503',
  data: { taskId: 't', agent: { name: 'X' } },
};

function mismatchPaths(
  expected: readonly object[],
  events: readonly GatewayEvent[],
  more: object = {},
): string[] {
  const scenario = scenarioWith({ expected_gateway_output: expected, ...more });
  return outputMismatches(scenario, events).map(({ path }) => path.replace('expected_gateway_output', 'out'));
}

const progress = update({ data: { type: 'agent_progress_update', status_text: 'Half way' } });
const tool = update({
  data: { type: 'tool_invocation_start', tool_name: 'add', tool_args: { a: 1, b: 2 } },
});
const text = (expected: object) => ({ content_parts: [{ type: 'text', ...expected }] });

describe('outputMismatches', () => {
  it.each<[string, object, GatewayEvent, object]>([
    [
      'event_purpose',
      { event_purpose: 'agent_progress_update' },
      progress,
      { event_purpose: 'llm_response' },
    ],
    [
      'event_purpose of a text',
      { event_purpose: 'generic_text_update' },
      update({ text: 'a' }),
      { event_purpose: 'x' },
    ],
    ['final_flag', { final_flag: false }, progress, { final_flag: true }],
    [
      'text_exact',
      text({ text_exact: 'ab' }),
      update({ text: 'a' }, { text: 'b' }),
      text({ text_exact: 'a' }),
    ],
    ['text_exact of progress', text({ text_exact: 'Half way' }), progress, text({ text_exact: 'Half' })],
    ['text_contains', text({ text_contains: 'way' }), progress, text({ text_contains: 'day' })],
    [
      'eval_math',
      text({ text_contains: 'is eval_math:[6 * 7]' }),
      update({ text: 'It is 42.' }),
      text({ text_contains: 'is eval_math:[6 * 8]' }),
    ],
    [
      'text_matches_regex',
      text({ text_matches_regex: '^Half' }),
      progress,
      text({ text_matches_regex: '^way' }),
    ],
    ['text_not_contains', text({ text_not_contains: 'day' }), progress, text({ text_not_contains: 'way' })],
    [
      'data_contains',
      { content_parts: [{ type: 'data', data_contains: { status_text_contains: 'Half' } }] },
      progress,
      { content_parts: [{ type: 'data', data_contains: { status_text: 'Half' } }] },
    ],
    ['expected_tool_name', { expected_tool_name: 'add' }, tool, { expected_tool_name: 'sub' }],
    [
      'expected_tool_args_contain',
      { expected_tool_args_contain: { a: 1 } },
      tool,
      { expected_tool_args_contain: { a: 2 } },
    ],
    [
      'expected_llm_data_contains',
      { expected_llm_data_contains: { model: 'm' } },
      update({ data: { type: 'llm_invocation', request: { model: 'm', n: 1 } } }),
      { expected_llm_data_contains: { model: 'n' } },
    ],
    [
      'expected_artifact_saved_data_contains',
      { expected_artifact_saved_data_contains: { filename: 'a' } },
      update({ data: { type: 'artifact_saved', filename: 'a' } }),
      { expected_artifact_saved_data_contains: { filename: 'b' } },
    ],
    [
      'expected_artifact_name_contains',
      { type: 'artifact_update', expected_artifact_name_contains: 'report' },
      file({ raw: 'eA==' }),
      { type: 'artifact_update', expected_artifact_name_contains: 'repair' },
    ],
    [
      'assert_part_is_uri_reference',
      { type: 'artifact_update', assert_part_is_uri_reference: true },
      file({ url: 'artifact://X/alice/c/report.csv?version=0' }),
      { type: 'artifact_update', assert_part_is_uri_reference: false },
    ],
    [
      'assert_part_is_uri_reference of bytes',
      { type: 'artifact_update', assert_part_is_uri_reference: false },
      file({ raw: 'eA==' }),
      { type: 'artifact_update', assert_part_is_uri_reference: true },
    ],
    [
      'task_state',
      { type: 'final_response', task_state: 'completed' },
      task(),
      { type: 'final_response', task_state: 'failed' },
    ],
    [
      'content_parts of a task',
      { type: 'final_response', ...text({ text_exact: 'Done.' }) },
      task(),
      { type: 'final_response', ...text({ text_exact: 'Done' }) },
    ],
    [
      'expected_produced_artifacts',
      { type: 'final_response', expected_produced_artifacts: [{ filename: 'a.txt', version: 0 }] },
      task(),
      { type: 'final_response', expected_produced_artifacts: [] },
    ],
    [
      'metadata_contains',
      { type: 'final_response', metadata_contains: { agent_name: 'X' } },
      task(),
      { type: 'final_response', metadata_contains: { agent_name: 'Y' } },
    ],
    ['error_code', { type: 'error', error_code: -32603 }, failure, { type: 'error', error_code: -32600 }],
    [
      'error_message_contains',
      { type: 'error', error_message_contains: '503' },
      failure,
      { type: 'error', error_message_contains: '500' },
    ],
    [
      'error_message_matches_regex',
      { type: 'error', error_message_matches_regex: 'http \\d+$' },
      failure,
      { type: 'error', error_message_matches_regex: '^http' },
    ],
    [
      'error_data_contains',
      { type: 'error', error_data_contains: { agent: { name: 'X' } } },
      failure,
      { type: 'error', error_data_contains: { agent: { name: 'Y' } } },
    ],
    ['type', { type: 'error' }, failure, { type: 'final_response' }],
  ])('checks %s', (_name, matching, event, differing) => {
    expect(mismatchPaths([{ type: 'status_update', ...matching }], [event])).toEqual([]);
    expect(mismatchPaths([{ type: 'status_update', ...differing }], [event])).not.toEqual([]);
  });

  it('aggregates consecutive texts with assert_aggregated_stream_content', () => {
    const events = [update({ text: 'Hello' }), update({ text: ', ' }), update({ text: 'you' }), task()];
    const all = { type: 'status_update', assert_aggregated_stream_content: true };
    const end = { type: 'final_response' };
    expect(mismatchPaths([{ ...all, ...text({ text_exact: 'Hello, you' }) }, end], events)).toEqual([]);
    expect(mismatchPaths([{ ...all, ...text({ text_exact: 'Hello' }) }, end], events)).toEqual([
      'out[0].content_parts[0].text_exact',
    ]);
  });

  it('compares the streamed text with assert_content_against_stream', () => {
    const events = [update({ text: 'Hel' }), update({ text: 'lo' }), task()];
    const end = { type: 'final_response', assert_content_against_stream: true };
    const skip = { skip_intermediate_events: true };
    expect(mismatchPaths([{ ...end, ...text({ text_exact: 'Hello' }) }], events, skip)).toEqual([]);
    expect(mismatchPaths([{ ...end, ...text({ text_exact: 'Done.' }) }], events, skip)).not.toEqual([]);
  });
});

describe('event order', () => {
  const wants = (what: string) => ({ type: 'status_update', ...text({ text_exact: what }) });
  const came = [update({ text: 'one' }), update({ text: 'two' }), task()];

  it('requires the exact order of events by default', () => {
    expect(mismatchPaths([wants('one'), wants('two'), { type: 'final_response' }], came)).toEqual([]);
    expect(mismatchPaths([wants('two'), wants('one'), { type: 'final_response' }], came)).toEqual([
      'out[0].content_parts[0].text_exact',
    ]);
    expect(mismatchPaths([wants('one'), { type: 'final_response' }], came)).toEqual(['out[1].type']);
    expect(mismatchPaths([wants('one'), wants('two')], came)).toEqual(['out']);
    expect(mismatchPaths([], came)).toEqual(['out', 'out', 'out']);
    expect(mismatchPaths([wants('one'), wants('two'), { type: 'final_response' }, wants('x')], came)).toEqual(
      ['out[3]'],
    );
  });

  it('allows other events with skip_intermediate_events', () => {
    const skip = { skip_intermediate_events: true };
    expect(mismatchPaths([wants('two'), { type: 'final_response' }], came, skip)).toEqual([]);
    expect(mismatchPaths([{ type: 'final_response' }], came, skip)).toEqual([]);
    expect(mismatchPaths([wants('two'), wants('one')], came, skip)).not.toEqual([]);
    // The difference refers to the first event of that kind, not to the first event.
    expect(mismatchPaths([{ type: 'final_response', task_state: 'failed' }], came, skip)).toEqual([
      'out[0].task_state',
    ]);
  });
});

describe('fileMismatches', () => {
  async function filesOfAlice() {
    const store = memoryArtifactStore();
    const scope = { app: 'ns', user: 'alice', session: 's1' };
    for (const content of ['first', 'second']) {
      await store.save({ ...scope, filename: 'a.txt' }, Buffer.from(content), 'text/plain');
      const about = JSON.stringify({ description: `the ${content}`, schema: { structure: { x: 1, y: 1 } } });
      await store.save({ ...scope, filename: 'a.txt.metadata.json' }, Buffer.from(about), 'application/json');
    }
    await store.save({ ...scope, filename: 'user:b.txt' }, Buffer.from('shared'), 'text/plain');
    return { store, app: 'ns' };
  }

  const input = {
    target_agent_name: 'X',
    user_identity: 'alice',
    parts: [{ text: 'hi' }],
    external_context: { a2a_session_id: 's1' },
  };
  const fileMismatchPaths = async (words: object) =>
    (await fileMismatches(scenarioWith({ gateway_input: input, ...words }), await filesOfAlice())).map(
      ({ path, problem }) => `${path}: ${problem}`,
    );

  it.each<[string, object, object]>([
    ['version', { version: 1, text_exact: 'second' }, { version: 2 }],
    [
      'version latest',
      { version: 'latest', text_exact: 'second' },
      { version: 'latest', text_exact: 'first' },
    ],
    ['no version', { text_exact: 'second' }, { text_exact: 'first' }],
    ['mime_type', { mime_type: 'text/plain' }, { mime_type: 'text/csv' }],
    ['content_contains', { content_contains: 'eco' }, { content_contains: 'eko' }],
    ['content_base64_exact', { content_base64_exact: 'c2Vjb25k' }, { content_base64_exact: 'c2Vjb25K' }],
    [
      'metadata_contains',
      { metadata_contains: { description: 'the second' } },
      { metadata_contains: { description: 'the first' } },
    ],
  ])('checks %s', async (_name, matching, differing) => {
    const named = { filename: 'a.txt' };
    expect(await fileMismatchPaths({ expected_artifacts: [{ ...named, ...matching }] })).toEqual([]);
    expect(await fileMismatchPaths({ expected_artifacts: [{ ...named, ...differing }] })).toHaveLength(1);
  });

  it('finds a file by filename_matches_regex, which must match exactly one', async () => {
    const named = (source: string) => ({ expected_artifacts: [{ filename_matches_regex: source }] });
    expect(await fileMismatchPaths(named('^a\\.'))).toEqual([]);
    expect(await fileMismatchPaths(named('^z'))).toHaveLength(1);
    expect(await fileMismatchPaths(named('txt$'))).toEqual([
      'expected_artifacts[0].filename_matches_regex: 2 files match, expected exactly one',
    ]);
  });

  it.each<[string, object, object]>([
    ['expected_content_text', { expected_content_text: 'first' }, { expected_content_text: 'second' }],
    [
      'expected_content_bytes_base64',
      { expected_content_bytes_base64: 'Zmlyc3Q=' },
      { expected_content_bytes_base64: 'c2Vjb25k' },
    ],
    [
      'expected_metadata_contains, of the same version',
      { expected_metadata_contains: { description: 'the first' } },
      { expected_metadata_contains: { description: 'the second' } },
    ],
    [
      'assert_metadata_schema_key_count',
      { assert_metadata_schema_key_count: 2 },
      { assert_metadata_schema_key_count: 3 },
    ],
    ['user_id', { user_id: 'alice' }, { user_id: 'bob' }],
    ['session_id', { session_id: 's1' }, { session_id: 's2' }],
    ['namespace', { filename: 'b.txt', namespace: 'user' }, { namespace: 'user' }],
  ])('checks assert_artifact_state by %s', async (_name, matching, differing) => {
    const expected = (state: object) => ({
      expected_gateway_output: [
        { type: 'final_response', assert_artifact_state: [{ filename: 'a.txt', version: 0, ...state }] },
      ],
    });
    expect(await fileMismatchPaths(expected(matching))).toEqual([]);
    expect(await fileMismatchPaths(expected(differing))).toHaveLength(1);
  });

  it('counts versions from first_version', async () => {
    const expected = (version: number) => ({
      first_version: 1,
      expected_artifacts: [{ filename: 'a.txt', version, text_exact: 'first' }],
    });
    expect(await fileMismatchPaths(expected(1))).toEqual([]);
    expect(await fileMismatchPaths(expected(0))).toEqual(['expected_artifacts[0]: version not found']);
  });

  it('lists the existing files if the expected one is missing', async () => {
    const scenario = scenarioWith({ gateway_input: input, expected_artifacts: [{ filename: 'z' }] });
    expect(await fileMismatches(scenario, await filesOfAlice())).toEqual([
      {
        path: 'expected_artifacts[0]',
        problem: 'file not found',
        expected: { filename: 'z', version: 'latest' },
        actual: { files: ['a.txt', 'a.txt.metadata.json', 'user:b.txt'] },
      },
    ]);
  });
});

describe('requestMismatches', () => {
  const body = { method: 'message/send' };
  const post = { at: 0, path: '/a2a', authorization: undefined, apiKey: undefined, body };
  const seen: ScenarioCapture = {
    events: [],
    requests: [
      // Rejected before its body was read.
      { ...post, authorization: 'Bearer old', body: undefined },
      { ...post, authorization: 'Bearer new' },
      { ...post, apiKey: 'key' },
    ],
    tokenRequests: [{ at: 0, url: 'https://a/token', body: 'grant_type=client_credentials&client_id=x' }],
    cancellation: { sent: true, received: ['t1'] },
    files: undefined,
  };
  const token = { token_url: 'https://a/token' };

  it.each<[string, object, object]>([
    [
      'assert_downstream_request',
      { assert_downstream_request: [{ method: 'message/send' }] },
      { assert_downstream_request: [{ method: 'message/stream' }] },
    ],
    [
      'the number of assert_downstream_request',
      { assert_downstream_request: [{}, {}] },
      { assert_downstream_request: [{}, {}, {}] },
    ],
    [
      'authorization_header.exact',
      { assert_downstream_auth: [{ request_index: 1, authorization_header: { exact: 'Bearer new' } }] },
      { assert_downstream_auth: [{ request_index: 0, authorization_header: { exact: 'Bearer new' } }] },
    ],
    [
      'authorization_header.exact of nothing',
      { assert_downstream_auth: [{ request_index: 2, authorization_header: { exact: '' } }] },
      { assert_downstream_auth: [{ request_index: 1, authorization_header: { exact: '' } }] },
    ],
    [
      'authorization_header.starts_with',
      { assert_downstream_auth: [{ authorization_header: { starts_with: 'Bearer' } }] },
      { assert_downstream_auth: [{ authorization_header: { starts_with: 'Basic' } }] },
    ],
    [
      'authorization_header.contains',
      { assert_downstream_auth: [{ authorization_header: { contains: 'old' } }] },
      { assert_downstream_auth: [{ authorization_header: { contains: 'new' } }] },
    ],
    [
      'api_key_header',
      { assert_downstream_auth: [{ request_index: 2, api_key_header: { exact: 'key' } }] },
      { assert_downstream_auth: [{ request_index: 2, api_key_header: { exact: 'kez' } }] },
    ],
    [
      'request_index',
      { assert_downstream_auth: [{ request_index: 2 }] },
      { assert_downstream_auth: [{ request_index: 3 }] },
    ],
    [
      'call_count',
      { assert_oauth_token_requests: [{ ...token, call_count: 1 }] },
      { assert_oauth_token_requests: [{ ...token, call_count: 2 }] },
    ],
    [
      'token_url',
      { assert_oauth_token_requests: [{ token_url: 'https://b/token', call_count: 0 }] },
      { assert_oauth_token_requests: [{ token_url: 'https://b/token', call_count: 1 }] },
    ],
    [
      'request_body_contains',
      { assert_oauth_token_requests: [{ ...token, request_body_contains: { client_id: 'x' } }] },
      { assert_oauth_token_requests: [{ ...token, request_body_contains: { client_id: 'y' } }] },
    ],
    [
      'gateway_sent',
      { assert_cancellation_sent: { gateway_sent: true } },
      { assert_cancellation_sent: { gateway_sent: false } },
    ],
    [
      'downstream_received',
      { assert_cancellation_sent: { downstream_received: true } },
      { assert_cancellation_sent: { downstream_received: false } },
    ],
    [
      'downstream_task_id',
      { assert_cancellation_sent: { downstream_task_id: 't1' } },
      { assert_cancellation_sent: { downstream_task_id: 't2' } },
    ],
  ])('checks %s', (_name, matching, differing) => {
    expect(requestMismatches(scenarioWith(matching), seen)).toEqual([]);
    expect(requestMismatches(scenarioWith(differing), seen)).toHaveLength(1);
  });
});
