import type { StreamEvent } from '../../protocol/event.ts';

/** Larger event ids are timestamps rather than sequence numbers. */
const maxSequence = 1_000_000_000;

/** Compares events without their sequence numbers, which the decoder assigns. */
export function haveSameContent(previous: readonly StreamEvent[], events: readonly StreamEvent[]): boolean {
  const serialize = (list: readonly StreamEvent[]): string =>
    JSON.stringify(list.map((event) => ({ ...event, sequence: undefined })));
  return serialize(previous) === serialize(events);
}

/** Returns the sequence number in an event id; undefined if it is none. */
export function parseSequence(id: string): number | undefined {
  if (!/^\d{1,9}$/.test(id)) return undefined;
  const sequence = Number(id);
  return sequence < maxSequence ? sequence : undefined;
}
