import type { LatencySummary } from '../../../load/latency-histogram.ts';
import type { LoadReport } from '../../../load/load-report.ts';
import type { ProtocolVersion, Transport } from '../../../protocol/card.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';

/** The endpoint that a load run used. */
interface MeasuredEndpoint {
  readonly url: string;
  readonly version: ProtocolVersion;
  readonly transport: Transport;
}

/** Formats a duration in milliseconds with three digits; `–` if it is undefined. */
export function formatMilliseconds(value: number | undefined): string {
  if (value === undefined) return '–';
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toFixed(digits)} ms`;
}

/** Formats the report of a load run as text. */
export function formatLoadReport(report: LoadReport, { url, version, transport }: MeasuredEndpoint): string {
  const { plan, loop, duration, requests, failed, unsent, abandoned, throughput, events } = report;
  const seconds = duration / 1_000;
  const manner =
    loop === 'open' ? `open loop, ${plan.rate} requests/s` : `closed loop, ${plan.connections} clients`;
  const fields: (readonly [string, string])[] = [
    ['Agent', `${url} (${version}, ${transport})`],
    ['Load', `${plan.operation}, ${manner}, ${seconds.toFixed(1)} s${report.isStopped ? ', stopped' : ''}`],
    ['Requests', `${requests}, ${failed} failed`],
    ['Throughput', `${throughput.toFixed(1)} successful requests/s`],
  ];
  if (plan.operation === 'stream')
    fields.push(['Events', `${events}, ${(events / Math.max(seconds, 0.001)).toFixed(1)}/s`]);
  fields.push(['Latency', formatSummary(report.latency)]);
  if (report.firstEvent) fields.push(['First event', formatSummary(report.firstEvent)]);
  if (unsent > 0)
    fields.push([
      'Not sent',
      `${unsent} due requests, because ${plan.connections} were open; latencies do not include them`,
    ]);
  if (abandoned > 0) fields.push(['No response', `${abandoned} open requests when the run was stopped`]);
  const { sendDelay } = report;
  if (sendDelay && sendDelay.p99 >= 5)
    fields.push(['Sent late', `p99 ${formatMilliseconds(sendDelay.p99)}, included in the latencies`]);
  const lines = fields.map(
    ([label, value]) => `${`${label}:`.padEnd(13)}${sanitizeForTerminal(value, 'line')}`,
  );
  return `${[...lines, ...formatErrors(report)].join('\n')}\n`;
}

function formatSummary(summary: LatencySummary | undefined): string {
  if (!summary) return '– (no successful request)';
  const names = ['p50', 'p90', 'p99', 'p999', 'max'] as const;
  return names
    .map((name) => `${name === 'p999' ? 'p99.9' : name} ${formatMilliseconds(summary[name])}`)
    .join(', ');
}

function formatErrors({ errors }: LoadReport): string[] {
  if (errors.length === 0) return [];
  const rows = errors.map(
    ({ reason, count, example }) => `  ${String(count).padStart(7)}  ${reason}: ${example}`,
  );
  return ['Errors:', ...rows.map((row) => sanitizeForTerminal(row, 'lines').replaceAll('\n', ' '))];
}
