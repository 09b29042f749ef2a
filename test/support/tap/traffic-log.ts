import { DecodeQueue } from '../../../src/tap/recorders/decode-queue.ts';
import type { TrafficRecord } from '../../../src/tap/traffic-record.ts';
import type { TrafficLog } from '../../../src/tap/traffic-log.ts';

/** Returns all records of a traffic log, including those that are not decoded yet. */
export function recordsIn(trafficLog: TrafficLog): readonly TrafficRecord[] {
  DecodeQueue.of(trafficLog).drain();
  return trafficLog.recordsAfter();
}

/** Returns the first existing or future record that matches. */
export function waitForRecord(
  trafficLog: TrafficLog,
  isWanted: (record: TrafficRecord) => boolean,
): Promise<TrafficRecord> {
  const existing = recordsIn(trafficLog).find(isWanted);
  if (existing) return Promise.resolve(existing);
  return new Promise((resolve) => {
    const stop = trafficLog.subscribe((record) => {
      if (!isWanted(record)) return;
      stop();
      resolve(record);
    });
  });
}

/** Summarizes records, such as `request client → Sample 1.0 JSONRPC send: hello`. */
export function summarizeRecords(records: readonly TrafficRecord[]): string[] {
  return records.map(({ kind, from, to, decoded }) => {
    const { version = '-', transport = '-', summary = '' } = decoded ?? {};
    return `${kind} ${from} → ${to} ${version} ${transport} ${summary}`;
  });
}
