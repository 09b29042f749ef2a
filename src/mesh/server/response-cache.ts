import type { LogSink } from '../../primitives/log.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import type { SentReply } from './mesh-reply.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';
import { type ProcessedRequest, RequestClaims } from './sharing/request-claims.ts';

interface CachedRequest {
  /** Resolves when the request has been processed, here or by another server. */
  readonly done: Promise<unknown>;
  isOver: boolean;
  sent?: SentReply;
}

/** Identity of a request among those of all clients. */
export interface RequestIdentity {
  readonly key: string;
  /** True if the request differs from an earlier one with the same key. */
  readonly isNew: boolean;
}

/**
 * Processes a request.
 *
 * @param save - saves the response for other servers, before it is published: a server that is killed in between does not
 * process the request again.
 */
export type ProcessRequest = (save?: SaveReply) => Promise<SentReply | undefined>;

/** Saves a response. Never rejects. */
export type SaveReply = (sent: SentReply) => Promise<void>;

/** Deduplicates requests: a repeated request is not processed again, and its cached response is sent again. */
export class ResponseCache {
  readonly #requests: LruMap<string, CachedRequest>;
  readonly #maxCharacters: number;
  readonly #log: LogSink;
  /** Undefined if this server processes all requests. */
  readonly #claims: RequestClaims | undefined;
  /** Requests with a cached response, oldest first. */
  readonly #withResponse = new Set<CachedRequest>();
  #characters = 0;

  constructor({ limits, clock, register, log }: MeshServerSettings) {
    this.#log = log;
    this.#claims = register && new RequestClaims(register, clock);
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
    run: ProcessRequest,
  ): Promise<SentReply | 'done' | undefined> {
    const known = isNew ? undefined : this.#requests.get(key);
    if (known?.isOver) return known.sent;
    if (known) {
      // The response to the concurrent duplicate is sent to the same client.
      await known.done;
      return 'done';
    }
    const processing = this.#claims ? this.#claimOrRun(this.#claims, { key, isNew }, run) : run();
    const request: CachedRequest = { done: processing, isOver: false };
    this.#requests.set(key, request);
    try {
      const result = await processing;
      const isElsewhere = result !== undefined && 'isConcurrent' in result;
      const sent = isElsewhere ? result.sent : result;
      if (sent) this.#store(request, sent);
      return isElsewhere && !result.isConcurrent ? sent : 'done';
    } catch (error) {
      // The register is not available.
      this.#requests.delete(key);
      throw error;
    } finally {
      request.isOver = true;
    }
  }

  async #claimOrRun(
    claims: RequestClaims,
    { key, isNew }: RequestIdentity,
    run: ProcessRequest,
  ): Promise<ProcessedRequest | SentReply | undefined> {
    const processed = await claims.claim(key, isNew);
    if (processed) return processed;
    let isSaved = false;
    const save = async (response: SentReply | undefined): Promise<void> => {
      isSaved = true;
      try {
        await claims.finish(key, response);
      } catch (error) {
        // Another server may process the request again; the agent recognizes its message.
        this.#log({ level: 'error', message: 'A response could not be saved for other servers', error });
      }
    };
    const sent = await run(save);
    if (!isSaved) await save(sent);
    return sent;
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
