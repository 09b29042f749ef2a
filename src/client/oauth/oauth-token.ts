import type { Credentials } from '../credentials.ts';
import { type OAuthResponse, refusedError, requestAsClient } from './oauth-request.ts';

/** A token of a login, with what a renewal needs. */
export interface OAuthToken {
  readonly accessToken: string;
  /** RFC 3339; undefined if the server did not return a lifetime. */
  readonly expiresAt?: string;
  readonly refreshToken?: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Secret of a confidential client, with which it also authenticates to renew the token. */
  readonly clientSecret?: string;
  readonly scope?: string;
}

/** Parses a token response (RFC 6749, section 5.1). @throws LoginError if it has no token */
export function parseTokenResponse(
  url: string,
  response: OAuthResponse,
): Pick<OAuthToken, 'accessToken' | 'expiresAt' | 'refreshToken'> {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = response.body;
  const type = response.body.token_type;
  const isBearer = type === undefined || (typeof type === 'string' && type.toLowerCase() === 'bearer');
  if (response.status !== 200 || typeof accessToken !== 'string' || !isBearer)
    throw refusedError(url, response);
  return {
    accessToken,
    ...(typeof refreshToken === 'string' && { refreshToken }),
    ...(Number(seconds) > 0 && { expiresAt: new Date(Date.now() + Number(seconds) * 1_000).toISOString() }),
  };
}

/** A token is renewed this long before it expires, in milliseconds. */
const renewalMargin = 30_000;

/**
 * Returns a token that is valid for some time: the same one, or a renewed one if it expires soon.
 *
 * @returns undefined if it has expired and cannot be renewed
 * @throws LoginError if the server refuses the renewal
 */
export async function renewToken<Token extends OAuthToken>(token: Token): Promise<Token | undefined> {
  const { expiresAt, refreshToken, tokenUrl, clientId: id, clientSecret: secret } = token;
  if (expiresAt === undefined || Date.parse(expiresAt) - renewalMargin > Date.now()) return token;
  if (refreshToken === undefined) return Date.parse(expiresAt) > Date.now() ? token : undefined;
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
  return { ...token, ...parseTokenResponse(tokenUrl, await requestAsClient(tokenUrl, { id, secret }, form)) };
}

/** Sends the token of a login to the origins of its agent only, and renews it before it expires. */
export function loginCredentials(token: OAuthToken, origins: readonly string[]): Credentials {
  let current: OAuthToken | undefined = token;
  let pending: Promise<OAuthToken | undefined> | undefined;
  return {
    async headers({ url, operation }): Promise<Record<string, string>> {
      if (operation === 'card' || !origins.includes(new URL(url).origin)) return {};
      // Concurrent requests share one renewal, because a refresh token may be valid once.
      pending ??= (current ? renewToken(current) : Promise.resolve(undefined)).finally(() => {
        pending = undefined;
      });
      current = await pending;
      return current ? { authorization: `Bearer ${current.accessToken}` } : {};
    },
  };
}
