import type { ProtocolVersion } from '../../../../src/protocol/card.ts';
import type { TrafficRecord, TrafficRecordKind } from '../../../../src/tap/traffic-record.ts';
import type { TaskCorrelation } from './model/task-correlation.ts';

/** Something about a passage that is worth a look. */
export type RecordMark = 'errors' | 'losses' | 'findings';

/** What is to be seen. A member that is missing or empty asks for nothing. */
export interface TrafficFilter {
  readonly text?: string;
  readonly party?: string;
  readonly version?: ProtocolVersion | '';
  readonly kind?: TrafficRecordKind | '';
  /** A passage is seen when one of them holds. */
  readonly marks?: ReadonlySet<RecordMark>;
  /** Leaves out what is asked for and announced all the time; a trip that is named is seen whole. */
  readonly isWithoutCards?: boolean;
  /** The whole of every trip that has to do with the task, its first request too. */
  readonly task?: string;
  readonly trip?: string;
}

/** True for an answer that is an error, by its status or by what it says. */
export function isError({ http, decoded: meaning }: TrafficRecord): boolean {
  return meaning?.isError === true || (http?.status ?? 0) >= 400;
}

/** How much a translation could not carry over. */
export function lossCount({ kind, decoded: meaning }: TrafficRecord): number {
  return meaning?.losses?.length ?? (kind === 'loss' ? 1 : 0);
}

/** How much is not legal. */
export function findingCount({ decoded: meaning }: TrafficRecord): number {
  return meaning?.findings?.length ?? 0;
}

const holds: { readonly [mark in RecordMark]: (passage: TrafficRecord) => boolean } = {
  errors: isError,
  losses: (passage) => lossCount(passage) > 0,
  findings: (passage) => findingCount(passage) > 0,
};

/** True for what parties do by themselves all the time: cards, and looks whether somebody is well. */
export function isBackgroundTraffic({ decoded: meaning, http }: TrafficRecord): boolean {
  if (meaning) return meaning.operation === 'card';
  return http?.method === 'GET' && /\/(?:healthz|readyz|metrics)$/.test(http.url);
}

/** True when a filter lets everything through that is no housekeeping. */
export function isEmpty({ marks, isWithoutCards: _usual, ...others }: TrafficFilter): boolean {
  return !Object.values(others).some(Boolean) && !marks?.size;
}

/** Makes of a filter a test for one passage. */
export function createMatcher(
  filter: TrafficFilter,
  threads: TaskCorrelation,
): (passage: TrafficRecord) => boolean {
  const tests: ((passage: TrafficRecord) => boolean)[] = [];
  const { text, party, version, kind, marks, isWithoutCards, task, trip } = filter;
  if (trip) tests.push((each) => each.exchangeId === trip);
  if (task) tests.push((each) => threads.isAbout(each.exchangeId, task));
  if (kind) tests.push((each) => each.kind === kind);
  if (party) tests.push(({ from, to }) => from === party || to === party);
  if (version) tests.push(({ decoded: meaning }) => meaning?.version === version);
  if (isWithoutCards && !trip) tests.push((each) => !isBackgroundTraffic(each));
  if (marks?.size) tests.push((each) => [...marks].some((mark) => holds[mark](each)));
  if (text) tests.push(contains(text));
  return (passage) => tests.every((test) => test(passage));
}

/** A pattern ignores case without making a copy of every text that it looks at. */
function contains(text: string): (passage: TrafficRecord) => boolean {
  const pattern = new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`), 'i');
  return ({ text, from, to, exchangeId: trip, http, mesh, decoded: meaning }) =>
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
