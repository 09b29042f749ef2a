import type { ProtocolVersion } from '../../../../src/protocol/card.ts';
import type { TrafficRecord, TrafficRecordKind } from '../../../../src/tap/traffic-record.ts';
import type { TaskCorrelation } from './model/task-correlation.ts';

/** A property of a record that needs attention. */
export type RecordMark = 'errors' | 'losses' | 'findings';

/** A filter. Missing or empty members match everything. */
export interface TrafficFilter {
  readonly text?: string;
  readonly party?: string;
  readonly version?: ProtocolVersion | '';
  readonly kind?: TrafficRecordKind | '';
  /** Matches records with at least one of them. */
  readonly marks?: ReadonlySet<RecordMark>;
  /** Hides card requests and health checks; a selected exchange is always complete. */
  readonly isWithoutCards?: boolean;
  /** All exchanges that refer to the task, including its first request. */
  readonly task?: string;
  readonly exchange?: string;
}

/** Returns true for an error response, by status or content. */
export function isError({ http, decoded: meaning }: TrafficRecord): boolean {
  return meaning?.isError === true || (http?.status ?? 0) >= 400;
}

/** Number of translation losses. */
export function lossCount({ kind, decoded: meaning }: TrafficRecord): number {
  return meaning?.losses?.length ?? (kind === 'loss' ? 1 : 0);
}

/** Number of findings. */
export function findingCount({ decoded: meaning }: TrafficRecord): number {
  return meaning?.findings?.length ?? 0;
}

const holds: { readonly [mark in RecordMark]: (passage: TrafficRecord) => boolean } = {
  errors: isError,
  losses: (passage) => lossCount(passage) > 0,
  findings: (passage) => findingCount(passage) > 0,
};

/** Returns true for periodic traffic: card requests and health checks. */
export function isBackgroundTraffic({ decoded: meaning, http }: TrafficRecord): boolean {
  if (meaning) return meaning.operation === 'card';
  return http?.method === 'GET' && /\/(?:healthz|readyz|metrics)$/.test(http.url);
}

/** Returns true if a filter hides at most periodic traffic. */
export function isEmpty({ marks, isWithoutCards: _usual, ...others }: TrafficFilter): boolean {
  return !Object.values(others).some(Boolean) && !marks?.size;
}

/** Compiles a filter to a predicate. */
export function createMatcher(
  filter: TrafficFilter,
  threads: TaskCorrelation,
): (passage: TrafficRecord) => boolean {
  const tests: ((passage: TrafficRecord) => boolean)[] = [];
  const { text, party, version, kind, marks, isWithoutCards, task, exchange } = filter;
  if (exchange) tests.push((each) => each.exchangeId === exchange);
  if (task) tests.push((each) => threads.isAbout(each.exchangeId, task));
  if (kind) tests.push((each) => each.kind === kind);
  if (party) tests.push(({ from, to }) => from === party || to === party);
  if (version) tests.push(({ decoded: meaning }) => meaning?.version === version);
  if (isWithoutCards && !exchange) tests.push((each) => !isBackgroundTraffic(each));
  if (marks?.size) tests.push((each) => [...marks].some((mark) => holds[mark](each)));
  if (text) tests.push(contains(text));
  return (passage) => tests.every((test) => test(passage));
}

/** A regular expression ignores case without copying every text. */
function contains(text: string): (passage: TrafficRecord) => boolean {
  const pattern = new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`), 'i');
  return ({ text, from, to, exchangeId, http, mesh, decoded }) =>
    [
      meaning?.summary,
      meaning?.operation,
      meaning?.taskId,
      from,
      to,
      trip,
      http?.url,
      mesh?.topic,
      text,
    ].some((each) => each !== undefined && pattern.test(each));
}
