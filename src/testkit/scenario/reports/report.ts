import type { ExpectationMismatch } from '../expectations/compare-values.ts';
import type { GatewayEvent } from '../harness/harness-types.ts';
import type { ScenarioResult } from '../run-scenarios.ts';
import { statusText } from '../expectations/expect-content.ts';

/** How many cases ended how. */
export interface ScenarioSummary {
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts results. */
export function summarizeResults(results: readonly ScenarioResult[]): ScenarioSummary {
  const count = (outcome: ScenarioResult['outcome']): number =>
    results.filter((each) => each.outcome === outcome).length;
  return {
    total: results.length,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
  };
}

/** What a text is dressed in, where colours are wanted. */
export interface TextStyles {
  readonly green: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
}

const plainly = (text: string): string => text;

/** No colours. */
const unpainted: TextStyles = {
  green: plainly,
  red: plainly,
  yellow: plainly,
  dim: plainly,
  bold: plainly,
};

/** One line for a case that ended. */
export function formatResultLine(
  { scenario, outcome, milliseconds, reason }: ScenarioResult,
  paint = unpainted,
): string {
  const { id, file, line } = scenario;
  if (outcome === 'passed')
    return `${paint.green('passed ')} ${id} ${paint.dim(`(${Math.round(milliseconds)} ms)`)}`;
  if (outcome === 'skipped') return `${paint.yellow('skipped')} ${id}${paint.dim(`: ${reason ?? ''}`)}`;
  return `${paint.red('failed ')} ${id} ${paint.dim(`${file}:${line}`)}`;
}

/** The last line of a run. */
export function formatSummaryLine(
  { total, passed, failed, skipped }: ScenarioSummary,
  paint = unpainted,
): string {
  const parts = [
    paint.green(`${passed} passed`),
    failed > 0 ? paint.red(`${failed} failed`) : `${failed} failed`,
    `${skipped} skipped`,
  ];
  return `${paint.bold(`${total} ${total === 1 ? 'case' : 'cases'}`)}: ${parts.join(', ')}`;
}

/** Everything that a person needs to know about a case that failed: what differs, what happened, what was asked. */
export function formatFailure(result: ScenarioResult, paint = unpainted): string {
  const { scenario, reason, mismatches: differences, capture } = result;
  const lines = [
    `${paint.red('failed')} ${paint.bold(scenario.id)} ${paint.dim(`${scenario.file}:${scenario.line}`)}`,
  ];
  if (scenario.spec.description !== undefined) lines.push(`  ${paint.dim(scenario.spec.description.trim())}`);
  if (reason !== undefined) lines.push(`  ${reason}`);
  for (const difference of differences) lines.push(...differenceLines(difference, paint));
  if (capture) {
    lines.push(`  ${paint.bold('what came out')}`);
    if (capture.events.length === 0) lines.push('    nothing');
    for (const event of capture.events) lines.push(`    ${timelineOf(event)}`);
    lines.push(`  ${paint.bold('what the test agent was asked')}`);
    if (capture.requests.length === 0) lines.push('    nothing');
    for (const { at, path, authorization, apiKey, body } of capture.requests) {
      const proof = [
        authorization === undefined ? '' : ' with Authorization',
        apiKey === undefined ? '' : ' with X-API-Key',
      ];
      lines.push(`    ${stamp(at)} POST ${path}${proof.join('')}`);
      if (body !== undefined) lines.push(`      ${shortened(JSON.stringify(body))}`);
    }
    for (const { at, url, body } of capture.tokenRequests)
      lines.push(`    ${stamp(at)} POST ${url}`, `      ${withoutSecrets(body)}`);
  }
  return lines.join('\n');
}

function differenceLines(
  { path, problem, expected, actual }: ExpectationMismatch,
  paint: TextStyles,
): string[] {
  const lines = [`  ${path}: ${problem}`];
  if (expected !== undefined) lines.push(...told(expected).map((line) => paint.red(`    - ${line}`)));
  if (actual !== undefined || expected !== undefined)
    lines.push(...told(actual).map((line) => paint.green(`    + ${line}`)));
  return lines;
}

/** A value as lines. A text of one line is quoted, so that blanks at its ends are seen. */
function told(value: unknown): string[] {
  if (value === undefined) return ['(nothing)'];
  const text =
    typeof value === 'string' && value.includes('\n') ? value : (JSON.stringify(value, undefined, 2) ?? '');
  const lines = text.split('\n');
  return lines.length > maxLines
    ? [...lines.slice(0, maxLines), `… ${lines.length - maxLines} more lines`]
    : lines;
}

const maxLines = 40;
const maxWidth = 2_000;

function shortened(text: string): string {
  return text.length > maxWidth ? `${text.slice(0, maxWidth)}… (${text.length} characters)` : text;
}

/** One line for an event. */
function timelineOf(event: GatewayEvent): string {
  const at = stamp(event.at);
  switch (event.type) {
    case 'status_update': {
      const words = JSON.stringify(statusText(event.status.message?.parts ?? []));
      return `${at} status_update ${event.status.state}${event.isFinal ? ' (final)' : ''} ${words}`;
    }
    case 'artifact_update':
      return `${at} artifact_update ${event.artifact.name ?? event.artifact.artifactId}`;
    case 'final_response':
      return `${at} final_response ${event.task.status.state} ${JSON.stringify(statusText(event.task.status.message?.parts ?? []))}`;
    case 'error':
      return `${at} error ${event.code} ${JSON.stringify(event.message)}`;
  }
}

function stamp(milliseconds: number): string {
  return `${milliseconds.toFixed(0).padStart(5)} ms`;
}

/** The form of a request for a token, without what must not be in a log. */
function withoutSecrets(form: string): string {
  return form.replaceAll(/((?:client_secret|password|refresh_token|assertion)=)[^&]*/g, '$1…');
}

/** The results for a program. */
export function scenarioJsonReport(results: readonly ScenarioResult[]): string {
  return `${JSON.stringify({ summary: summarizeResults(results), cases: results.map(entryOf) }, undefined, 2)}\n`;
}

function entryOf({
  scenario,
  outcome,
  reason,
  mismatches: differences,
  milliseconds,
  capture,
}: ScenarioResult): object {
  const { id, file, line, spec: words } = scenario;
  const entry = {
    id,
    file,
    line,
    description: words.description,
    tags: words.tags,
    outcome,
    reason,
    milliseconds: Math.round(milliseconds),
  };
  if (outcome !== 'failed') return entry;
  return {
    ...entry,
    differences,
    events: capture?.events ?? [],
    requests: capture?.requests ?? [],
    tokenRequests: (capture?.tokenRequests ?? []).map((each) => ({
      ...each,
      body: withoutSecrets(each.body),
    })),
  };
}
