import { describe, expect, it } from 'vitest';
import {
  completedTask,
  expectCompleted,
  expectPassed,
  oauthCase,
  failingPaths,
  runCase,
  agentMessageWith,
  tokenUrl,
  workingUpdate,
} from '../../support/testkit/scenario-case.ts';

describe('keys of a scenario case (mesh harness)', () => {
  it('parts are sent to the agent after the timestamp part', async () => {
    const parts = [
      { type: 'text', text: 'look', metadata: { a: 1 } },
      { type: 'data', data: { b: 2 } },
      { type: 'file', uri: 'https://example.com/f.txt', name: 'f.txt', mime_type: 'text/plain' },
    ];
    const expected = {
      method: 'message/stream',
      params: {
        message: {
          contextId_matches_regex: 'session-case-\\d+',
          metadata: { agent_name: 'TestAgent_Proxied' },
          parts: [
            { text_matches_regex: 'Request received by gateway at: \\d{4}-.*' },
            { kind: 'text', text: 'look', metadata: { a: 1 } },
            { kind: 'data', data: { b: 2 } },
            { kind: 'file', file: { uri: 'https://example.com/f.txt', name: 'f.txt' } },
          ],
        },
      },
    };
    await expectPassed({ input: { a2a_parts: parts }, assert_downstream_request: [expected] });
    expect(await failingPaths({ assert_downstream_request: [expected] })).toContain(
      'assert_downstream_request[0].params.message.parts[1].text',
    );
  });

  it('sent bytes are stored and sent to the agent as bytes', async () => {
    const parts = [{ type: 'file', bytes_base64: 'YWJj', name: 'a.txt', mime_type: 'text/plain' }];
    const stored = {
      filename: 'a.txt',
      version: 0,
      text_exact: 'abc',
      metadata_contains: { tags: ['__user_uploaded'] },
    };
    const expectedRequest = {
      params: { message: { parts: [{}, { file: { bytes: 'YWJj', name: 'a.txt' } }] } },
    };
    const words = {
      input: { parts },
      expected_artifacts: [stored],
      assert_downstream_request: [expectedRequest],
    };
    await expectPassed(words);
    expect(await failingPaths({ ...words, expected_artifacts: [{ ...stored, text_exact: 'abd' }] })).toEqual([
      'expected_artifacts[0].text_exact',
    ]);
  });

  it('setup_artifacts creates files, invoked_with_artifacts attaches them', async () => {
    const words = {
      setup_artifacts: [
        { filename: 'in.txt', mime_type: 'text/plain', content: 'abc', metadata: { description: 'mine' } },
        { filename: 'in.bin', content_base64: 'AAEC' },
      ],
      input: { invoked_with_artifacts: [{ filename: 'in.txt' }] },
      expected_artifacts: [
        {
          filename: 'in.txt',
          version: 0,
          mime_type: 'text/plain',
          metadata_contains: { description: 'mine' },
        },
        { filename: 'in.bin', mime_type: 'application/octet-stream', content_base64_exact: 'AAEC' },
      ],
      assert_downstream_request: [{ params: { message: { parts: [{}, {}, { file: { bytes: 'YWJj' } }] } } }],
    };
    await expectPassed(words);
    expect(await failingPaths({ ...words, setup_artifacts: words.setup_artifacts.slice(1) })).toContain(
      'expected_artifacts[0]',
    );
  });

  it('is_streaming: false uses send', async () => {
    const words = { input: { is_streaming: false }, assert_downstream_request: [{ method: 'message/send' }] };
    await expectPassed(words);
    expect(await failingPaths({ ...words, input: {} })).toEqual(['assert_downstream_request[0].method']);
  });

  it('downstream_a2a_agent_responses are played up to the first final event', async () => {
    const responses = [
      workingUpdate('one'),
      workingUpdate('two'),
      completedTask('Done.'),
      completedTask('never'),
    ];
    const progress = (text: string) => ({
      type: 'status_update',
      event_purpose: 'agent_progress_update',
      final_flag: false,
      content_parts: [{ type: 'text', text_exact: text }],
    });
    const words = { downstream_a2a_agent_responses: responses };
    await expectPassed({
      ...words,
      expected_gateway_output: [progress('one'), progress('two'), expectCompleted('Done.')],
    });
    expect(
      await failingPaths({ ...words, expected_gateway_output: [progress('two'), expectCompleted('Done.')] }),
    ).toEqual(['expected_gateway_output[0].content_parts[0].text_exact']);
    await expectPassed({
      ...words,
      skip_intermediate_events: true,
      expected_gateway_output: [progress('two'), expectCompleted('Done.')],
    });
  });

  it('convert_progress_updates: false, and its special target name, keep status texts', async () => {
    const words = {
      downstream_a2a_agent_responses: [workingUpdate('one'), workingUpdate(' two'), completedTask('Done.')],
      expected_gateway_output: [
        {
          type: 'status_update',
          event_purpose: 'generic_text_update',
          assert_aggregated_stream_content: true,
          content_parts: [{ type: 'text', text_exact: 'one two' }],
        },
        { ...expectCompleted('one two'), assert_content_against_stream: true },
      ],
    };
    await expectPassed({ ...words, convert_progress_updates: false });
    await expectPassed({ ...words, input: { target_agent_name: 'TestAgent_Proxied_NoConvert' } });
    expect(await failingPaths(words)).toContain('expected_gateway_output[0].event_purpose');
  });

  it('files of the agent are stored and listed in the response', async () => {
    const file = { kind: 'file', file: { name: 'r.csv', mime_type: 'text/csv', bytes: 'YSxi' } };
    const artifacts = [{ artifact_id: 'x', name: 'r.csv', description: 'rows', parts: [file] }];
    const state = { filename_matches_regex: '^r', version: 0, expected_content_text: 'a,b' };
    const words = (produced: object[]) => ({
      downstream_a2a_agent_responses: [completedTask('Done.', { artifacts })],
      expected_gateway_output: [
        {
          ...expectCompleted('Done.'),
          expected_produced_artifacts: produced,
          metadata_contains: { agent_name: 'TestAgent_Proxied' },
          assert_artifact_state: [
            { ...state, expected_metadata_contains: { proxied_from_artifact_id: 'x' } },
          ],
        },
      ],
    });
    await expectPassed(words([{ filename: 'r.csv', version: 0 }]));
    expect(await failingPaths(words([{ filename: 'r.csv', version: 1 }]))).toContain(
      'expected_gateway_output[0].expected_produced_artifacts[0]',
    );
  });

  it('downstream_agent_auth accepts the credentials of proxy_auth_config', async () => {
    const words = {
      downstream_agent_auth: { type: 'apikey', expected_value: 'key' },
      proxy_auth_config: {
        agent_name: 'TestAgent_Proxied',
        authentication: { type: 'static_apikey', token: 'key' },
      },
      assert_downstream_auth: [
        { request_index: 0, api_key_header: { exact: 'key' }, authorization_header: { exact: '' } },
      ],
    };
    await expectPassed(words);
    expect(await failingPaths({ ...words, proxy_auth_config: undefined })).toContain(
      'expected_gateway_output[0].type',
    );
  });

  it('should_fail_once and mock_oauth_server cause a second token request', async () => {
    const sequence = [{ access_token: 'first' }, { access_token: 'second' }];
    const words = {
      ...oauthCase,
      mock_oauth_server: { token_url: tokenUrl, response_sequence: sequence },
      downstream_agent_auth: { expected_value: 'second', should_fail_once: true },
      assert_oauth_token_requests: [
        {
          token_url: tokenUrl,
          call_count: 2,
          request_body_contains: { grant_type: 'client_credentials', client_id: 'me', client_secret: 'hush' },
        },
      ],
      assert_downstream_auth: [
        { request_index: 0, authorization_header: { exact: 'Bearer first' } },
        { request_index: 1, authorization_header: { exact: 'Bearer second' } },
      ],
    };
    await expectPassed(words);
    expect(
      await failingPaths({ ...words, assert_oauth_token_requests: [{ token_url: tokenUrl, call_count: 1 }] }),
    ).toEqual(['assert_oauth_token_requests[0].call_count']);
  });

  it('an error of the token endpoint is reported with its status', async () => {
    const words = (status: string) => ({
      ...oauthCase,
      mock_oauth_server: { token_url: tokenUrl, error: 'invalid_client', status_code: 401 },
      assert_oauth_token_requests: [{ token_url: tokenUrl, call_count: 1 }],
      expected_gateway_output: [{ type: 'error', error_code: -32603, error_message_contains: status }],
    });
    await expectPassed(words('401'));
    expect(await failingPaths(words('403'))).toEqual(['expected_gateway_output[0].error_message_contains']);
  });

  it('downstream_http_error is reported with its status', async () => {
    const words = (status: number) => ({
      downstream_http_error: { status_code: status, error_body: { error: 'no' } },
      expected_gateway_output: [
        {
          type: 'error',
          error_code: -32603,
          error_message_matches_regex: 'http 500',
          error_data_contains: { agent_name: 'TestAgent_Proxied' },
        },
      ],
    });
    await expectPassed(words(500));
    expect(await failingPaths(words(501))).toEqual([
      'expected_gateway_output[0].error_message_matches_regex',
    ]);
  });

  it('proxy_config_override changes the upstream URL', async () => {
    // No process listens on the discard port.
    const override = { agent_name: 'TestAgent_Proxied', url: 'http://127.0.0.1:9' };
    const words = {
      proxy_config_override: override,
      expected_gateway_output: [{ type: 'error', error_code: -32603 }],
    };
    await expectPassed(words);
    expect(
      await failingPaths({ ...words, proxy_config_override: { ...override, agent_name: 'Another' } }),
    ).toEqual(['expected_gateway_output[0].type']);
  });

  it('gateway_actions_after_input cancels the task at the agent', async () => {
    const words = {
      downstream_script: { rules: [{ then: [{ say: 'Wait' }, { wait: '1h' }, { complete: 'late' }] }] },
      skip_intermediate_events: true,
      gateway_actions_after_input: [{ type: 'cancel_task', delay_seconds: 0.2 }],
      assert_cancellation_sent: { gateway_sent: true, downstream_received: true },
      expected_gateway_output: [{ type: 'final_response', task_state: 'canceled' }],
    };
    await expectPassed(words);
    expect(await failingPaths({ ...words, assert_cancellation_sent: { gateway_sent: false } })).toEqual([
      'assert_cancellation_sent.gateway_sent',
    ]);
  });

  it('expected_completion_timeout_seconds fails the case with a message', async () => {
    const result = await runCase({
      downstream_script: { rules: [{ then: [{ say: 'Wait' }, { wait: '1h' }] }] },
      expected_completion_timeout_seconds: 0.3,
    });
    expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('0.3 s') as string });
  });

  it('an incomplete stream is reported once', async () => {
    const text = 'disconnected without completing the task';
    await expectPassed({
      downstream_a2a_agent_responses: [
        { kind: 'task', status: { state: 'working', message: agentMessageWith('Wait') } },
      ],
      expected_gateway_output: [{ type: 'error', error_code: -32603, error_message_contains: text }],
    });
  });

  it('an invalid scripted response fails the case and is named', async () => {
    const result = await runCase({ downstream_a2a_agent_responses: [{ kind: 'surprise' }] });
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('responses[0].kind') as string,
    });
  });

  it.each(['0.1', '0.3', '1.0'])('client.version %s is used by the client', async (version) => {
    await expectPassed({ client: { version }, skip_intermediate_events: true });
  });

  it.each([
    ['0.1', 'JSONRPC', { method: 'tasks/sendSubscribe' }],
    ['0.3', 'HTTP+JSON', { message: { role: 'ROLE_USER' } }],
    ['1.0', 'JSONRPC', { method: 'SendStreamingMessage' }],
  ])('downstream version %s over %s is used by the proxy', async (version, transport, expectedRequest) => {
    await expectPassed({
      downstream: { version, transport },
      skip_intermediate_events: true,
      assert_downstream_request: [expectedRequest],
    });
  });
});
