import type { Part } from '../../../protocol/part.ts';
import type { Artifact } from '../../../protocol/task.ts';
import { contentMismatches, firstData, statusPurpose, statusText } from './expect-content.ts';
import { type ExpectationMismatch, equalityMismatch } from './compare-values.ts';
import { KeyComparison } from './key-comparison.ts';
import type { GatewayEvent } from '../harness/harness-types.ts';
import type { ExpectedOutput, ExpectedPartContent } from '../files/scenario-schema.ts';

type Event<Type extends GatewayEvent['type']> = Extract<GatewayEvent, { type: Type }>;
type Expected<Type extends ExpectedOutput['type']> = Extract<ExpectedOutput, { type: Type }>;

/** Context of the comparison of one event. */
export interface EventExpectationContext {
  /** Path of the expectation in the file. */
  readonly path: string;
  /** Text of all status updates before the event. */
  readonly streamed: string;
  /** Number of the first version of a file. */
  readonly firstVersion: 0 | 1;
}

/** Compares an event with its expectation. */
export function eventMismatches(
  expected: ExpectedOutput,
  event: GatewayEvent,
  context: EventExpectationContext,
): ExpectationMismatch[] {
  if (expected.type === 'status_update' && event.type === 'status_update')
    return statusMismatches(expected, event, context.path);
  if (expected.type === 'artifact_update' && event.type === 'artifact_update')
    return artifactMismatches(expected, event, context.path);
  if (expected.type === 'final_response' && event.type === 'final_response')
    return finalMismatches(expected, event, context);
  if (expected.type === 'error' && event.type === 'error')
    return errorMismatches(expected, event, context.path);
  return new KeyComparison(expected, context.path).report('type', 'is a different event', event.type)
    .mismatches;
}

/** Returns the parts of the status message. */
export function statusParts(event: Event<'status_update'>): readonly Part[] {
  return event.status.message?.parts ?? [];
}

function statusMismatches(
  expected: Expected<'status_update'>,
  event: Event<'status_update'>,
  path: string,
): ExpectationMismatch[] {
  const parts = statusParts(event);
  const data = firstData(parts);
  const fields = (data ?? {}) as { [key: string]: unknown };
  return new KeyComparison(expected, path)
    .equal('event_purpose', statusPurpose(parts))
    .equal('final_flag', event.isFinal)
    .compare('content_parts', parts, partsMismatches)
    .equal('expected_tool_name', fields.tool_name)
    .includes('expected_tool_args_contain', fields.tool_args)
    .includes('expected_llm_data_contains', fields.request ?? fields.data ?? data)
    .includes('expected_artifact_saved_data_contains', data).mismatches;
}

function artifactMismatches(
  expected: Expected<'artifact_update'>,
  event: Event<'artifact_update'>,
  path: string,
): ExpectationMismatch[] {
  const comparison = new KeyComparison(expected, path)
    .contains('expected_artifact_name_contains', event.artifact.name ?? '')
    .compare('content_parts', event.artifact.parts, partsMismatches);
  const files = event.received.filter((part) => 'url' in part || 'raw' in part);
  const isLink =
    files.length > 0 && files.every((part) => 'url' in part && part.url.startsWith('artifact://'));
  const expectsLink = expected.assert_part_is_uri_reference ?? isLink;
  if (isLink !== expectsLink) {
    const problem = expectsLink ? 'was not received as an artifact:// link' : 'was received as a link';
    comparison.report('assert_part_is_uri_reference', `the file ${problem}`, event.received);
  }
  return comparison.mismatches;
}

function partsMismatches(
  expected: readonly ExpectedPartContent[],
  parts: unknown,
  path: string,
): ExpectationMismatch[] {
  const actual = parts as readonly Part[];
  return contentMismatches(expected, { text: statusText(actual), data: firstData(actual) }, path);
}

/** Compares the artifacts of the task in order. */
function taskArtifactMismatches(
  expected: NonNullable<Expected<'final_response'>['expected_task_artifacts']>,
  artifacts: readonly Artifact[],
  path: string,
): ExpectationMismatch[] {
  const mismatches = equalityMismatch(expected.length, artifacts.length, `${path}.length`);
  for (const [index, artifact] of artifacts.slice(0, expected.length).entries())
    mismatches.push(
      ...new KeyComparison(expected[index] ?? {}, `${path}[${index}]`)
        .equal('name', artifact.name)
        .compare('content_parts', artifact.parts, partsMismatches).mismatches,
    );
  return mismatches;
}

function finalMismatches(
  expected: Expected<'final_response'>,
  { task }: Event<'final_response'>,
  { path, streamed, firstVersion }: EventExpectationContext,
): ExpectationMismatch[] {
  const parts = task.status.message?.parts ?? [];
  const text = expected.assert_content_against_stream ? streamed : statusText(parts);
  const comparison = new KeyComparison(expected, path)
    // The status text usually explains an unexpected state.
    .compare('task_state', task.status.state, (...values) =>
      equalityMismatch(...values).map((each) =>
        text === '' ? each : { ...each, problem: `is different; status text: ${text}` },
      ),
    )
    // Only text expectations apply to the final response.
    .compare('content_parts', text, (contents, _text, at) =>
      contentMismatches(
        contents.filter(({ type }) => type === 'text'),
        { text },
        at,
      ),
    )
    .compare('expected_produced_artifacts', task.metadata?.produced_artifacts, (...values) =>
      producedMismatches(...values, firstVersion),
    )
    .compare('expected_task_artifacts', undefined, (artifacts, _actual, at) =>
      taskArtifactMismatches(artifacts, task.artifacts ?? [], at),
    );
  return comparison.includes('metadata_contains', task.metadata ?? {}).mismatches;
}

interface ProducedArtifact {
  filename: string;
  version?: number | undefined;
}

/** Compares produced files in any order. An expectation without version matches all versions. */
function producedMismatches(
  expected: readonly ProducedArtifact[],
  actual: unknown,
  path: string,
  firstVersion: 0 | 1,
): ExpectationMismatch[] {
  const remaining = Array.isArray(actual) ? [...(actual as ProducedArtifact[])] : [];
  const mismatches: ExpectationMismatch[] = [];
  for (const [index, each] of expected.entries()) {
    const position = remaining.findIndex(
      ({ filename, version }) =>
        filename === each.filename && (each.version === undefined || version === each.version - firstVersion),
    );
    if (position < 0)
      mismatches.push({ path: `${path}[${index}]`, problem: 'was not produced', expected: each, actual });
    else remaining.splice(position, 1);
  }
  for (const each of remaining) mismatches.push({ path, problem: 'was produced unexpectedly', actual: each });
  return mismatches;
}

function errorMismatches(
  expected: Expected<'error'>,
  { code, message, data }: Event<'error'>,
  path: string,
): ExpectationMismatch[] {
  return new KeyComparison(expected, path)
    .equal('error_code', code)
    .contains('error_message_contains', message)
    .matches('error_message_matches_regex', message, 'i')
    .includes('error_data_contains', data).mismatches;
}
