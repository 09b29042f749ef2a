import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';

/** The least of a timeline that it takes to find the other side. */
interface Kept {
  passages(isWanted: (passage: TrafficRecord) => boolean): TrafficRecord[];
  readonly threads: {
    taskOf(trip: string): string | undefined;
    isAbout(trip: string, taskId: string): boolean;
  };
}

/**
 * Finds the same thing on the other side of whoever translates: the passage of another trip of the same task that
 * came to the party that sent this one, or went on from the party that got it. Of several, the one that means the same
 * comes first, then the one that is nearest.
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

/** An answer in one piece on one side may be an event of a stream on the other, and a mesh has messages alone. */
function isAlike(one: TrafficRecord, other: TrafficRecord): boolean {
  const sorts = [one, other].map(({ kind }) => (kind === 'frame' ? 'response' : kind));
  return (
    sorts[0] === sorts[1] || (sorts.includes('message') && !sorts.includes('loss') && !sorts.includes('end'))
  );
}
