import type { TrafficRecord, TrafficRecordKind } from '../../../../src/tap/traffic-record.ts';
import { formatClockTime, formatCountedNoun } from '../../components/format-units.ts';
import { findingCount, isError, lossCount } from './filter.ts';
import { parseUrl } from '../../../../src/primitives/web/parse-url.ts';

/** Display names of the record kinds. */
export const kindNames: { readonly [kind in TrafficRecordKind]: string } = {
  request: 'request',
  response: 'answer',
  frame: 'stream event',
  end: 'end',
  message: 'mesh message',
  loss: 'loss',
};

/** The short text of a record. */
export function recordSummary({ kind, decoded, http, mesh, text }: TrafficRecord): string {
  if (decoded?.summary) return decoded.summary;
  if (kind === 'end') return text || 'end';
  if (kind === 'request' && http) return `${http.method} ${pathOf(http.url)}`;
  if (http?.status !== undefined) return `HTTP ${http.status}`;
  return mesh?.topic ?? kindNames[kind];
}

function pathOf(url: string): string {
  return parseUrl(url)?.pathname ?? url;
}

/** One row as a sentence, for screen readers. */
export function accessibleLabel(record: TrafficRecord): string {
  const { at, kind, from, to, http, decoded } = record;
  const losses = lossCount(record);
  const findings = findingCount(record);
  return [
    formatClockTime(at),
    `${from} to ${to}`,
    `${kindNames[kind]} ${recordSummary(record)}`,
    ...(decoded?.version === undefined ? [] : [`version ${decoded.version}`]),
    ...(http?.status === undefined ? [] : [`status ${http.status}`]),
    ...(isError(record) ? ['error'] : []),
    ...(losses > 0 ? [formatCountedNoun(losses, 'loss', 'losses')] : []),
    ...(findings > 0 ? [formatCountedNoun(findings, 'finding', 'findings')] : []),
  ].join(', ');
}
