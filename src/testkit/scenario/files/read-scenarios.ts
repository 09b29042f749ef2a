import { dirname } from 'node:path';
import { DocumentError, type Diagnostic } from '../../../documents/diagnostic.ts';
import { Document } from '../../../documents/document.ts';
import { openScript } from '../../script/script.ts';
import {
  isConversationFile,
  type ReadConversation,
  readConversations,
} from '../conversation/read-conversation.ts';
import { pruneUnknownKeys } from './prune-unknown-keys.ts';
import { regexError } from './regex-error.ts';
import {
  interactiveAuthType,
  type ScenarioCase,
  scenarioCaseSchema,
  scenarioFileSchema,
  type ScenarioPart,
} from './scenario-schema.ts';

/** `strict` reports unknown keys; `compatible` ignores them, like the test runner of Solace Agent Mesh. */
export type ScenarioMode = 'strict' | 'compatible';

/** One case of a scenario file. */
export interface Scenario {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly mode: ScenarioMode;
  readonly spec: ScenarioCase;
  /** Id of the user who sends the message. */
  readonly user: string;
  /** Id of the session, used as context id. */
  readonly session: string;
  /** Parts of the message, from `a2a_parts`, `parts` or `prompt`. */
  readonly parts: readonly ScenarioPart[];
  /** Number of the first version of a file: 0, or 1 in cases with `prompt`. */
  readonly firstVersion: 0 | 1;
  /** Whether status texts are converted to progress data; undefined uses the default of the target agent. */
  readonly convertProgress: boolean | undefined;
  /** Why the case cannot run; undefined if it can. */
  readonly skipReason: string | undefined;
  /** Why the file cannot be read. Such a case fails. */
  readonly problem?: string;
  /** The steps of a scenario with several turns; `spec` has only its description and limits. */
  readonly conversation?: ReadConversation;
}

/** Keys that need the test runner of another product, with the skip reason. */
const unsupportedKeys: { readonly [Key in keyof ScenarioCase]?: string } = {
  http_request_input: 'it uses the HTTP interface of another product (http_request_input)',
  expected_http_responses: 'it checks the HTTP interface of another product (expected_http_responses)',
  setup_tasks: 'it needs the task database of another product (setup_tasks)',
  setup_projects: 'it needs the projects of another product (setup_projects)',
  monkeypatch_spec: 'it patches the code of another product (monkeypatch_spec)',
  primed_image_generation_responses: 'it needs an image model (primed_image_generation_responses)',
  test_runner_config_overrides: 'it configures an agent of another product (test_runner_config_overrides)',
};

/**
 * Parses a scenario file: one case, or a list of cases, in the format with `steps` or in that of Solace Agent Mesh.
 *
 * @throws DocumentError with all diagnostics. The compatible mode ignores unknown keys.
 */
export function readScenarios(text: string, file: string, mode: ScenarioMode = 'strict'): Scenario[] {
  const document = Document.parse(text, file);
  if (isConversationFile(document.value))
    return readConversations(document, dirname(file)).map((each) => fromConversation(each, file, mode));
  const isList = Array.isArray(document.value);
  const value = mode === 'compatible' ? pruneUnknownKeys(scenarioFileSchema, document.value) : document.value;
  // Checked against the matching option of the union, so that diagnostics refer to it.
  const cases = isList
    ? document.check(scenarioFileSchema.options[1], value)
    : [document.check(scenarioCaseSchema, value)];
  const diagnostics: Diagnostic[] = [];
  const scenarios = cases.map((spec, index) => {
    const at = isList ? [index] : [];
    for (const { path, message } of findErrors(spec))
      diagnostics.push(document.diagnostic([...at, ...path], message));
    return toScenario(spec, { file, mode, line: document.locate([...at, 'test_case_id']).line });
  });
  if (diagnostics.length > 0) throw new DocumentError(file, diagnostics);
  return scenarios;
}

/** Returns a case that fails, in place of those of a file that cannot be read. */
export function unreadableScenario(
  { file, diagnostics: [first], message }: DocumentError,
  mode: ScenarioMode,
): Scenario {
  const spec = scenarioCaseSchema.parse({ test_case_id: file });
  const problem = ['The file is invalid:', ...message.split('\n')].join('\n  ');
  return { ...toScenario(spec, { file, mode, line: first?.line ?? 1 }), problem };
}

/** Returns the scenario of a conversation. */
function fromConversation(read: ReadConversation, file: string, mode: ScenarioMode): Scenario {
  const { scenario, description, tags, timeout } = read.conversation;
  const spec = scenarioCaseSchema.parse({
    test_case_id: scenario,
    description,
    tags,
    expected_completion_timeout_seconds: timeout / 1_000,
  });
  return { ...toScenario(spec, { file, mode, line: read.line }), conversation: read };
}

function toScenario(
  spec: ScenarioCase,
  location: { file: string; line: number; mode: ScenarioMode },
): Scenario {
  const { gateway_input: input } = spec;
  const user = input?.user_identity ?? '';
  // The original format with `prompt` counts versions from 1 and does not convert status texts.
  const hasPrompt = input?.prompt !== undefined;
  return {
    ...location,
    id: spec.test_case_id,
    spec,
    user,
    session: input?.external_context?.a2a_session_id ?? `setup_session_for_${user}`,
    parts: input?.a2a_parts ?? input?.parts ?? input?.prompt?.parts ?? [],
    firstVersion: spec.first_version ?? (hasPrompt ? 1 : 0),
    convertProgress: spec.convert_progress_updates ?? (hasPrompt ? false : undefined),
    skipReason: findSkipReason(spec),
  };
}

function findSkipReason(spec: ScenarioCase): string | undefined {
  if (spec.llm_interactions && spec.llm_interactions.length > 0)
    return 'it needs a language model (llm_interactions)';
  for (const [key, reason] of Object.entries(unsupportedKeys))
    if (spec[key as keyof ScenarioCase] !== undefined) return reason;
  const authentication = spec.proxy_auth_config?.authentication;
  if (authentication && 'type' in authentication && authentication.type === interactiveAuthType)
    return `it needs an interactive login (${interactiveAuthType})`;
  const server = /\{\{(?:STATIC_FILE_SERVER_URL|LLM_SERVER_URL)\}\}/.exec(JSON.stringify(spec));
  return server ? `it needs a server that is not available (${server[0]})` : undefined;
}

/** Finds errors that the schema cannot express. */
function findErrors(spec: ScenarioCase): { path: (string | number)[]; message: string }[] {
  const errors: { path: (string | number)[]; message: string }[] = [];
  if (!spec.gateway_input && findSkipReason(spec) === undefined)
    errors.push({ path: ['gateway_input'], message: 'is missing' });
  if (spec.downstream_script) {
    try {
      openScript(JSON.stringify(spec.downstream_script), 'downstream_script');
    } catch (thrown) {
      if (!(thrown instanceof DocumentError)) throw thrown;
      for (const { path, message } of thrown.diagnostics)
        errors.push({ path: ['downstream_script'], message: path === '' ? message : `${path}: ${message}` });
    }
  }
  const expressions: [(string | number)[], string | undefined][] = [];
  for (const [index, each] of spec.expected_gateway_output.entries()) {
    const path = ['expected_gateway_output', index];
    if (each.type === 'error')
      expressions.push([[...path, 'error_message_matches_regex'], each.error_message_matches_regex]);
    const parts = 'content_parts' in each ? (each.content_parts ?? []) : [];
    for (const [partIndex, part] of parts.entries()) {
      if (part.type === 'text')
        expressions.push([
          [...path, 'content_parts', partIndex, 'text_matches_regex'],
          part.text_matches_regex,
        ]);
    }
    for (const [stateIndex, state] of (each.assert_artifact_state ?? []).entries())
      checkFilename([...path, 'assert_artifact_state', stateIndex], state);
  }
  for (const [index, each] of spec.expected_artifacts.entries())
    checkFilename(['expected_artifacts', index], each);
  for (const [path, source] of expressions) {
    if (source === undefined) continue;
    const message = regexError(source);
    if (message !== undefined) errors.push({ path, message });
  }
  return errors;

  function checkFilename(
    path: (string | number)[],
    expected: { filename?: string | undefined; filename_matches_regex?: string | undefined },
  ): void {
    if ((expected.filename === undefined) === (expected.filename_matches_regex === undefined))
      errors.push({ path, message: 'must have either filename or filename_matches_regex' });
    expressions.push([[...path, 'filename_matches_regex'], expected.filename_matches_regex]);
  }
}
