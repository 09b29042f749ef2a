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

/** What an event is held against beside the expectation itself. */
export interface EventExpectationContext {
  /** In the words of the file. */
  readonly path: string;
  /** The text of all updates up to the event. */
  readonly streamed: string;
  /** What the first version of a file is called. */
  readonly versionsFrom: 0 | 1;
}

/** Compares an event with what is expected. */
export function eventMismatches(
  expected: ExpectedOutput,
  event: GatewayEvent,
  around: EventExpectationContext,
): ExpectationMismatch[] {
  if (expected.type === 'status_update' && event.type === 'status_update')
    return statusDifferences(expected, event, around.path);
  if (expected.type === 'artifact_update' && event.type === 'artifact_update')
    return artifactDifferences(expected, event, around.path);
  if (expected.type === 'final_response' && event.type === 'final_response')
    return finalDifferences(expected, event, around);
  if (expected.type === 'error' && event.type === 'error')
    return errorDifferences(expected, event, around.path);
  return [
    { path: `${around.path}.type`, problem: 'is another event', expected: expected.type, actual: event.type },
  ];
}

/** The parts of what a status says. */
export function statusParts(event: Event<'status_update'>): readonly Part[] {
  return event.status.message?.parts ?? [];
}

function statusDifferences(
  expected: Expected<'status_update'>,
  event: Event<'status_update'>,
  path: string,
): ExpectationMismatch[] {
  const parts = statusParts(event);
  const data = firstData(parts);
  const fields = (data ?? {}) as { [key: string]: unknown };
  const found: ExpectationMismatch[] = [];
  if (expected.event_purpose !== undefined)
    found.push(...equalityMismatch(expected.event_purpose, statusPurpose(parts), `${path}.event_purpose`));
  if (expected.final_flag !== undefined)
    found.push(...equalityMismatch(expected.final_flag, event.isFinal, `${path}.final_flag`));
  found.push(
    ...contentMismatches(
      expected.content_parts ?? [],
      { text: statusText(parts), data },
      `${path}.content_parts`,
    ),
  );
  if (expected.expected_tool_name !== undefined)
    found.push(
      ...equalityMismatch(expected.expected_tool_name, fields.tool_name, `${path}.expected_tool_name`),
    );
  const inside: [unknown, unknown, string][] = [
    [expected.expected_tool_args_contain, fields.tool_args, 'expected_tool_args_contain'],
    [
      expected.expected_llm_data_contains,
      fields.request ?? fields.data ?? data,
      'expected_llm_data_contains',
    ],
    [expected.expected_artifact_saved_data_contains, data, 'expected_artifact_saved_data_contains'],
  ];
  for (const [wanted, there, key] of inside)
    if (wanted !== undefined) found.push(...compareValues(wanted, there, `${path}.${key}`));
  return found;
}

function artifactDifferences(
  expected: Expected<'artifact_update'>,
  event: Event<'artifact_update'>,
  path: string,
): ExpectationMismatch[] {
  const found: ExpectationMismatch[] = [];
  const name = expected.expected_artifact_name_contains;
  if (name !== undefined)
    found.push(
      ...containmentMismatches(name, event.artifact.name ?? '', `${path}.expected_artifact_name_contains`),
    );
  found.push(...partsDifferences(expected.content_parts, event.artifact.parts, `${path}.content_parts`));
  const wantsReference = expected.assert_part_is_uri_reference;
  if (wantsReference !== undefined) {
    const files = event.received.filter((part) => 'url' in part || 'raw' in part);
    const isReference =
      files.length > 0 && files.every((part) => 'url' in part && part.url.startsWith('artifact://'));
    if (isReference !== wantsReference)
      found.push({
        path: `${path}.assert_part_is_uri_reference`,
        problem: wantsReference ? 'the file did not come as an artifact:// link' : 'the file came as a link',
        expected: wantsReference,
        actual: event.received,
      });
  }
  return found;
}

function partsDifferences(
  expected: Expected<'artifact_update'>['content_parts'],
  parts: readonly Part[],
  path: string,
): ExpectationMismatch[] {
  return contentMismatches(expected ?? [], { text: statusText(parts), data: firstData(parts) }, path);
}

/** What the task made, in order. */
function madeDifferences(
  expected: NonNullable<Expected<'final_response'>['expected_task_artifacts']>,
  made: readonly Artifact[],
  path: string,
): ExpectationMismatch[] {
  const found = equalityMismatch(expected.length, made.length, `${path}.length`);
  for (const [index, { name, content_parts: content }] of expected.entries()) {
    const artifact = made[index];
    if (!artifact) break;
    if (name !== undefined) found.push(...equalityMismatch(name, artifact.name, `${path}[${index}].name`));
    found.push(...partsDifferences(content, artifact.parts, `${path}[${index}].content_parts`));
  }
  return found;
}

function finalDifferences(
  expected: Expected<'final_response'>,
  { task }: Event<'final_response'>,
  { path, streamed, versionsFrom }: EventExpectationContext,
): ExpectationMismatch[] {
  const parts = task.status.message?.parts ?? [];
  const text = expected.assert_content_against_stream ? streamed : statusText(parts);
  const found: ExpectationMismatch[] = [];
  if (expected.task_state !== undefined) {
    const differs = equalityMismatch(expected.task_state, task.status.state, `${path}.task_state`);
    // Why a task failed is the first thing that one wants to know.
    found.push(
      ...differs.map((each) =>
        text === '' ? each : { ...each, problem: `is not the same; it says: ${text}` },
      ),
    );
  }
  // Only texts of it are looked at.
  const texts = (expected.content_parts ?? []).filter(({ type }) => type === 'text');
  found.push(...contentMismatches(texts, { text }, `${path}.content_parts`));
  if (expected.expected_produced_artifacts !== undefined)
    found.push(
      ...producedDifferences(
        expected.expected_produced_artifacts,
        task.metadata?.produced_artifacts,
        `${path}.expected_produced_artifacts`,
        versionsFrom,
      ),
    );
  if (expected.expected_task_artifacts !== undefined)
    found.push(
      ...madeDifferences(
        expected.expected_task_artifacts,
        task.artifacts ?? [],
        `${path}.expected_task_artifacts`,
      ),
    );
  if (expected.metadata_contains !== undefined)
    found.push(
      ...compareValues(expected.metadata_contains, task.metadata ?? {}, `${path}.metadata_contains`),
    );
  return found;
}

interface Produced {
  filename: string;
  version?: number | undefined;
}

/** The same files, in whatever order. A version that is not named may be any. */
function producedDifferences(
  expected: readonly Produced[],
  actual: unknown,
  path: string,
  versionsFrom: 0 | 1,
): ExpectationMismatch[] {
  const left = Array.isArray(actual) ? [...(actual as Produced[])] : [];
  const found: ExpectationMismatch[] = [];
  for (const [index, each] of expected.entries()) {
    const place = left.findIndex(
      ({ filename, version }) =>
        filename === each.filename && (each.version === undefined || version === each.version - versionsFrom),
    );
    if (place < 0)
      found.push({ path: `${path}[${index}]`, problem: 'was not produced', expected: each, actual });
    else left.splice(place, 1);
  }
  for (const each of left) found.push({ path, problem: 'was produced too', actual: each });
  return found;
}

function errorDifferences(
  expected: Expected<'error'>,
  event: Event<'error'>,
  path: string,
): ExpectationMismatch[] {
  const found: ExpectationMismatch[] = [];
  const { code, message, data } = event;
  if (expected.error_code !== undefined)
    found.push(...equalityMismatch(expected.error_code, code, `${path}.error_code`));
  if (expected.error_message_contains !== undefined)
    found.push(
      ...containmentMismatches(expected.error_message_contains, message, `${path}.error_message_contains`),
    );
  if (expected.error_message_matches_regex !== undefined)
    found.push(
      ...regexMismatch(
        expected.error_message_matches_regex,
        message,
        `${path}.error_message_matches_regex`,
        'i',
      ),
    );
  if (expected.error_data_contains !== undefined)
    found.push(...compareValues(expected.error_data_contains, data, `${path}.error_data_contains`));
  return found;
}
