import * as z from 'zod';
import { authenticationSchema } from '../../../gateway/config/proxied-agent-schema.ts';
import { scriptSchema } from '../../script/schema/script-schema.ts';

const ours = new WeakSet<z.ZodType>();

/** A word that only our own files have: files for other runners may have it and mean nothing, or something else. */
function own<Type extends z.ZodType>(type: Type): Type {
  ours.add(type);
  return type;
}

/** Tells whether a word is one of ours. */
export function isDragomanKey(type: z.ZodType): boolean {
  return ours.has(type);
}

/** A way to prove who one is for which a person has to log in. */
export const interactiveAuthType = 'oauth2_authorization_code';

const anything = z.unknown();
const mapping = z.record(z.string(), anything);
const textOrTexts = z.union([z.string(), z.array(z.string())]);
const versionOrLatest = z.union([z.int().min(0), z.literal('latest')]);

const part = z.union([
  z.strictObject({ type: z.literal('text').optional(), text: z.string(), metadata: mapping.optional() }),
  z.strictObject({
    type: z.literal('file'),
    bytes_base64: z.base64().optional(),
    uri: z.string().optional(),
    name: z.string().optional(),
    mime_type: z.string().optional(),
    metadata: mapping.optional(),
  }),
  z.strictObject({ type: z.literal('data'), data: anything, metadata: mapping.optional() }),
]);

const gatewayInput = z.strictObject({
  target_agent_name: z.string().min(1),
  user_identity: z.string().default('default_test_user@example.com'),
  a2a_parts: z.array(part).optional(),
  parts: z.array(part).optional(),
  prompt: own(z.strictObject({ parts: z.array(part) }).optional()),
  external_context: z.strictObject({ a2a_session_id: z.string().optional() }).optional(),
  is_streaming: z.boolean().default(true),
  invoked_with_artifacts: z
    .array(z.strictObject({ filename: z.string(), version: z.int().optional() }))
    .optional(),
  test_event_id: z.string().optional(),
});

const setupArtifact = z.strictObject({
  filename: z.string(),
  mime_type: z.string().default('application/octet-stream'),
  content: z.string().optional(),
  content_base64: z.base64().optional(),
  metadata: mapping.optional(),
  app_name: z.string().optional(),
});

const contentPart = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('text'),
    text_contains: textOrTexts.optional(),
    text_exact: z.string().optional(),
    text_matches_regex: z.string().optional(),
    text_not_contains: textOrTexts.optional(),
  }),
  z.strictObject({ type: z.literal('data'), data_contains: mapping.optional() }),
]);

const artifactState = z.strictObject({
  filename: z.string().optional(),
  filename_matches_regex: z.string().optional(),
  version: versionOrLatest,
  user_id: z.string().optional(),
  session_id: z.string().optional(),
  namespace: z.literal('user').optional(),
  expected_content_text: z.string().optional(),
  expected_content_bytes_base64: z.string().optional(),
  expected_metadata_contains: mapping.optional(),
  assert_metadata_schema_key_count: z.int().optional(),
});

const states = { assert_artifact_state: z.array(artifactState).optional() };

const expectedOutput = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('status_update'),
    event_purpose: z.string().optional(),
    content_parts: z.array(contentPart).optional(),
    final_flag: z.boolean().optional(),
    assert_aggregated_stream_content: z.boolean().optional(),
    expected_tool_name: z.string().optional(),
    expected_tool_args_contain: mapping.optional(),
    expected_llm_data_contains: mapping.optional(),
    expected_artifact_saved_data_contains: mapping.optional(),
    ...states,
  }),
  z.strictObject({
    type: z.literal('artifact_update'),
    expected_artifact_name_contains: z.string().optional(),
    content_parts: own(z.array(contentPart).optional()),
    assert_part_is_uri_reference: own(z.boolean().optional()),
    ...states,
  }),
  z.strictObject({
    type: z.literal('final_response'),
    task_state: z.string().optional(),
    content_parts: z.array(contentPart).optional(),
    assert_content_against_stream: z.boolean().optional(),
    expected_produced_artifacts: z
      .array(z.strictObject({ filename: z.string(), version: z.int().min(0).optional() }))
      .optional(),
    metadata_contains: mapping.optional(),
    expected_task_artifacts: own(
      z
        .array(
          z.strictObject({ name: z.string().optional(), content_parts: z.array(contentPart).optional() }),
        )
        .optional(),
    ),
    ...states,
  }),
  z.strictObject({
    type: z.literal('error'),
    error_code: z.int().optional(),
    error_message_contains: z.string().optional(),
    error_message_matches_regex: z.string().optional(),
    error_data_contains: mapping.optional(),
    ...states,
  }),
]);

const expectedArtifact = z.strictObject({
  filename: z.string().optional(),
  filename_matches_regex: z.string().optional(),
  version: versionOrLatest.optional(),
  mime_type: z.string().optional(),
  content_contains: textOrTexts.optional(),
  text_exact: z.string().optional(),
  content_base64_exact: z.string().optional(),
  metadata_contains: mapping.optional(),
});

const tokenAnswer = {
  access_token: z.string().optional(),
  expires_in: z.number().optional(),
  error: z.string().optional(),
  status_code: z.int().optional(),
};

const expectedHeader = z.strictObject({
  exact: z.string().optional(),
  starts_with: z.string().optional(),
  contains: z.string().optional(),
});

/** How the proxy proves who it is; for one of the ways a person has to be there. */
const proof = z.union([authenticationSchema, z.looseObject({ type: z.literal(interactiveAuthType) })]);

const spoken = z.strictObject({
  version: z.enum(['0.1', '0.2', '0.3', '1.0']).optional(),
  transport: z.enum(['JSONRPC', 'HTTP+JSON']).optional(),
});

/** One case of a scenario file. */
export const scenarioCaseSchema = z.strictObject({
  test_case_id: z.string().min(1).describe('The name of the case, unique among those of a run.'),
  description: z.string().optional(),
  tags: z.array(z.string()).default([]),
  skip_intermediate_events: z
    .boolean()
    .default(false)
    .describe('Lets events pass that nothing expects; otherwise all must be expected, in order.'),
  expected_completion_timeout_seconds: z.number().positive().default(10),
  gateway_input: gatewayInput.optional().describe('What the caller sends.'),
  setup_artifacts: z.array(setupArtifact).default([]).describe('Files that are there before.'),
  downstream_a2a_agent_responses: z
    .array(mapping)
    .default([])
    .describe('What the test agent plays: to the first final event for each request.'),
  downstream_agent_auth: z
    .strictObject({
      enabled: z.boolean().default(true),
      type: z.enum(['bearer', 'apikey']).default('bearer'),
      expected_value: z.string().default(''),
      should_fail_once: z.boolean().default(false),
    })
    .optional(),
  downstream_http_error: z.strictObject({ status_code: z.int(), error_body: anything.optional() }).optional(),
  mock_oauth_server: z
    .strictObject({
      token_url: z.string(),
      ...tokenAnswer,
      response_sequence: z.array(z.strictObject(tokenAnswer)).optional(),
    })
    .optional(),
  proxy_auth_config: z.strictObject({ agent_name: z.string(), authentication: proof }).optional(),
  proxy_config_override: z.strictObject({ agent_name: z.string(), url: z.string() }).optional(),
  gateway_actions_after_input: z
    .array(z.strictObject({ type: z.literal('cancel_task'), delay_seconds: z.number().min(0).default(0.1) }))
    .default([]),
  expected_gateway_output: z.array(expectedOutput).default([]),
  expected_artifacts: z.array(expectedArtifact).default([]),
  assert_downstream_request: z.array(mapping).default([]),
  assert_downstream_auth: z
    .array(
      z.strictObject({
        request_index: z.int().min(0).default(0),
        authorization_header: expectedHeader.optional(),
        api_key_header: expectedHeader.optional(),
      }),
    )
    .default([]),
  assert_oauth_token_requests: z
    .array(
      z.strictObject({
        token_url: z.string(),
        call_count: z.int().min(0).optional(),
        request_body_contains: z.record(z.string(), z.string()).optional(),
      }),
    )
    .default([]),
  assert_cancellation_sent: z
    .strictObject({
      gateway_sent: z.boolean().optional(),
      downstream_received: z.boolean().optional(),
      downstream_task_id: z.string().optional(),
    })
    .optional(),
  // What only the runner of another product can do; a case with any of it is skipped.
  llm_interactions: z.array(anything).optional(),
  http_request_input: anything.optional(),
  expected_http_responses: anything.optional(),
  setup_tasks: anything.optional(),
  setup_projects: anything.optional(),
  monkeypatch_spec: anything.optional(),
  primed_image_generation_responses: anything.optional(),
  test_runner_config_overrides: anything.optional(),
  // Ours.
  gateway: own(
    z.enum(['mesh', 'http', 'direct']).optional().describe('What stands between the caller and the agent.'),
  ),
  caller: own(spoken.optional().describe('What the caller speaks.')),
  downstream: own(spoken.optional().describe('What the test agent is spoken to in.')),
  downstream_script: own(
    scriptSchema
      .optional()
      .describe('What the test agent does, as in a script file, instead of primed responses.'),
  ),
  versions_from: own(
    z
      .union([z.literal(0), z.literal(1)])
      .optional()
      .describe('What the first version of a file is called here. Default 0, or 1 with prompt.'),
  ),
  convert_progress_updates: own(
    z
      .boolean()
      .optional()
      .describe('Whether words on the way become data. Default as the target, or false with prompt.'),
  ),
});

/** A scenario file: one case, or a list of them. */
export const scenarioFileSchema = z.union([scenarioCaseSchema, z.array(scenarioCaseSchema).min(1)]);

/** The JSON Schema of scenario files. */
export function scenarioJsonSchema(): { readonly [keyword: string]: unknown } {
  return z.toJSONSchema(scenarioFileSchema, { io: 'input', reused: 'ref' });
}

/** One case as it stands in a file, with defaults filled in. */
export type ScenarioCase = z.output<typeof scenarioCaseSchema>;

/** A part that the caller sends. */
export type ScenarioPart = z.output<typeof part>;

/** One expectation of what comes out. */
export type ExpectedOutput = z.output<typeof expectedOutput>;

/** One expectation of a text or of data. */
export type ExpectedPartContent = z.output<typeof contentPart>;

/** One expectation of a file, with the event that it belongs to. */
export type ExpectedArtifactState = z.output<typeof artifactState>;

/** One expectation of a file at the end. */
export type ExpectedArtifact = z.output<typeof expectedArtifact>;

/** What a token endpoint answers. */
export type TokenResponses = NonNullable<ScenarioCase['mock_oauth_server']>;
