import { parseRetryAfter } from '../primitives/backoff.ts';
import { asJsonObject, parseJsonOrUndefined } from '../primitives/json.ts';
import { A2AError, type A2AErrorOptions } from '../protocol/errors.ts';
import type { HttpClient, HttpResponse } from './http/http-client.ts';

/** A secret, or a function that returns it for each request. */
export type SecretSource = string | (() => string | Promise<string>);

/** Returns the current value of a secret. */
export async function resolveSecret(secret: SecretSource): Promise<string> {
  return typeof secret === 'function' ? await secret() : secret;
}

/** Options of {@link clientCredentials}. */
export interface ClientCredentialsOptions {
  tokenUrl: string;
  clientId: string;
  clientSecret: SecretSource;
  scope?: string;
  /** Audience of the token, if the authorization server requires one. */
  audience?: string;
  /** How the client id and secret are sent: HTTP Basic (`header`) or form fields (`body`). @defaultValue `header` */
  clientAuthMethod?: 'header' | 'body';
  /** Maximum age of a token in milliseconds, even if it expires later. */
  maxAge?: number;
  /** @defaultValue `Date.now` */
  now?: () => number;
}

/** A token of an authorization server. */
export interface IssuedToken {
  /** Value of the header `Authorization`. */
  readonly authorization: string;
  /** Time after which the token is renewed. */
  readonly until: number;
}

/**
 * Why an authorization server issued no token. `unavailable`: it does not respond, or asks to retry later. `subject`: it
 * refused the token of the subject. `access`: the subject may not have the token. `client`: it refused the client itself
 * or its parameters.
 */
export type TokenProblem = 'unavailable' | 'subject' | 'access' | 'client';

/** An authorization server issued no token. */
export class TokenRequestError extends A2AError {
  readonly problem: TokenProblem;
  /** Milliseconds after which the server asked to retry. */
  readonly retryAfter: number | undefined;

  constructor(
    problem: TokenProblem,
    message: string,
    { retryAfter, ...options }: A2AErrorOptions & { retryAfter?: number | undefined } = {},
  ) {
    super('UNAUTHENTICATED', message, options);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

/** Milliseconds before its expiry at which a token is renewed. */
const renewalMargin = 30_000;

/** Requests a token from an authorization server. @throws TokenRequestError if it issues none */
export async function requestToken(
  options: ClientCredentialsOptions,
  http: HttpClient,
  now: () => number,
  grant: Readonly<Record<string, string>> = { grant_type: 'client_credentials' },
): Promise<IssuedToken> {
  const { tokenUrl, clientId, clientAuthMethod = 'header' } = options;
  const secret = await resolveSecret(options.clientSecret);
  const form = new URLSearchParams(grant);
  if (options.scope !== undefined) form.set('scope', options.scope);
  if (options.audience !== undefined) form.set('audience', options.audience);
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  };
  if (clientAuthMethod === 'header') {
    headers.authorization = `Basic ${encodeBasic(clientId, secret)}`;
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
    return parseTokenResponse(response, await response.text(1024 * 1024), {
      tokenUrl,
      began,
      maxAge: options.maxAge,
      hasSubject: grant.subject_token !== undefined,
    });
  } catch (thrown) {
    if (thrown instanceof A2AError) throw thrown;
    throw new TokenRequestError('unavailable', `No token from ${url.origin}`, {
      cause: thrown,
      hint: `The authorization server at ${tokenUrl} did not respond.`,
    });
  }
}

/** OAuth 2.0 requires that both halves are form-encoded before they are joined. */
function encodeBasic(clientId: string, secret: string): string {
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  return btoa(`${encode(clientId)}:${encode(secret)}`);
}

function parseTokenResponse(
  response: HttpResponse,
  text: string,
  request: { tokenUrl: string; began: number; maxAge: number | undefined; hasSubject: boolean },
): IssuedToken {
  const { status } = response;
  const body = asJsonObject(parseJsonOrUndefined(text)) ?? {};
  if (status !== 200 || typeof body.access_token !== 'string') {
    const error = typeof body.error === 'string' ? `: ${body.error}` : '';
    const problem = problemOf(status, body.error, request.hasSubject);
    throw new TokenRequestError(
      problem,
      `The authorization server returned no token (HTTP ${status}${error})`,
      {
        status,
        retryAfter: parseRetryAfter(response.header('retry-after'), request.began),
        hint:
          problem === 'unavailable'
            ? `The authorization server at ${request.tokenUrl} is not available.`
            : `Check the client id, the secret and the scope for ${request.tokenUrl}.`,
      },
    );
  }
  const seconds = Number(body.expires_in);
  // A token of unknown lifetime is used until it is rejected.
  const lifetime = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
  return {
    authorization: `Bearer ${body.access_token}`,
    until:
      request.began + Math.min(request.maxAge ?? lifetime, Math.max(lifetime - renewalMargin, lifetime / 2)),
  };
}

/** An invalid subject token is an `invalid_request` (RFC 8693, section 2.2.2); some servers send `invalid_grant`. */
function problemOf(status: number, code: unknown, hasSubject: boolean): TokenProblem {
  const isBusy = code === 'temporarily_unavailable' || code === 'server_error';
  if (status >= 500 || status === 429 || status === 408 || isBusy) return 'unavailable';
  if (!hasSubject) return 'client';
  if (code === 'invalid_grant' || code === 'invalid_request' || code === 'invalid_token') return 'subject';
  return code === 'access_denied' ? 'access' : 'client';
}
