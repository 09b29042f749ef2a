import type { A2AError } from '../../protocol/errors.ts';
import { clientAddressKey } from './client-address.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import { defaultLimits, limitExceeded } from './limits.ts';
import type { ServerOptions } from '../server-options.ts';
import { TokenBucket } from './token-bucket.ts';

/** What one caller has taken. */
export interface ClientUsage {
  readonly key: string;
  streams: number;
  requests: number;
  bucket: TokenBucket | undefined;
}

/** How many callers are remembered that have nothing open. */
const maxKnown = 10_000;

/** The longest time that a caller is told to wait, in seconds, even if its bucket never fills. */
const maxWait = 86_400;

/** How many callers are looked at for one that can be forgotten. */
const maxLooks = 16;

/** Counts what each caller takes, and refuses what is too much. Callers that take nothing are forgotten. */
export class ClientLimiter {
  readonly #visitors = new Map<string, ClientUsage>();
  readonly #maxStreams: number;
  readonly #streamsPerCaller: number;
  readonly #requestsPerCaller: number;
  readonly #makeBucket: (() => TokenBucket) | undefined;
  readonly #callerOf: ((exchange: HttpServerRequest) => string | undefined) | undefined;
  readonly #now: () => number;
  /** False where one caller may have as many streams as there are. */
  readonly #countsStreams: boolean;
  /** Stands for all callers where they are not told apart. */
  readonly #everybody: ClientUsage = { key: '', streams: 0, requests: 0, bucket: undefined };
  #streams = 0;

  /**
   * @param now - milliseconds, from whenever.
   */
  constructor({ limits = {}, maxStreams }: ServerOptions, now: () => number = () => performance.now()) {
    this.#maxStreams = maxStreams ?? defaultLimits.maxStreams;
    this.#streamsPerCaller = limits.streamsPerClient ?? defaultLimits.streamsPerCaller;
    this.#requestsPerCaller = limits.requestsPerClient ?? defaultLimits.requestsPerCaller;
    this.#callerOf = limits.clientKey;
    this.#now = now;
    const { rate } = limits;
    this.#countsStreams = rate !== undefined || this.#streamsPerCaller < this.#maxStreams;
    if (rate) this.#makeBucket = () => new TokenBucket(rate, now());
  }

  /** Lets a request in that is answered once. @returns what {@link ClientLimiter.releaseRequest} takes; undefined where nothing is counted. */
  acquireRequest(exchange: HttpServerRequest): ClientUsage | undefined {
    if (!this.#makeBucket && this.#requestsPerCaller === Infinity) return undefined;
    const visitor = this.#visitorOf(exchange);
    this.#take(visitor);
    if (visitor.requests >= this.#requestsPerCaller)
      throw this.#refusal(visitor, 'requestsPerCaller', 'Too many requests wait for their answers');
    visitor.requests++;
    return visitor;
  }

  /** A request has its answer. */
  releaseRequest(visitor: ClientUsage): void {
    visitor.requests--;
    this.#forget(visitor);
  }

  /** Lets a stream in. @returns what {@link ClientLimiter.releaseStream} takes. */
  acquireStream(exchange: HttpServerRequest): ClientUsage {
    if (this.#streams >= this.#maxStreams)
      throw limitExceeded('maxStreams', 'Too many streams are open; close some, or try again later', 1);
    const visitor = this.#countsStreams ? this.#visitorOf(exchange) : this.#everybody;
    this.#take(visitor);
    if (visitor.streams >= this.#streamsPerCaller)
      throw this.#refusal(visitor, 'streamsPerCaller', 'You have too many streams open; close some');
    visitor.streams++;
    this.#streams++;
    return visitor;
  }

  /** A stream is over. */
  releaseStream(visitor: ClientUsage): void {
    visitor.streams--;
    this.#streams--;
    this.#forget(visitor);
  }

  /** How many callers are remembered. */
  get trackedClients(): number {
    return this.#visitors.size;
  }

  #take(visitor: ClientUsage): void {
    const wait = visitor.bucket?.take(this.#now()) ?? 0;
    if (wait > 0) throw limitExceeded('rate', 'You ask too often', Math.ceil(Math.min(wait, maxWait)));
  }

  #refusal(visitor: ClientUsage, limit: string, message: string): A2AError {
    this.#forget(visitor);
    return limitExceeded(limit, message, 1);
  }

  #visitorOf(exchange: HttpServerRequest): ClientUsage {
    // A name must not pass for an address.
    const key = this.#callerOf?.(exchange) ?? `${exchange.authentication ? '@' : ''}${clientKey(exchange)}`;
    let visitor = this.#visitors.get(key);
    if (!visitor) {
      if (this.#visitors.size >= maxKnown) this.#makeRoom();
      visitor = { key, streams: 0, requests: 0, bucket: this.#makeBucket?.() };
      this.#visitors.set(key, visitor);
    }
    return visitor;
  }

  /** Without a rate there is nothing to remember of a caller that has nothing open. */
  #forget(visitor: ClientUsage): void {
    if (visitor.streams === 0 && visitor.requests === 0 && !visitor.bucket)
      this.#visitors.delete(visitor.key);
  }

  /** Forgets one that has nothing open. Those that have are no more than there are connections. */
  #makeRoom(): void {
    let looks = 0;
    for (const [key, visitor] of this.#visitors) {
      this.#visitors.delete(key);
      if (visitor.streams === 0 && visitor.requests === 0) return;
      this.#visitors.set(key, visitor);
      if (++looks >= maxLooks) return;
    }
  }
}

/** Who it proved to be, else where it calls from. */
export function clientKey({ authentication: caller, remoteAddress }: HttpServerRequest): string {
  if (!caller) return remoteAddress === undefined ? '' : clientAddressKey(remoteAddress);
  const { issuer, id } = caller.principal;
  return issuer === undefined ? id : `${id} ${issuer}`;
}
