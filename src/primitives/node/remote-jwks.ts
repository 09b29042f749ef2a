/** Finds the key of a token, as the key resolvers of `jose` do. */
type ResolveKey<H, T, K> = (header: H, token: T) => Promise<K>;

/** Options of {@link RemoteJwks}. All times are in milliseconds. */
export interface RemoteJwksOptions<H, T, K> {
  /** Fetches the key set and returns a resolver for it. */
  readonly load: () => Promise<ResolveKey<H, T, K>>;
  readonly now: () => number;
  /** Age at which the key set is fetched again. @defaultValue unlimited */
  readonly maxAge?: number;
  /** Age up to which the key set is used while fetching fails. @defaultValue unlimited */
  readonly maxStaleAge?: number;
}

/** Delay between fetches: tokens with invented key ids must not cause a request each. */
const minInterval = 30_000;
/** The same while there is no key set. */
const minIntervalWithoutKeys = 1_000;

/** Cached key set of another server. It is fetched again for unknown key ids, at most every 30 seconds. */
export class RemoteJwks<H, T, K> {
  readonly #options: RemoteJwksOptions<H, T, K>;
  #resolve: ResolveKey<H, T, K> | undefined;
  #error: unknown;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;

  constructor(options: RemoteJwksOptions<H, T, K>) {
    this.#options = options;
  }

  /** Resolves to the key of a token; rejects with the error of `load` if there is no key set. */
  readonly find: ResolveKey<H, T, K> = async (header, token) => {
    const { now, maxAge = Infinity } = this.#options;
    if (!this.#resolve || now() - this.#loadedAt > maxAge) await this.#refresh();
    const resolve = this.#resolve;
    if (!resolve) throw this.#error;
    try {
      return await resolve(header, token);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error;
      // The issuer may have rotated its keys.
      await this.#refresh();
      if (this.#resolve === undefined || this.#resolve === resolve) throw error;
      return this.#resolve(header, token);
    }
  };

  async #refresh(): Promise<void> {
    const interval = this.#resolve ? minInterval : minIntervalWithoutKeys;
    if (!this.#loading && this.#options.now() - this.#attemptedAt < interval) return;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  async #load(): Promise<void> {
    const { load, now, maxStaleAge = Infinity } = this.#options;
    this.#attemptedAt = now();
    try {
      this.#resolve = await load();
      this.#loadedAt = now();
    } catch (error) {
      this.#error = error;
      if (now() - this.#loadedAt > maxStaleAge) this.#resolve = undefined;
    }
  }
}
