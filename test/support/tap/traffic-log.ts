import { DecodeQueue } from '../../../src/tap/recorders/decode-queue.ts';
import type { TrafficRecord } from '../../../src/tap/traffic-record.ts';
import type { TrafficLog } from '../../../src/tap/traffic-log.ts';

/** Everything on a tape, what still waits included. */
export function recordsIn(tape: TrafficLog): readonly TrafficRecord[] {
  DecodeQueue.of(tape).drain();
  return tape.recordsAfter();
}

/** Waits for a passage, which may be there already. */
export function waitForRecord(
  tape: TrafficLog,
  isWanted: (passage: TrafficRecord) => boolean,
): Promise<TrafficRecord> {
  const there = recordsIn(tape).find(isWanted);
  if (there) return Promise.resolve(there);
  return new Promise((resolve) => {
    const stop = tape.subscribe((passage) => {
      if (!isWanted(passage)) return;
      stop();
      resolve(passage);
    });
  });
}

/** Passages in short, such as `request caller → Sample 1.0 RPC send: hello`. */
export function summarizeRecords(passages: readonly TrafficRecord[]): string[] {
  return passages.map(({ kind, from, to, decoded: meaning }) => {
    const { version = '-', binding = '-', summary: gist = '' } = meaning ?? {};
    return `${kind} ${from} → ${to} ${version} ${binding} ${gist}`;
  });
}
