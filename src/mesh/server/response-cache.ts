import { LruMap } from '../../primitives/lru-map.ts';
import type { SentReply } from './mesh-reply.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';

interface CachedRequest {
  readonly done: Promise<SentReply | undefined>;
  isOver: boolean;
  sent?: SentReply;
}

/** Identity of a request among those of all clients. */
export interface RequestIdentity {
  readonly key: string;
  /** True if the request differs from an earlier one with the same key. */
  readonly isNew: boolean;
}

/** Deduplicates requests: a repeated request is not processed again, and its cached response is sent again. */
export class ResponseCache {
  readonly #requests: LruMap<string, CachedRequest>;
  readonly #maxCharacters: number;
  /** Requests with a cached response, oldest first. */
  readonly #withResponse = new Set<CachedRequest>();
  #characters = 0;

  constructor({ limits, clock }: MeshServerSettings) {
    this.#requests = new LruMap({ maxEntries: limits.tasks, maxAge: limits.age, clock });
    this.#maxCharacters = limits.cachedResponses;
  }

  /**
   * Processes a request unless it is a duplicate.
   *
   * @returns `done` if it was processed by this call or by a concurrent duplicate; else the cached response of an earlier
   * duplicate, or undefined if it was evicted.
   */
  async getOrRun(
    { key, isNew }: RequestIdentity,
    run: () => Promise<SentReply | undefined>,
  ): Promise<SentReply | 'done' | undefined> {
    const known = isNew ? undefined : this.#requests.get(key);
    if (known?.isOver) return known.sent;
    if (known) {
      // The response to the concurrent duplicate is sent to the same client.
      await known.done;
      return 'done';
    }
    const request: CachedRequest = { done: run(), isOver: false };
    this.#requests.set(key, request);
    const sent = await request.done;
    request.isOver = true;
    if (sent) this.#store(request, sent);
    return 'done';
  }

  #store(request: CachedRequest, sent: SentReply): void {
    if (sent.payload.length > this.#maxCharacters / 4) return;
    request.sent = sent;
    this.#withResponse.add(request);
    this.#characters += sent.payload.length;
    for (const oldest of this.#withResponse) {
      if (this.#characters <= this.#maxCharacters) return;
      this.#withResponse.delete(oldest);
      this.#characters -= oldest.sent?.payload.length ?? 0;
      delete oldest.sent;
    }
  }
}
