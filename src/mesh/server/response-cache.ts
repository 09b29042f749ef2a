import { createHash } from 'node:crypto';
import { ExpiringMap } from '../expiring-map.ts';
import type { SentReply } from './mesh-reply.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';

/** A request that was seen, and what became of it. */
interface Seen {
  readonly done: Promise<SentReply | undefined>;
  isOver: boolean;
  sent?: SentReply;
}

/** Remembers requests and their answers, so that one that comes again is not worked on again. */
export class ResponseCache {
  readonly #seen: ExpiringMap<Seen>;
  readonly #budget: number;
  /** Those whose answers are kept, oldest first. */
  readonly #kept = new Set<Seen>();
  #characters = 0;

  constructor({ limits, clock }: MeshServerSettings) {
    this.#seen = new ExpiringMap({ size: limits.tasks, age: limits.age, clock });
    this.#budget = limits.cachedResponses;
  }

  /**
   * Works on a request unless that was done or is being done.
   *
   * @returns `done` when it was worked on now, by this call or by the one that it repeats; else the answer from back
   * then, or undefined where it is not kept any more.
   */
  async once(
    user: string,
    payload: string,
    work: () => Promise<SentReply | undefined>,
  ): Promise<SentReply | 'done' | undefined> {
    const key = createHash('sha256').update(`${user}\n${payload}`).digest('base64');
    const known = this.#seen.get(key);
    if (known?.isOver) return known.sent;
    if (known) {
      // Whoever waits for the first one sees its answer go out.
      await known.done;
      return 'done';
    }
    const seen: Seen = { done: work(), isOver: false };
    this.#seen.set(key, seen);
    const sent = await seen.done;
    seen.isOver = true;
    if (sent) this.#keep(seen, sent);
    return 'done';
  }

  #keep(seen: Seen, sent: SentReply): void {
    if (sent.payload.length > this.#budget / 4) return;
    seen.sent = sent;
    this.#kept.add(seen);
    this.#characters += sent.payload.length;
    for (const oldest of this.#kept) {
      if (this.#characters <= this.#budget) return;
      this.#kept.delete(oldest);
      this.#characters -= oldest.sent?.payload.length ?? 0;
      delete oldest.sent;
    }
  }
}
