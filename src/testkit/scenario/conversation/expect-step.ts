import { escapeRegExp } from '../../../primitives/text.ts';
import { bytesOf, type Part, textOf } from '../../../protocol/part.ts';
import type { Artifact } from '../../../protocol/task.ts';
import { type ExpectedEvent, matchStream } from '../../matchers/match-stream.ts';
import {
  compareValues,
  containmentMismatches,
  equalityMismatch,
  type ExpectationMismatch,
  regexMismatch,
} from '../expectations/compare-values.ts';
import type {
  ExpectedStepArtifact,
  ExpectedStepEvent,
  StepExpectation,
  TextMatch,
} from './conversation-schema.ts';
import { findData, type StepResult } from './step-result.ts';

/** Compares the answer of a step with its expectation. @param path - path of the expectation */
export function stepMismatches(
  expected: StepExpectation,
  result: StepResult,
  path: string,
): ExpectationMismatch[] {
  const { task, message, error } = result;
  const { state, artifacts, events } = expected;
  const mismatches = errorMismatches(expected.error, result, path);
  if (mismatches.length > 0) return mismatches;
  if (state !== undefined) {
    const actual = task?.status.state;
    const states = [state].flat();
    if (actual === undefined || !states.includes(actual))
      mismatches.push({
        path: `${path}.state`,
        problem: 'is different',
        expected: state,
        actual: actual ?? (error ? undefined : 'a message without a task'),
      });
  }
  if (expected.text !== undefined)
    mismatches.push(...textMismatches(expected.text, result.text, `${path}.text`));
  if (expected.message !== undefined)
    mismatches.push(...textMismatches(expected.message, message && textOf(message), `${path}.message`));
  if (expected.data !== undefined)
    mismatches.push(...compareValues(expected.data, result.data, `${path}.data`));
  if (expected.task !== undefined) mismatches.push(...compareValues(expected.task, task, `${path}.task`));
  for (const [index, each] of (artifacts ?? []).entries())
    mismatches.push(...artifactMismatches(each, task?.artifacts?.[index], `${path}.artifacts[${index}]`));
  if (events) mismatches.push(...eventMismatches(events, result, `${path}.events`));
  return mismatches;
}

/** An error must be expected, and an expected one must occur. */
function errorMismatches(
  expected: TextMatch | undefined,
  { error }: StepResult,
  path: string,
): ExpectationMismatch[] {
  if (expected === undefined)
    return error
      ? [{ path, problem: 'the agent returned an error', actual: `${error.reason}: ${error.message}` }]
      : [];
  if (!error) return [{ path: `${path}.error`, problem: 'no error was returned', expected }];
  const byReason = textMismatches(expected, error.reason, `${path}.error`);
  const byMessage = textMismatches(expected, error.message, `${path}.error`);
  return byReason.length === 0 ? [] : byMessage;
}

/** Compares a text. */
function textMismatches(
  expected: TextMatch,
  actual: string | undefined,
  path: string,
): ExpectationMismatch[] {
  if (actual === undefined) return [{ path, problem: 'is missing', expected }];
  if (typeof expected === 'string') return equalityMismatch(expected, actual, path);
  const { contains, matches, excludes } = expected;
  const excluded = [excludes ?? []].flat().filter((each) => actual.includes(each));
  return [
    ...(contains === undefined ? [] : containmentMismatches(contains, actual, `${path}.contains`)),
    ...(matches === undefined ? [] : regexMismatch(matches, actual, `${path}.matches`)),
    ...excluded.map((each) => ({
      path: `${path}.excludes`,
      problem: 'contains the value',
      expected: each,
      actual,
    })),
  ];
}

function artifactMismatches(
  { name, text, data, file }: ExpectedStepArtifact,
  artifact: Artifact | undefined,
  path: string,
): ExpectationMismatch[] {
  if (!artifact) return [{ path, problem: 'is missing', expected: name ?? text }];
  return [
    ...(name === undefined ? [] : textMismatches(name, artifact.name, `${path}.name`)),
    ...(text === undefined ? [] : textMismatches(text, textOf(artifact), `${path}.text`)),
    ...(data === undefined ? [] : compareValues(data, findData(artifact.parts), `${path}.data`)),
    ...(file ? fileMismatches(file, artifact.parts, `${path}.file`) : []),
  ];
}

function fileMismatches(
  { name, type, text, base64 }: NonNullable<ExpectedStepArtifact['file']>,
  parts: readonly Part[],
  path: string,
): ExpectationMismatch[] {
  const file = parts.find((part) => 'raw' in part || 'url' in part);
  if (!file) return [{ path, problem: 'is missing' }];
  const raw = 'raw' in file ? file : undefined;
  return [
    ...(name === undefined ? [] : textMismatches(name, file.filename, `${path}.name`)),
    ...(type === undefined ? [] : equalityMismatch(type, file.mediaType, `${path}.type`)),
    ...(text === undefined
      ? []
      : textMismatches(text, raw && new TextDecoder().decode(bytesOf(raw)), `${path}.text`)),
    ...(base64 === undefined ? [] : equalityMismatch(base64, raw?.raw, `${path}.base64`)),
  ];
}

function eventMismatches(
  expected: readonly ExpectedStepEvent[],
  { events }: StepResult,
  path: string,
): ExpectationMismatch[] {
  const { pass, message } = matchStream(events, expected.map(toExpectedEvent));
  return pass ? [] : [{ path, problem: message() }];
}

function toExpectedEvent(expected: ExpectedStepEvent): ExpectedEvent {
  if (typeof expected === 'string') return expected;
  if ('state' in expected) return { state: expected.state, ...toText(expected.text) };
  if ('message' in expected) return { message: toPattern(expected.message) };
  const { artifact, text, append, last_chunk: lastChunk } = expected;
  return {
    artifact: toPattern(artifact),
    ...toText(text),
    ...(append !== undefined && { append }),
    ...(lastChunk !== undefined && { lastChunk }),
  };
}

function toText(text: TextMatch | undefined): { text?: string | RegExp } {
  return text === undefined ? {} : { text: toPattern(text) };
}

/** Converts an expectation to a pattern with one condition in front of the other. */
function toPattern(expected: TextMatch): string | RegExp {
  if (typeof expected === 'string') return expected;
  const { contains = [], matches, excludes = [] } = expected;
  const conditions = [
    ...[contains].flat().map((each) => `(?=[^]*${escapeRegExp(each)})`),
    ...[excludes].flat().map((each) => `(?![^]*${escapeRegExp(each)})`),
    ...(matches === undefined ? [] : [`(?=[^]*(?:${matches}))`]),
  ];
  return new RegExp(`^${conditions.join('')}`);
}
