import type { A2AError } from '../../protocol/errors.ts';
import { AddressLimiter } from './address-limiter.ts';
import { clientAddressKey } from './client-address.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import { defaultLimits, limitExceeded } from './limits.ts';
import type { ServerOptions } from '../server-options.ts';
import { TokenBucket } from './token-bucket.ts';

/** Usage counters of one client. */
export interface ClientUsage {
  readonly key: string;
  streams: number;
  requests: number;
  bucket: TokenBucket | undefined;
}

/** Maximum number of idle clients that are tracked. */
const maxIdleClients = 10_000;

/** Number of clients that are checked for one to evict. */
const maxEvictionChecks = 16;

/** Enforces per-client limits on concurrent requests, open streams and request rate. Idle clients are evicted. */
export class ClientLimiter {
  readonly #clients = new Map<string, ClientUsage>();
  readonly #maxStreams: number;
  readonly #streamsPerClient: number;
  readonly #requestsPerClient: number;
  readonly #makeBucket: (() => TokenBucket) | undefined;
  readonly #clientKey: ((request: HttpServerRequest) => string | undefined) | undefined;
  readonly #now: () => number;
  /** False if one client may use all streams. */
  readonly #countsStreams: boolean;
  /** Shared counters if clients are not distinguished. */
  readonly #sharedUsage: ClientUsage = { key: '', streams: 0, requests: 0, bucket: undefined };
  readonly #addresses: AddressLimiter;
  #streams = 0;

  /** @param now - monotonic time in milliseconds. */
  constructor({ limits = {}, maxStreams }: ServerOptions, now: () => number = () => performance.now()) {
    this.#maxStreams = maxStreams ?? defaultLimits.maxStreams;
    this.#streamsPerClient = limits.streamsPerClient ?? defaultLimits.streamsPerClient;
    this.#requestsPerClient = limits.requestsPerClient ?? defaultLimits.requestsPerClient;
    this.#clientKey = limits.clientKey;
    this.#now = now;
    this.#addresses = new AddressLimiter(limits, now);
    const { rate } = limits;
    this.#countsStreams = this.#streamsPerClient < this.#maxStreams;
    if (rate) this.#makeBucket = () => new TokenBucket(rate, now());
  }

  /** Counts a request before authentication. @returns an error if its address exceeds a rate limit. */
  admit(request: HttpServerRequest): A2AError | undefined {
    return this.#addresses.isActive ? this.#addresses.admit(addressKey(request)) : undefined;
  }

  /** Counts a request with invalid credentials. */
  countInvalidCredentials(request: HttpServerRequest): void {
    this.#addresses.countFailure(addressKey(request));
  }

  /** Counts a request, readable or not, and returns an error if its client exceeds the rate limit. */
  takeRate(request: HttpServerRequest): A2AError | undefined {
    if (!this.#makeBucket) return undefined;
    const wait = this.#usageOf(request).bucket?.take(this.#now()) ?? 0;
    return wait === 0 ? undefined : limitExceeded('rate', 'Rate limit exceeded', wait);
  }

  /**
   * Counts a request with a single response.
   *
   * @returns the argument of {@link ClientLimiter.releaseRequest}; undefined if nothing is counted.
   * @throws {@link A2AError} `RESOURCE_EXHAUSTED` if a limit is exceeded.
   */
  acquireRequest(request: HttpServerRequest): ClientUsage | undefined {
    if (this.#requestsPerClient === Infinity) return undefined;
    const usage = this.#usageOf(request);
    if (usage.requests >= this.#requestsPerClient)
      throw this.#limitError(usage, 'requestsPerClient', 'Too many concurrent requests');
    usage.requests++;
    return usage;
  }

  releaseRequest(usage: ClientUsage): void {
    usage.requests--;
    this.#evictIfIdle(usage);
  }

  /**
   * Counts a stream.
   *
   * @returns the argument of {@link ClientLimiter.releaseStream}.
   * @throws {@link A2AError} `RESOURCE_EXHAUSTED` if a limit is exceeded.
   */
  acquireStream(request: HttpServerRequest): ClientUsage {
    if (this.#streams >= this.#maxStreams) throw limitExceeded('maxStreams', 'Too many open streams', 1);
    const usage = this.#countsStreams ? this.#usageOf(request) : this.#sharedUsage;
    if (usage.streams >= this.#streamsPerClient)
      throw this.#limitError(usage, 'streamsPerClient', 'Too many open streams for this client');
    usage.streams++;
    this.#streams++;
    return usage;
  }

  releaseStream(usage: ClientUsage): void {
    usage.streams--;
    this.#streams--;
    this.#evictIfIdle(usage);
  }

  get trackedClients(): number {
    return this.#clients.size;
  }

  #limitError(usage: ClientUsage, limit: string, message: string): A2AError {
    this.#evictIfIdle(usage);
    return limitExceeded(limit, message, 1);
  }

  #usageOf(request: HttpServerRequest): ClientUsage {
    // The prefix separates principal ids from addresses.
    const key = this.#clientKey?.(request) ?? `${request.authentication ? '@' : ''}${clientKey(request)}`;
    let usage = this.#clients.get(key);
    if (!usage) {
      if (this.#clients.size >= maxIdleClients) this.#evictOne();
      usage = { key, streams: 0, requests: 0, bucket: this.#makeBucket?.() };
      this.#clients.set(key, usage);
    }
    return usage;
  }

  /** Evicts an idle client, unless its rate limit must be remembered. */
  #evictIfIdle(usage: ClientUsage): void {
    if (usage.streams === 0 && usage.requests === 0 && !usage.bucket) this.#clients.delete(usage.key);
  }

  /** Evicts one idle client. The number of active clients is bounded by the connections. */
  #evictOne(): void {
    let checked = 0;
    for (const [key, usage] of this.#clients) {
      this.#clients.delete(key);
      if (usage.streams === 0 && usage.requests === 0) return;
      this.#clients.set(key, usage);
      if (++checked >= maxEvictionChecks) return;
    }
  }
}

/** Returns the principal of a client, or the key of its address without authentication. */
export function clientKey(request: HttpServerRequest): string {
  const { authentication } = request;
  if (!authentication) return addressKey(request);
  const { issuer, id } = authentication.principal;
  return issuer === undefined ? id : `${id} ${issuer}`;
}

/** Returns the key of the address of a client. */
function addressKey({ clientAddress, remoteAddress }: HttpServerRequest): string {
  const address = clientAddress ?? remoteAddress;
  return address === undefined ? '' : clientAddressKey(address);
}
