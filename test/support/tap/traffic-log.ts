import { Backlog } from '../../../src/tap/recorders/decode-queue.ts';
import type { Passage } from '../../../src/tap/traffic-record.ts';
import type { Tape } from '../../../src/tap/traffic-log.ts';

/** Everything on a tape, what still waits included. */
export function passagesOn(tape: Tape): readonly Passage[] {
  Backlog.of(tape).drain();
  return tape.after();
}

/** Waits for a passage, which may be there already. */
export function seenOn(tape: Tape, isWanted: (passage: Passage) => boolean): Promise<Passage> {
  const there = passagesOn(tape).find(isWanted);
  if (there) return Promise.resolve(there);
  return new Promise((resolve) => {
    const stop = tape.watch((passage) => {
      if (!isWanted(passage)) return;
      stop();
      resolve(passage);
    });
  });
}

/** Passages in short, such as `request caller → Sample 1.0 RPC send: hello`. */
export function inShort(passages: readonly Passage[]): string[] {
  return passages.map(({ kind, from, to, meaning }) => {
    const { version = '-', binding = '-', gist = '' } = meaning ?? {};
    return `${kind} ${from} → ${to} ${version} ${binding} ${gist}`;
  });
}
