import { expect } from 'vitest';
import type { ReceivedPost } from './test-webhook.ts';

/** Returns the delivered sequence numbers by task and webhook, without duplicates. Fails if the order is wrong. */
export function deliveredSequences(posted: readonly ReceivedPost[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const { id } of posted) {
    const end = id.lastIndexOf(':');
    const story = id.slice(0, end);
    const place = Number(id.slice(end + 1));
    const before = places.get(story) ?? [];
    if (before.at(-1) === place) continue;
    expect(place).toBeGreaterThan(before.at(-1) ?? 0);
    places.set(story, [...before, place]);
  }
  return places;
}
