import { hash } from 'node:crypto';
import { type Credentials, exchangeToken, type TokenExchangeOptions } from '../../client/credentials.ts';
import type { IssuedToken } from '../../client/token-request.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';

/** Exchanged tokens that are kept, of all callers of one agent. */
const maxExchanged = 10_000;

/** Returns the bearer token of the client that caused a call. */
function tokenOf({ callerToken, headers }: CallContext): string | undefined {
  if (callerToken) return callerToken.reveal();
  const authorization = headers?.['authorization'];
  return typeof authorization === 'string' ? /^bearer +(\S+) *$/i.exec(authorization)?.[1] : undefined;
}

/** Sends the token of the caller to the agent. A call without one is sent without credentials. */
export function forwardedToken(): Credentials {
  return {
    headers({ call, operation }): Record<string, string> {
      const token = operation === 'card' ? undefined : tokenOf(call);
      return token === undefined ? {} : { authorization: `Bearer ${token}` };
    },
  };
}

interface Exchanged {
  readonly key: string;
  readonly token: Promise<IssuedToken>;
  /** Time after which the token is exchanged again; unknown while it is requested. */
  until: number;
}

/** Exchanges the token of the caller for one of the agent (RFC 8693), and keeps it until it expires. */
export function exchangedToken(options: TokenExchangeOptions): Credentials {
  const { now = Date.now } = options;
  const cache = new LruMap<string, Exchanged>({ maxEntries: maxExchanged });
  const exchange = async (subject: string, http: HttpClient): Promise<IssuedToken> => {
    // The cache does not contain tokens of callers.
    const key = hash('sha256', subject);
    const known = cache.get(key);
    if (known && now() < known.until) return known.token;
    const entry: Exchanged = { key, token: exchangeToken(options, subject, http), until: Infinity };
    cache.set(key, entry);
    try {
      const token = await entry.token;
      entry.until = token.until;
      return token;
    } catch (thrown) {
      if (cache.get(key) === entry) cache.delete(key);
      throw thrown;
    }
  };
  return {
    async headers({ call, operation, http }): Promise<Record<string, string>> {
      // Health checks read the card for no caller.
      if (operation === 'card') return {};
      const subject = tokenOf(call);
      if (subject === undefined)
        throw new A2AError('PERMISSION_DENIED', 'The agent can be called with a bearer token only');
      return { authorization: (await exchange(subject, http)).authorization };
    },
    async refresh({ headers }) {
      for (const entry of cache.values()) {
        const token = await entry.token.catch(() => undefined);
        if (token?.authorization === headers.authorization) cache.delete(entry.key);
      }
      return headers.authorization !== undefined;
    },
  };
}
