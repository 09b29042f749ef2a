import { DocumentError, type Diagnostic } from '../../../documents/diagnostic.ts';
import { Document } from '../../../documents/document.ts';
import { openScript } from '../../script/script.ts';
import { pruneUnknownKeys } from './prune-unknown-keys.ts';
import {
  interactiveAuthType,
  type ScenarioCase,
  scenarioCaseSchema,
  scenarioFileSchema,
  type ScenarioPart,
} from './scenario-schema.ts';

/** By whose rules a file is read. */
export type ScenarioMode = 'strict' | 'compatible';

/** One case, ready to be run. */
export interface Scenario {
  readonly id: string;
  /** Where it stands. */
  readonly file: string;
  readonly line: number;
  readonly mode: ScenarioMode;
  readonly spec: ScenarioCase;
  /** Whose words these are. */
  readonly user: string;
  /** The conversation. */
  readonly session: string;
  /** What the caller sends, whatever the file calls it. */
  readonly parts: readonly ScenarioPart[];
  /** What the first version of a file is called: 0, or 1 in files that ask with `prompt`. */
  readonly versionsFrom: 0 | 1;
  /** Whether words on the way become data: undefined leaves it to the agent that is asked for. */
  readonly convertsProgress: boolean | undefined;
  /** Why it cannot be run here. */
  readonly skipped: string | undefined;
}

/** What only other runners can do. */
const beyondUs: { readonly [Word in keyof ScenarioCase]?: string } = {
  http_request_input: 'it drives the HTTP interface of another product (http_request_input)',
  expected_http_responses: 'it looks at the HTTP interface of another product (expected_http_responses)',
  setup_tasks: 'it needs the task database of another product (setup_tasks)',
  setup_projects: 'it needs the projects of another product (setup_projects)',
  monkeypatch_spec: 'it changes the code of another product (monkeypatch_spec)',
  primed_image_generation_responses: 'it needs a model that draws (primed_image_generation_responses)',
  test_runner_config_overrides: 'it configures an agent of another product (test_runner_config_overrides)',
};

/**
 * Reads a scenario file: one case, or a list of cases.
 *
 * @throws DocumentError with line and column of everything that is wrong. In the compatible mode an unknown word is
 *   left out without a word.
 */
export function readScenarios(text: string, file: string, mode: ScenarioMode = 'strict'): Scenario[] {
  const document = Document.parse(text, file);
  const isList = Array.isArray(document.value);
  const value = mode === 'compatible' ? pruneUnknownKeys(scenarioFileSchema, document.value) : document.value;
  // Checked against the form that it has, so that complaints are about that form.
  const cases = isList
    ? document.check(scenarioFileSchema.options[1], value)
    : [document.check(scenarioCaseSchema, value)];
  const complaints: Diagnostic[] = [];
  const scenarios = cases.map((words, index) => {
    const at = isList ? [index] : [];
    for (const { path, message } of mistakesOf(words))
      complaints.push(document.diagnostic([...at, ...path], message));
    return scenarioOf(words, { file, mode, line: document.locate([...at, 'test_case_id']).line });
  });
  if (complaints.length > 0) throw new DocumentError(file, complaints);
  return scenarios;
}

function scenarioOf(
  words: ScenarioCase,
  place: { file: string; line: number; mode: ScenarioMode },
): Scenario {
  const { gateway_input: input } = words;
  const user = input?.user_identity ?? '';
  // How the design wrote its example: versions from 1, and words on the way stay words.
  const asksWithPrompt = input?.prompt !== undefined;
  return {
    ...place,
    id: words.test_case_id,
    spec: words,
    user,
    session: input?.external_context?.a2a_session_id ?? `setup_session_for_${user}`,
    parts: input?.a2a_parts ?? input?.parts ?? input?.prompt?.parts ?? [],
    versionsFrom: words.versions_from ?? (asksWithPrompt ? 1 : 0),
    convertsProgress: words.convert_progress_updates ?? (asksWithPrompt ? false : undefined),
    skipped: reasonToSkip(words),
  };
}

function reasonToSkip(words: ScenarioCase): string | undefined {
  if (words.llm_interactions && words.llm_interactions.length > 0)
    return 'it needs a language model (llm_interactions)';
  for (const [word, reason] of Object.entries(beyondUs))
    if (words[word as keyof ScenarioCase] !== undefined) return reason;
  const proof = words.proxy_auth_config?.authentication;
  if (proof && 'type' in proof && proof.type === interactiveAuthType)
    return `it needs a person who logs in (${interactiveAuthType})`;
  const server = /\{\{(?:STATIC_FILE_SERVER_URL|LLM_SERVER_URL)\}\}/.exec(JSON.stringify(words));
  return server ? `it needs a server that is not here (${server[0]})` : undefined;
}

/** What is wrong although each word for itself is right. */
function mistakesOf(words: ScenarioCase): { path: (string | number)[]; message: string }[] {
  const found: { path: (string | number)[]; message: string }[] = [];
  if (!words.gateway_input && reasonToSkip(words) === undefined)
    found.push({ path: ['gateway_input'], message: 'is missing' });
  if (words.downstream_script) {
    try {
      openScript(JSON.stringify(words.downstream_script), 'downstream_script');
    } catch (thrown) {
      if (!(thrown instanceof DocumentError)) throw thrown;
      for (const { path, message } of thrown.diagnostics)
        found.push({ path: ['downstream_script'], message: path === '' ? message : `${path}: ${message}` });
    }
  }
  const expressions: [(string | number)[], string | undefined][] = [];
  for (const [index, each] of words.expected_gateway_output.entries()) {
    const path = ['expected_gateway_output', index];
    if (each.type === 'error')
      expressions.push([[...path, 'error_message_matches_regex'], each.error_message_matches_regex]);
    const parts = 'content_parts' in each ? (each.content_parts ?? []) : [];
    for (const [place, part] of parts.entries()) {
      if (part.type === 'text')
        expressions.push([[...path, 'content_parts', place, 'text_matches_regex'], part.text_matches_regex]);
    }
    for (const [place, state] of (each.assert_artifact_state ?? []).entries())
      checkName([...path, 'assert_artifact_state', place], state);
  }
  for (const [index, each] of words.expected_artifacts.entries())
    checkName(['expected_artifacts', index], each);
  for (const [path, source] of expressions) {
    if (source === undefined) continue;
    const why = whyNoExpression(source);
    if (why !== undefined) found.push({ path, message: why });
  }
  return found;

  function checkName(
    path: (string | number)[],
    named: { filename?: string | undefined; filename_matches_regex?: string | undefined },
  ): void {
    if ((named.filename === undefined) === (named.filename_matches_regex === undefined))
      found.push({ path, message: 'needs either filename or filename_matches_regex' });
    expressions.push([[...path, 'filename_matches_regex'], named.filename_matches_regex]);
  }
}

function whyNoExpression(source: string): string | undefined {
  try {
    return void new RegExp(source);
  } catch (thrown) {
    return `is no regular expression: ${(thrown as Error).message}`;
  }
}
