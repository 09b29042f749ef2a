import { createHash } from 'node:crypto';
import { compositeKey } from '../../primitives/composite-key.ts';
import { LruMap } from '../../primitives/lru-map.ts';

/** Key of a session with an agent. */
export interface SessionKey {
  readonly agentName: string;
  /** Undefined for host applications with a single user. */
  readonly userId: string | undefined;
  readonly sessionId: string | undefined;
}

/** Maps sessions to A2A contexts. Context ids that agents choose themselves are kept in an LRU map. */
export class SessionContexts {
  readonly #agentContexts: LruMap<string, string>;

  /** @param maxEntries - capacity for context ids that agents chose */
  constructor(maxEntries = 10_000) {
    this.#agentContexts = new LruMap({ maxEntries });
  }

  /** Returns the context id to send; undefined lets the agent choose. */
  get(session: SessionKey): string | undefined {
    const { sessionId, userId } = session;
    if (sessionId === undefined) return undefined;
    return (
      this.#agentContexts.get(mapKey(session)) ??
      (userId === undefined ? sessionId : deriveContextId(userId, sessionId))
    );
  }

  /** Stores the context id that the agent returned. */
  set(session: SessionKey, contextId: string): void {
    if (session.sessionId === undefined || contextId === this.get(session)) return;
    this.#agentContexts.set(mapKey(session), contextId);
  }
}

function mapKey({ agentName, userId, sessionId = '' }: SessionKey): string {
  return compositeKey(agentName, sessionId, ...(userId === undefined ? [] : [userId]));
}

/** Hashes user and session to a UUID, so that equal session ids of two users do not share a context. */
function deriveContextId(userId: string, sessionId: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([userId, sessionId]))
    .digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
