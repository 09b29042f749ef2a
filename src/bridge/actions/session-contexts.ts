import { createHash } from 'node:crypto';
import { LruCache } from '../../artifacts/middleware/lru-cache.ts';

/** Who has a conversation with an agent. */
export interface SessionKey {
  readonly agentName: string;
  /** The user, where the host application knows several. */
  readonly userId: string | undefined;
  readonly sessionId: string | undefined;
}

/** Knows the context of each session: what the agent calls it, where the agent has a name of its own. */
export class SessionContexts {
  readonly #known: LruCache<string>;

  /** @param max - how many names of agents are remembered */
  constructor(max = 10_000) {
    this.#known = new LruCache(max);
  }

  /** The context to speak in; undefined leaves it to the agent. */
  of(conversation: SessionKey): string | undefined {
    const { sessionId, userId } = conversation;
    if (sessionId === undefined) return undefined;
    return (
      this.#known.get(keyOf(conversation)) ??
      (userId === undefined ? sessionId : contextOf(userId, sessionId))
    );
  }

  /** Notes what the agent calls it. */
  heard(conversation: SessionKey, contextId: string): void {
    if (conversation.sessionId === undefined || contextId === this.of(conversation)) return;
    this.#known.set(keyOf(conversation), contextId);
  }
}

function keyOf({ agentName, userId, sessionId }: SessionKey): string {
  return JSON.stringify([agentName, userId ?? null, sessionId]);
}

/** The same for the same, and never another user's, whatever the sessions are called. */
function contextOf(userId: string, sessionId: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([userId, sessionId]))
    .digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
