/** What a follow-up ID stands for. */
export interface FollowUp {
  readonly agentName: string;
  readonly taskId: string;
  readonly contextId: string | undefined;
  /** The action that was called. */
  readonly action: string;
  /** Whether the agent asked something, waits for a proof of who calls, or is simply not done. */
  readonly kind: 'input' | 'auth' | 'running';
  /** Whose it is. */
  readonly userId: string;
  readonly sessionId: string | undefined;
}

/** Who wants to use a follow-up ID. */
export interface FollowUpClient {
  readonly userId: string;
  readonly sessionId: string | undefined;
}

/** What the keys of follow-ups begin with. */
export const followUpPrefix = 'a2a_follow_up:';

/** A value at once, or a promise of it. */
type Maybe<T> = T | Promise<T>;

/** Where follow-ups are kept until their callers come back. */
export interface FollowUpStore {
  /** @param key - `a2a_follow_up:<uuid>` @param ttl - for how many milliseconds it is kept */
  put(key: string, followUp: FollowUp, ttl: number): Maybe<void>;
  /** Takes one away, so that of two callers only one has it. @returns undefined when it is not there, too old, or another's */
  take(key: string, caller: FollowUpClient): Maybe<FollowUp | undefined>;
  close?(): Maybe<void>;
}

/** Tells whether a follow-up is for this caller: the same user, and the same session if it began in one. */
export function isOwnedBy({ userId, sessionId }: FollowUp, caller: FollowUpClient): boolean {
  return userId === caller.userId && (sessionId === undefined || sessionId === caller.sessionId);
}

/** How follow-ups are kept in memory. */
export interface MemoryFollowUpStoreOptions {
  /** How many are kept; the oldest give way. @defaultValue 10,000 */
  readonly max?: number;
  readonly clock?: { now(): number };
}

/** Keeps follow-ups in memory: a restart loses them. */
export function memoryFollowUpStore({
  max = 10_000,
  clock = Date,
}: MemoryFollowUpStoreOptions = {}): FollowUpStore {
  const kept = new Map<string, { readonly followUp: FollowUp; readonly until: number }>();
  return {
    put(key, followUp, ttl) {
      const now = clock.now();
      kept.delete(key);
      for (const [oldest, { until }] of kept) {
        if (until > now && kept.size < max) break;
        kept.delete(oldest);
      }
      kept.set(key, { followUp, until: now + ttl });
    },
    take(key, caller) {
      const found = kept.get(key);
      if (!found) return undefined;
      if (found.until <= clock.now()) kept.delete(key);
      else if (isOwnedBy(found.followUp, caller)) {
        kept.delete(key);
        return found.followUp;
      }
      return undefined;
    },
  };
}
