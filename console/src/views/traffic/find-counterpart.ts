import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';

/** The part of a timeline that the search needs. */
interface Kept {
  passages(isWanted: (passage: TrafficRecord) => boolean): TrafficRecord[];
  readonly threads: {
    taskOf(trip: string): string | undefined;
    isAbout(trip: string, taskId: string): boolean;
  };
}

/**
 * Finds the counterpart of a record on the other side of a gateway: a record of another exchange of the same task that
 * was received by its sender or sent by its receiver. Prefers equal decoded content, then the nearest in time.
 */
export function findCounterpart(passage: TrafficRecord, kept: Kept): TrafficRecord | undefined {
  const { threads } = kept;
  const taskId = threads.taskOf(passage.exchangeId);
  if (taskId === undefined) return undefined;
  const others = kept.passages(
    (each) =>
      each.exchangeId !== passage.exchangeId &&
      isAlike(each, passage) &&
      (each.to === passage.from || each.from === passage.to) &&
      threads.isAbout(each.exchangeId, taskId),
  );
  const distance = (each: TrafficRecord): number =>
    Math.abs(each.sequence - passage.sequence) +
    (each.decoded?.summary === passage.decoded?.summary ? 0 : 1e9);
  return others.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** A non-streaming response on one side may be a stream event on the other, and a mesh has only messages. */
function isAlike(one: TrafficRecord, other: TrafficRecord): boolean {
  const sorts = [one, other].map(({ kind }) => (kind === 'frame' ? 'response' : kind));
  return (
    sorts[0] === sorts[1] || (sorts.includes('message') && !sorts.includes('loss') && !sorts.includes('end'))
  );
}
