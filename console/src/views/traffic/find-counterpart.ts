import type { TranslationLoss } from '../../../../src/dialects/translation-loss.ts';
import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';

/** The part of a timeline that the search needs. */
interface RecordSource {
  records(isWanted: (record: TrafficRecord) => boolean): TrafficRecord[];
  readonly correlation: {
    taskOf(exchangeId: string): string | undefined;
    isAbout(exchangeId: string, taskId: string): boolean;
  };
}

/**
 * Finds the counterpart of a record on the other side of a gateway: a record of another exchange of the same task that
 * was received by its sender or sent by its receiver. Prefers equal decoded content, then the nearest in time.
 */
export function findCounterpart(record: TrafficRecord, source: RecordSource): TrafficRecord | undefined {
  const { correlation } = source;
  const taskId = correlation.taskOf(record.exchangeId);
  if (taskId === undefined) return undefined;
  const others = source.records(
    (each) =>
      each.exchangeId !== record.exchangeId &&
      isAlike(each, record) &&
      (each.to === record.from || each.from === record.to) &&
      correlation.isAbout(each.exchangeId, taskId),
  );
  const distance = (each: TrafficRecord): number =>
    Math.abs(each.sequence - record.sequence) + (each.decoded?.summary === record.decoded?.summary ? 0 : 1e9);
  return others.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** A non-streaming response on one side may be a stream event on the other, and a mesh has only messages. */
function isAlike(one: TrafficRecord, other: TrafficRecord): boolean {
  const sorts = [one, other].map(({ kind }) => (kind === 'frame' ? 'response' : kind));
  return (
    sorts[0] === sorts[1] || (sorts.includes('message') && !sorts.includes('loss') && !sorts.includes('end'))
  );
}

/** Milliseconds between a message and the record of what its translation lost. */
const maxLossDistance = 100;

/** Returns the losses of a translation between two records: those of their decoding, and those recorded by a gateway. */
export function lossesBetween(
  one: TrafficRecord,
  other: TrafficRecord,
  source: Pick<RecordSource, 'records'>,
): readonly TranslationLoss[] {
  const [first, last] = [Math.min(one.at, other.at), Math.max(one.at, other.at)];
  const recorded = source.records(
    ({ kind, at, decoded }) =>
      kind === 'loss' &&
      decoded?.operation === one.decoded?.operation &&
      at >= first - maxLossDistance &&
      at <= last + maxLossDistance,
  );
  return [one, other, ...recorded].flatMap(({ decoded }) => decoded?.losses ?? []);
}
