import type { ProtocolVersion } from '../../../../src/protocol/card.ts';
import { testClients } from '../../../../src/tap/participants.ts';
import type { TrafficRecord, TrafficRecordKind } from '../../../../src/tap/traffic-record.ts';
import type { TaskCorrelation } from './model/task-correlation.ts';

/** A property of a record that needs attention. */
export type RecordMark = 'errors' | 'losses' | 'findings';

/** A filter. Missing or empty members match everything. */
export interface TrafficFilter {
  readonly text?: string;
  readonly participant?: string;
  readonly version?: ProtocolVersion | '';
  readonly kind?: TrafficRecordKind | '';
  /** Matches records with at least one of them. */
  readonly marks?: ReadonlySet<RecordMark>;
  /** Hides card requests and health checks; a selected exchange is always complete. */
  readonly isWithoutCards?: boolean;
  /** Hides the requests of conformance tests and load runs, and all exchanges about their tasks. */
  readonly isWithoutTests?: boolean;
  /** All exchanges that refer to the task, including its first request. */
  readonly task?: string;
  readonly exchange?: string;
}

/** Returns true for an error response, by status or content. */
export function isError({ http, decoded }: TrafficRecord): boolean {
  return decoded?.isError === true || (http?.status ?? 0) >= 400;
}

/** Number of translation losses. */
export function lossCount({ kind, decoded }: TrafficRecord): number {
  return decoded?.losses?.length ?? (kind === 'loss' ? 1 : 0);
}

/** Number of findings. */
export function findingCount({ decoded }: TrafficRecord): number {
  return decoded?.findings?.length ?? 0;
}

const holds: { readonly [mark in RecordMark]: (record: TrafficRecord) => boolean } = {
  errors: isError,
  losses: (record) => lossCount(record) > 0,
  findings: (record) => findingCount(record) > 0,
};

/** Returns true for periodic traffic: card requests and health checks. */
export function isBackgroundTraffic({ decoded, http }: TrafficRecord): boolean {
  if (decoded) return decoded.operation === 'card';
  return http?.method === 'GET' && /\/(?:healthz|readyz|metrics)$/.test(http.url);
}

/** Returns true if a filter hides at most periodic traffic. */
export function isEmpty({
  marks,
  isWithoutCards: _usual,
  isWithoutTests: _alsoUsual,
  ...others
}: TrafficFilter): boolean {
  return !Object.values(others).some(Boolean) && !marks?.size;
}

/** Compiles a filter to a predicate. */
export function createMatcher(
  filter: TrafficFilter,
  correlation: TaskCorrelation,
): (record: TrafficRecord) => boolean {
  const tests: ((record: TrafficRecord) => boolean)[] = [];
  const { text, participant, version, kind, marks, isWithoutCards, isWithoutTests, task, exchange } = filter;
  if (exchange) tests.push((each) => each.exchangeId === exchange);
  if (task) tests.push((each) => correlation.isAbout(each.exchangeId, task));
  if (kind) tests.push((each) => each.kind === kind);
  if (participant) tests.push(({ from, to }) => from === participant || to === participant);
  if (version) tests.push(({ decoded }) => decoded?.version === version);
  if (isWithoutCards && !exchange) tests.push((each) => !isBackgroundTraffic(each));
  if (isWithoutTests && !exchange && !task && !testClients.has(participant ?? ''))
    tests.push(({ exchangeId }) => !correlation.isTest(exchangeId));
  if (marks?.size) tests.push((each) => [...marks].some((mark) => holds[mark](each)));
  if (text) tests.push(contains(text));
  return (record) => tests.every((test) => test(record));
}

/** A regular expression ignores case without copying every text. */
function contains(text: string): (record: TrafficRecord) => boolean {
  const pattern = new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`), 'i');
  return ({ text, from, to, exchangeId, http, mesh, decoded }) =>
    [
      decoded?.summary,
      decoded?.operation,
      decoded?.taskId,
      from,
      to,
      exchangeId,
      http?.url,
      mesh?.topic,
      text,
    ].some((each) => each !== undefined && pattern.test(each));
}
