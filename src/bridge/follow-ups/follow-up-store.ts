import type { MaybePromise } from '../../primitives/maybe-promise.ts';

/** Task that a follow-up ID continues. */
export interface FollowUp {
  readonly agentName: string;
  readonly taskId: string;
  readonly contextId: string | undefined;
  /** Name of the action that started the task. */
  readonly action: string;
  /** The task requires input, requires authentication, or is still running. */
  readonly kind: 'input' | 'auth' | 'running';
  /** User that received the follow-up ID. */
  readonly userId: string;
  readonly sessionId: string | undefined;
}

/** User and session that redeem a follow-up ID. */
export interface FollowUpClient {
  readonly userId: string;
  readonly sessionId: string | undefined;
}

/** Prefix of the keys of follow-ups. */
export const followUpPrefix = 'a2a_follow_up:';

/** Stores follow-ups until they are redeemed or expire. */
export interface FollowUpStore {
  /** @param key - `a2a_follow_up:<uuid>` @param ttl - lifetime in milliseconds */
  put(key: string, followUp: FollowUp, ttl: number): MaybePromise<void>;
  /** Removes and returns a follow-up, so that it can be redeemed only once. @returns undefined if it is unknown, expired or owned by another client */
  take(key: string, client: FollowUpClient): MaybePromise<FollowUp | undefined>;
  close?(): MaybePromise<void>;
}

/** Returns true for the same user and, if the follow-up has a session, the same session. */
export function isOwnedBy({ userId, sessionId }: FollowUp, client: FollowUpClient): boolean {
  return userId === client.userId && (sessionId === undefined || sessionId === client.sessionId);
}

/** Options of {@link memoryFollowUpStore}. */
export interface MemoryFollowUpStoreOptions {
  /** Maximum number of follow-ups; the oldest are evicted. @defaultValue 10,000 */
  readonly max?: number;
  readonly clock?: { now(): number };
}

/** Stores follow-ups in memory. They are lost on restart. */
export function memoryFollowUpStore({
  max = 10_000,
  clock = Date,
}: MemoryFollowUpStoreOptions = {}): FollowUpStore {
  const entries = new Map<string, { readonly followUp: FollowUp; readonly expiresAt: number }>();
  return {
    put(key, followUp, ttl) {
      const now = clock.now();
      entries.delete(key);
      for (const [oldest, { expiresAt }] of entries) {
        if (expiresAt > now && entries.size < max) break;
        entries.delete(oldest);
      }
      entries.set(key, { followUp, expiresAt: now + ttl });
    },
    take(key, client) {
      const found = entries.get(key);
      if (!found) return undefined;
      if (found.expiresAt <= clock.now()) entries.delete(key);
      else if (isOwnedBy(found.followUp, client)) {
        entries.delete(key);
        return found.followUp;
      }
      return undefined;
    },
  };
}
