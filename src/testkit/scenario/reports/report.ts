import type { ExpectationMismatch } from '../expectations/compare-values.ts';
import type { GatewayEvent } from '../harness/harness-types.ts';
import type { ScenarioResult } from '../run-scenarios.ts';
import { truncate } from '../../../primitives/text.ts';
import { statusText } from '../expectations/expect-content.ts';

/** Number of cases by outcome. */
export interface ScenarioSummary {
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts results by outcome. */
export function summarizeResults(results: readonly ScenarioResult[]): ScenarioSummary {
  const count = (outcome: ScenarioResult['outcome']): number =>
    results.filter((each) => each.outcome === outcome).length;
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
  return { total: results.length, passed, failed, skipped };
}

/** Text styles of a terminal. */
export interface TextStyles {
  readonly green: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
}

const plain = (text: string): string => text;

const plainStyles: TextStyles = { green: plain, red: plain, yellow: plain, dim: plain, bold: plain };

/** Formats the result of a case as one line. */
export function formatResultLine(
  { scenario, outcome, milliseconds, reason }: ScenarioResult,
  styles = plainStyles,
): string {
  const { id, file, line } = scenario;
  if (outcome === 'passed')
    return `${styles.green('passed ')} ${id} ${styles.dim(`(${Math.round(milliseconds)} ms)`)}`;
  if (outcome === 'skipped') return `${styles.yellow('skipped')} ${id}${styles.dim(`: ${reason ?? ''}`)}`;
  return `${styles.red('failed ')} ${id} ${styles.dim(`${file}:${line}`)}`;
}

/** Formats the summary of a run as one line. */
export function formatSummaryLine(
  { total, passed, failed, skipped }: ScenarioSummary,
  styles = plainStyles,
): string {
  const parts = [
    styles.green(`${passed} passed`),
    failed > 0 ? styles.red(`${failed} failed`) : `${failed} failed`,
    `${skipped} skipped`,
  ];
  return `${styles.bold(`${total} ${total === 1 ? 'case' : 'cases'}`)}: ${parts.join(', ')}`;
}

/** Formats a failed case: mismatches, received events and requests to the test agent. */
export function formatFailure(result: ScenarioResult, styles = plainStyles): string {
  const { scenario, reason, mismatches, capture } = result;
  const lines = [
    `${styles.red('failed')} ${styles.bold(scenario.id)} ${styles.dim(`${scenario.file}:${scenario.line}`)}`,
  ];
  if (scenario.spec.description !== undefined)
    lines.push(`  ${styles.dim(scenario.spec.description.trim())}`);
  if (reason !== undefined) lines.push(`  ${reason}`);
  for (const mismatch of mismatches) lines.push(...formatMismatch(mismatch, styles));
  if (capture) {
    lines.push(`  ${styles.bold('received events')}`);
    if (capture.events.length === 0) lines.push('    none');
    for (const event of capture.events) lines.push(`    ${formatEventLine(event)}`);
    if (!scenario.conversation) {
      lines.push(`  ${styles.bold('requests to the test agent')}`);
      if (capture.requests.length === 0) lines.push('    none');
    }
    for (const { at, path, authorization, apiKey, body } of capture.requests) {
      const credentials = [
        authorization === undefined ? '' : ' with Authorization',
        apiKey === undefined ? '' : ' with X-API-Key',
      ];
      lines.push(`    ${formatTime(at)} POST ${path}${credentials.join('')}`);
      if (body !== undefined)
        lines.push(`      ${truncate(JSON.stringify(body), maxBodyLength, { showLength: true })}`);
    }
    for (const { at, url, body } of capture.tokenRequests)
      lines.push(`    ${formatTime(at)} POST ${url}`, `      ${redactSecrets(body)}`);
  }
  return lines.join('\n');
}

function formatMismatch(
  { path, problem, expected, actual }: ExpectationMismatch,
  styles: TextStyles,
): string[] {
  const lines = [`  ${path}: ${problem}`];
  if (expected !== undefined)
    lines.push(...formatValueLines(expected).map((line) => styles.red(`    - ${line}`)));
  if (actual !== undefined || expected !== undefined)
    lines.push(...formatValueLines(actual).map((line) => styles.green(`    + ${line}`)));
  return lines;
}

/** Formats a value as lines. Single-line strings are quoted, so that leading and trailing spaces are visible. */
function formatValueLines(value: unknown): string[] {
  if (value === undefined) return ['(missing)'];
  const text =
    typeof value === 'string' && value.includes('\n') ? value : (JSON.stringify(value, undefined, 2) ?? '');
  const lines = text.split('\n');
  return lines.length > maxLines
    ? [...lines.slice(0, maxLines), `… ${lines.length - maxLines} more lines`]
    : lines;
}

const maxLines = 40;
const maxBodyLength = 2_000;

function formatEventLine(event: GatewayEvent): string {
  const at = formatTime(event.at);
  switch (event.type) {
    case 'status_update': {
      const text = JSON.stringify(statusText(event.status.message?.parts ?? []));
      return `${at} status_update ${event.status.state}${event.isFinal ? ' (final)' : ''} ${text}`;
    }
    case 'artifact_update':
      return `${at} artifact_update ${event.artifact.name ?? event.artifact.artifactId}`;
    case 'final_response':
      return `${at} final_response ${event.task.status.state} ${JSON.stringify(statusText(event.task.status.message?.parts ?? []))}`;
    case 'error':
      return `${at} error ${event.code} ${JSON.stringify(event.message)}`;
  }
}

function formatTime(milliseconds: number): string {
  return `${milliseconds.toFixed(0).padStart(5)} ms`;
}

/** Redacts secrets in the form body of a token request. */
function redactSecrets(form: string): string {
  return form.replaceAll(/((?:client_secret|password|refresh_token|assertion)=)[^&]*/g, '$1…');
}

/** Formats the results as JSON. */
export function scenarioJsonReport(results: readonly ScenarioResult[]): string {
  return `${JSON.stringify({ summary: summarizeResults(results), cases: results.map(toJsonCase) }, undefined, 2)}\n`;
}

function toJsonCase(result: ScenarioResult): object {
  const { id, file, line, spec } = result.scenario;
  const { description, tags } = spec;
  const { outcome, reason, mismatches, milliseconds, capture } = result;
  const entry = {
    id,
    file,
    line,
    description,
    tags,
    outcome,
    reason,
    milliseconds: Math.round(milliseconds),
  };
  if (outcome !== 'failed') return entry;
  const { events = [], requests = [], tokenRequests = [] } = capture ?? {};
  const redacted = tokenRequests.map((each) => ({ ...each, body: redactSecrets(each.body) }));
  return { ...entry, mismatches, events, requests, tokenRequests: redacted };
}
