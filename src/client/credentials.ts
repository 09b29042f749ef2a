import type { CallContext, Operation } from '../protocol/agent.ts';
import type { AgentCard } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import type { HttpClient } from './http/http-client.ts';

/** What a provider of credentials may look at. */
export interface CredentialRequest {
  /** Where the request goes. */
  url: string;
  operation: Operation | 'card';
  /** The call it is made for: credentials may depend on its owner or tenant. */
  call: CallContext;
  /** The card of the agent, once it is known: it may say where credentials go. */
  card?: AgentCard | undefined;
  /** For requests of the provider's own. */
  http: HttpClient;
}

/** Proves who the caller is. Asked anew for each request. */
export interface Credentials {
  headers(request: CredentialRequest): Promise<Record<string, string>> | Record<string, string>;
  /** Parameters for the query, for keys that must travel there. */
  query?(request: CredentialRequest): Promise<Record<string, string>> | Record<string, string>;
  /**
   * The peer answered 401.
   *
   * @returns true when there are other credentials now and the request should be made once more.
   */
  refresh?(refused: {
    headers: Record<string, string>;
    authenticate: string | undefined;
  }): Promise<boolean> | boolean;
}

/** A secret, or where to get it each time. */
export type SecretSource = string | (() => string | Promise<string>);

async function reveal(secret: SecretSource): Promise<string> {
  return typeof secret === 'function' ? await secret() : secret;
}

/** Sends `Authorization: Bearer …`. A function is asked again after a 401. */
export function bearer(token: SecretSource): Credentials {
  if (typeof token === 'string') {
    const headers = { authorization: `Bearer ${token}` };
    return { headers: () => headers };
  }
  return {
    headers: async () => ({ authorization: `Bearer ${await token()}` }),
    refresh: async ({ headers }) => headers.authorization !== `Bearer ${await token()}`,
  };
}

/** Sends a key under a name of the agent's choice. */
export function apiKey(key: {
  name: string;
  in: 'header' | 'query' | 'cookie';
  value: SecretSource;
}): Credentials {
  const { name, value } = key;
  switch (key.in) {
    case 'header':
      return { headers: async () => ({ [name.toLowerCase()]: await reveal(value) }) };
    case 'cookie':
      return { headers: async () => ({ cookie: `${name}=${await reveal(value)}` }) };
    case 'query':
      return { headers: () => ({}), query: async () => ({ [name]: await reveal(value) }) };
  }
}

/** How {@link clientCredentials} gets its tokens. */
export interface ClientCredentialsOptions {
  tokenUrl: string;
  clientId: string;
  clientSecret: SecretSource;
  scope?: string;
  /** For whom the token is, where the authorization server wants to know. */
  audience?: string;
  /**
   * Where the client's own id and secret go.
   * @defaultValue `header`
   */
  clientAuthMethod?: 'header' | 'body';
  /** Milliseconds after which a token is not used any more, however long its server lets it live. */
  maxAge?: number;
  /** @defaultValue the clock of the machine */
  now?: () => number;
}

interface Token {
  authorization: string;
  /** When not to use it any more. */
  until: number;
}

/** A token is renewed this long before it expires, in milliseconds. */
const margin = 30_000;

/** Gets bearer tokens with the client credentials of OAuth 2, keeps them while they are good, and renews them after a 401. */
export function clientCredentials(options: ClientCredentialsOptions): Credentials {
  const now = options.now ?? Date.now;
  let token: Token | undefined;
  let asking: Promise<Token> | undefined;

  async function current(http: HttpClient): Promise<Token> {
    if (token && now() < token.until) return token;
    asking ??= requestToken(options, http, now).finally(() => {
      asking = undefined;
    });
    token = await asking;
    return token;
  }

  return {
    headers: async ({ http }) => ({ authorization: (await current(http)).authorization }),
    refresh({ headers }) {
      // Another call may have renewed it already.
      if (token?.authorization === headers.authorization) token = undefined;
      return true;
    },
  };
}

async function requestToken(
  options: ClientCredentialsOptions,
  http: HttpClient,
  now: () => number,
): Promise<Token> {
  const { tokenUrl, clientId, clientAuthMethod: clientIn = 'header' } = options;
  const secret = await reveal(options.clientSecret);
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (options.scope !== undefined) form.set('scope', options.scope);
  if (options.audience !== undefined) form.set('audience', options.audience);
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  };
  if (clientIn === 'header') {
    headers.authorization = `Basic ${basic(clientId, secret)}`;
  } else {
    form.set('client_id', clientId);
    form.set('client_secret', secret);
  }
  const url = new URL(tokenUrl);
  const began = now();
  try {
    const response = await http.request({
      method: 'POST',
      origin: url.origin,
      path: url.pathname + url.search,
      headers,
      body: form.toString(),
      signal: AbortSignal.timeout(30_000),
    });
    return readToken(response.status, await response.text(1024 * 1024), {
      tokenUrl,
      began,
      maxAge: options.maxAge,
    });
  } catch (thrown) {
    if (thrown instanceof A2AError) throw thrown;
    throw new A2AError('UNAUTHENTICATED', `No token from ${url.origin}`, {
      cause: thrown,
      hint: `The authorization server at ${tokenUrl} did not answer.`,
    });
  }
}

/** Both halves are form-encoded before they are joined, as OAuth 2 wants it. */
function basic(clientId: string, secret: string): string {
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  return btoa(`${encode(clientId)}:${encode(secret)}`);
}

function readToken(
  status: number,
  text: string,
  asked: { tokenUrl: string; began: number; maxAge: number | undefined },
): Token {
  let body: { [key: string]: unknown } = {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) body = parsed as typeof body;
  } catch {
    // Not JSON: there is no token in it either.
  }
  if (status !== 200 || typeof body.access_token !== 'string') {
    const why = typeof body.error === 'string' ? `: ${body.error}` : '';
    throw new A2AError('UNAUTHENTICATED', `The authorization server gave no token (HTTP ${status}${why})`, {
      status,
      hint: `Check the client id, the secret and the scope for ${asked.tokenUrl}.`,
    });
  }
  const seconds = Number(body.expires_in);
  // A token of unknown life is used until it is refused.
  const life = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
  return {
    authorization: `Bearer ${body.access_token}`,
    until: asked.began + Math.min(asked.maxAge ?? life, Math.max(life - margin, life / 2)),
  };
}
