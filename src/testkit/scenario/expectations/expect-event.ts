import type { Part } from '../../../protocol/part.ts';
import type { Artifact } from '../../../protocol/task.ts';
import { contentMismatches, firstData, statusPurpose, statusText } from './expect-content.ts';
import {
  containmentMismatches,
  type ExpectationMismatch,
  compareValues,
  equalityMismatch,
  regexMismatch,
} from './compare-values.ts';
import type { GatewayEvent } from '../harness/harness-types.ts';
import type { ExpectedOutput } from '../files/scenario-schema.ts';

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
  return [
    {
      path: `${context.path}.type`,
      problem: 'is a different event',
      expected: expected.type,
      actual: event.type,
    },
  ];
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
  const mismatches: ExpectationMismatch[] = [];
  if (expected.event_purpose !== undefined)
    mismatches.push(
      ...equalityMismatch(expected.event_purpose, statusPurpose(parts), `${path}.event_purpose`),
    );
  if (expected.final_flag !== undefined)
    mismatches.push(...equalityMismatch(expected.final_flag, event.isFinal, `${path}.final_flag`));
  mismatches.push(
    ...contentMismatches(
      expected.content_parts ?? [],
      { text: statusText(parts), data },
      `${path}.content_parts`,
    ),
  );
  if (expected.expected_tool_name !== undefined)
    mismatches.push(
      ...equalityMismatch(expected.expected_tool_name, fields.tool_name, `${path}.expected_tool_name`),
    );
  const nested: [unknown, unknown, string][] = [
    [expected.expected_tool_args_contain, fields.tool_args, 'expected_tool_args_contain'],
    [
      expected.expected_llm_data_contains,
      fields.request ?? fields.data ?? data,
      'expected_llm_data_contains',
    ],
    [expected.expected_artifact_saved_data_contains, data, 'expected_artifact_saved_data_contains'],
  ];
  for (const [expectedValue, actualValue, key] of nested)
    if (expectedValue !== undefined)
      mismatches.push(...compareValues(expectedValue, actualValue, `${path}.${key}`));
  return mismatches;
}

function artifactMismatches(
  expected: Expected<'artifact_update'>,
  event: Event<'artifact_update'>,
  path: string,
): ExpectationMismatch[] {
  const mismatches: ExpectationMismatch[] = [];
  const name = expected.expected_artifact_name_contains;
  if (name !== undefined)
    mismatches.push(
      ...containmentMismatches(name, event.artifact.name ?? '', `${path}.expected_artifact_name_contains`),
    );
  mismatches.push(...partsMismatches(expected.content_parts, event.artifact.parts, `${path}.content_parts`));
  const expectsLink = expected.assert_part_is_uri_reference;
  if (expectsLink !== undefined) {
    const files = event.received.filter((part) => 'url' in part || 'raw' in part);
    const isLink =
      files.length > 0 && files.every((part) => 'url' in part && part.url.startsWith('artifact://'));
    if (isLink !== expectsLink)
      mismatches.push({
        path: `${path}.assert_part_is_uri_reference`,
        problem: expectsLink
          ? 'the file was not received as an artifact:// link'
          : 'the file was received as a link',
        expected: expectsLink,
        actual: event.received,
      });
  }
  return mismatches;
}

function partsMismatches(
  expected: Expected<'artifact_update'>['content_parts'],
  parts: readonly Part[],
  path: string,
): ExpectationMismatch[] {
  return contentMismatches(expected ?? [], { text: statusText(parts), data: firstData(parts) }, path);
}

/** Compares the artifacts of the task in order. */
function taskArtifactMismatches(
  expected: NonNullable<Expected<'final_response'>['expected_task_artifacts']>,
  artifacts: readonly Artifact[],
  path: string,
): ExpectationMismatch[] {
  const mismatches = equalityMismatch(expected.length, artifacts.length, `${path}.length`);
  for (const [index, { name, content_parts: content }] of expected.entries()) {
    const artifact = artifacts[index];
    if (!artifact) break;
    if (name !== undefined)
      mismatches.push(...equalityMismatch(name, artifact.name, `${path}[${index}].name`));
    mismatches.push(...partsMismatches(content, artifact.parts, `${path}[${index}].content_parts`));
  }
  return mismatches;
}

function finalMismatches(
  expected: Expected<'final_response'>,
  { task }: Event<'final_response'>,
  { path, streamed, firstVersion }: EventExpectationContext,
): ExpectationMismatch[] {
  const parts = task.status.message?.parts ?? [];
  const text = expected.assert_content_against_stream ? streamed : statusText(parts);
  const mismatches: ExpectationMismatch[] = [];
  if (expected.task_state !== undefined) {
    const stateMismatches = equalityMismatch(expected.task_state, task.status.state, `${path}.task_state`);
    // The status text usually explains an unexpected state.
    mismatches.push(
      ...stateMismatches.map((each) =>
        text === '' ? each : { ...each, problem: `is different; status text: ${text}` },
      ),
    );
  }
  // Only text expectations apply to the final response.
  const texts = (expected.content_parts ?? []).filter(({ type }) => type === 'text');
  mismatches.push(...contentMismatches(texts, { text }, `${path}.content_parts`));
  if (expected.expected_produced_artifacts !== undefined)
    mismatches.push(
      ...producedMismatches(
        expected.expected_produced_artifacts,
        task.metadata?.produced_artifacts,
        `${path}.expected_produced_artifacts`,
        firstVersion,
      ),
    );
  if (expected.expected_task_artifacts !== undefined)
    mismatches.push(
      ...taskArtifactMismatches(
        expected.expected_task_artifacts,
        task.artifacts ?? [],
        `${path}.expected_task_artifacts`,
      ),
    );
  if (expected.metadata_contains !== undefined)
    mismatches.push(
      ...compareValues(expected.metadata_contains, task.metadata ?? {}, `${path}.metadata_contains`),
    );
  return mismatches;
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
  event: Event<'error'>,
  path: string,
): ExpectationMismatch[] {
  const mismatches: ExpectationMismatch[] = [];
  const { code, message, data } = event;
  if (expected.error_code !== undefined)
    mismatches.push(...equalityMismatch(expected.error_code, code, `${path}.error_code`));
  if (expected.error_message_contains !== undefined)
    mismatches.push(
      ...containmentMismatches(expected.error_message_contains, message, `${path}.error_message_contains`),
    );
  if (expected.error_message_matches_regex !== undefined)
    mismatches.push(
      ...regexMismatch(
        expected.error_message_matches_regex,
        message,
        `${path}.error_message_matches_regex`,
        'i',
      ),
    );
  if (expected.error_data_contains !== undefined)
    mismatches.push(...compareValues(expected.error_data_contains, data, `${path}.error_data_contains`));
  return mismatches;
}
