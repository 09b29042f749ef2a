import type { MaybePromise } from '../../primitives/maybe-promise.ts';

/** An entry of a {@link MeshRegister}. */
export interface MeshRegisterEntry {
  readonly value: string;
  /** True while the server that claimed the entry renews it. */
  readonly isClaimed: boolean;
}

/**
 * Remembers the tasks and requests of an agent for all servers that share its queue, or for all of its clients, so that any of
 * them handles any request of a conversation. Entries are evicted by age.
 */
export interface MeshRegister {
  get(key: string): MaybePromise<MeshRegisterEntry | undefined>;
  /** Stores a value and ends a claim. */
  set(key: string, value: string): MaybePromise<void>;
  /**
   * Claims an entry, unless it has a value already. A claim ends if it is not renewed for 10 seconds.
   *
   * @returns the existing entry; undefined if this server has claimed it.
   */
  claim(key: string): MaybePromise<MeshRegisterEntry | undefined>;
  /** Renews claims. */
  renew(keys: readonly string[]): MaybePromise<void>;
  /** Deletes an entry if it has this value. */
  delete(key: string, value: string): MaybePromise<void>;
}

/** Milliseconds after which a claim ends that was not renewed. */
export const meshClaimTimeout = 10_000;
