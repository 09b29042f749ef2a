import * as z from 'zod';
import { authenticationSchema, upstreamFields } from '../../../gateway/config/proxied-agent-schema.ts';
import { scriptSchema } from '../../script/schema/script-schema.ts';

const dragomanKeys = new WeakSet<z.ZodType>();

/** Marks a key that only Dragoman defines. The compatible mode ignores it. */
function dragomanKey<Type extends z.ZodType>(type: Type): Type {
  dragomanKeys.add(type);
  return type;
}

/** Returns true for keys that only Dragoman defines. */
export function isDragomanKey(type: z.ZodType): boolean {
  return dragomanKeys.has(type);
}

/** Authentication type that needs an interactive login. */
export const interactiveAuthType = 'oauth2_authorization_code';

const unknownValue = z.unknown();
const mapping = z.record(z.string(), unknownValue);
const stringOrStrings = z.union([z.string(), z.array(z.string())]);
const versionOrLatest = z.union([z.int().min(0), z.literal('latest')]);

/** Base64; encoders may have wrapped its lines. */
const base64 = z
  .string()
  .transform((text) => text.replaceAll(/\s/g, ''))
  .pipe(z.base64('must be base64 of the standard alphabet'));

const part = z.union([
  z.strictObject({ type: z.literal('text').optional(), text: z.string(), metadata: mapping.optional() }),
  z.strictObject({
    type: z.literal('file'),
    bytes_base64: base64.optional(),
    uri: z.string().optional(),
    name: z.string().optional(),
    mime_type: z.string().optional(),
    metadata: mapping.optional(),
  }),
  z.strictObject({ type: z.literal('data'), data: unknownValue, metadata: mapping.optional() }),
]);

const gatewayInput = z.strictObject({
  target_agent_name: z.string().min(1),
  user_identity: z.string().default('default_test_user@example.com'),
  a2a_parts: z.array(part).optional(),
  parts: z.array(part).optional(),
  prompt: dragomanKey(z.strictObject({ parts: z.array(part) }).optional()),
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
  content_base64: base64.optional(),
  metadata: mapping.optional(),
  app_name: z.string().optional(),
});

const contentPart = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('text'),
    text_contains: stringOrStrings.optional(),
    text_exact: z.string().optional(),
    text_matches_regex: z.string().optional(),
    text_not_contains: stringOrStrings.optional(),
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

const artifactStates = { assert_artifact_state: z.array(artifactState).optional() };

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
    ...artifactStates,
  }),
  z.strictObject({
    type: z.literal('artifact_update'),
    expected_artifact_name_contains: z.string().optional(),
    content_parts: dragomanKey(z.array(contentPart).optional()),
    assert_part_is_uri_reference: dragomanKey(z.boolean().optional()),
    ...artifactStates,
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
    expected_task_artifacts: dragomanKey(
      z
        .array(
          z.strictObject({ name: z.string().optional(), content_parts: z.array(contentPart).optional() }),
        )
        .optional(),
    ),
    ...artifactStates,
  }),
  z.strictObject({
    type: z.literal('error'),
    error_code: z.int().optional(),
    error_message_contains: z.string().optional(),
    error_message_matches_regex: z.string().optional(),
    error_data_contains: mapping.optional(),
    ...artifactStates,
  }),
]);

const expectedArtifact = z.strictObject({
  filename: z.string().optional(),
  filename_matches_regex: z.string().optional(),
  version: versionOrLatest.optional(),
  mime_type: z.string().optional(),
  content_contains: stringOrStrings.optional(),
  text_exact: z.string().optional(),
  content_base64_exact: z.string().optional(),
  metadata_contains: mapping.optional(),
});

const tokenResponse = {
  access_token: z.string().optional(),
  expires_in: z.number().optional(),
  error: z.union([z.string(), mapping]).optional().describe('Error code, or the whole body of the response.'),
  status_code: z.int().optional(),
};

const headerValue = z.strictObject({
  exact: z.string().optional(),
  starts_with: z.string().optional(),
  contains: z.string().optional(),
});

/** A text is the exact value. */
const expectedHeader = z.union([
  z.string().transform((exact): z.output<typeof headerValue> => ({ exact })),
  headerValue,
]);

/** Authentication of the proxy at the test agent. */
const authentication = z.union([
  authenticationSchema,
  z.looseObject({ type: z.literal(interactiveAuthType) }),
]);

const protocolSchema = z.strictObject({
  version: z.enum(['0.1', '0.2', '0.3', '1.0']).optional(),
  transport: z.enum(['JSONRPC', 'HTTP+JSON', 'GRPC']).optional(),
});

/** Schema of one case. */
export const scenarioCaseSchema = z.strictObject({
  test_case_id: z.string().min(1).describe('Id of the case, unique in a run.'),
  description: z.string().optional(),
  tags: z.array(z.string()).default([]),
  skip_intermediate_events: z
    .boolean()
    .default(false)
    .describe('Ignores events that are not expected; by default all events must be expected, in order.'),
  expected_completion_timeout_seconds: z.number().positive().default(10),
  gateway_input: gatewayInput.optional().describe('The request of the client.'),
  setup_artifacts: z.array(setupArtifact).default([]).describe('Files that exist before the case.'),
  downstream_a2a_agent_responses: z
    .array(mapping)
    .default([])
    .describe('Primed responses of the mock agent, up to the first final event per request.'),
  downstream_agent_auth: z
    .strictObject({
      enabled: z.boolean().default(true),
      type: z.enum(['bearer', 'apikey']).default('bearer'),
      expected_value: z.string().default(''),
      should_fail_once: z.boolean().default(false),
    })
    .optional(),
  downstream_http_error: z
    .strictObject({ status_code: z.int(), error_body: unknownValue.optional() })
    .optional(),
  mock_oauth_server: z
    .strictObject({
      token_url: z.string(),
      ...tokenResponse,
      response_sequence: z.array(z.strictObject(tokenResponse)).optional(),
    })
    .optional(),
  proxy_auth_config: z
    .strictObject({
      agent_name: z.string(),
      authentication: authentication.optional(),
      agent_card_headers: upstreamFields.agent_card_headers,
      task_headers: upstreamFields.task_headers,
      use_agent_card_url: upstreamFields.use_agent_card_url,
    })
    .optional(),
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
  // Keys that need the test runner of another product; cases with any of them are skipped.
  llm_interactions: z.array(unknownValue).optional(),
  http_request_input: unknownValue.optional(),
  expected_http_responses: unknownValue.optional(),
  setup_tasks: unknownValue.optional(),
  setup_projects: unknownValue.optional(),
  monkeypatch_spec: unknownValue.optional(),
  primed_image_generation_responses: unknownValue.optional(),
  test_runner_config_overrides: unknownValue.optional(),
  // Keys that only Dragoman defines.
  harness: dragomanKey(
    z.enum(['mesh', 'http', 'direct']).optional().describe('Connection between client and mock agent.'),
  ),
  client: dragomanKey(protocolSchema.optional().describe('Protocol of the client.')),
  downstream: dragomanKey(protocolSchema.optional().describe('Protocol between proxy and mock agent.')),
  downstream_script: dragomanKey(
    scriptSchema.optional().describe('Mock script that replaces the primed responses.'),
  ),
  first_version: dragomanKey(
    z
      .union([z.literal(0), z.literal(1)])
      .optional()
      .describe('Number of the first version of a file. Default 0, or 1 with prompt.'),
  ),
  convert_progress_updates: dragomanKey(
    z
      .boolean()
      .optional()
      .describe('Converts status texts to progress data. Default of the target agent, or false with prompt.'),
  ),
});

/** Schema of a scenario file: one case, or a list of cases. */
export const scenarioFileSchema = z.union([scenarioCaseSchema, z.array(scenarioCaseSchema).min(1)]);

/** Returns the JSON Schema of scenario files. */
export function scenarioJsonSchema(): { readonly [keyword: string]: unknown } {
  return z.toJSONSchema(scenarioFileSchema, { io: 'input', reused: 'ref' });
}

/** One case with defaults applied. */
export type ScenarioCase = z.output<typeof scenarioCaseSchema>;

/** A part of the request. */
export type ScenarioPart = z.output<typeof part>;

/** Expectation of one gateway event. */
export type ExpectedOutput = z.output<typeof expectedOutput>;

/** Expectation of text or data. */
export type ExpectedPartContent = z.output<typeof contentPart>;

/** Expectation of a file, attached to an event. */
export type ExpectedArtifactState = z.output<typeof artifactState>;

/** Expectation of a file at the end of the case. */
export type ExpectedArtifact = z.output<typeof expectedArtifact>;

/** Responses of the fake token endpoint. */
export type TokenResponses = NonNullable<ScenarioCase['mock_oauth_server']>;
