import { egressPolicy } from '../../egress/egress-policy.ts';
import { egressRequest } from '../../egress/egress-request.ts';
import { isLocalHost } from '../../primitives/loopback.ts';
import { asJsonObject, type JsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { ClientError } from './client-error.ts';
import { type StoredToken, loadToken, saveToken } from './token-store.ts';

/** Response of an authorization server. */
export interface TokenResponse {
  status: number;
  body: JsonObject;
}

/**
 * Sends a form to an authorization server, or a GET request without a form. The URL comes from an untrusted card, so it
 * must use https or be local.
 *
 * @param basic - client ID and secret for HTTP basic authentication.
 */
export async function requestToken(
  url: string,
  form: Record<string, string> | undefined,
  basic?: { id: string; secret: string },
): Promise<TokenResponse> {
  const { hostname, protocol } = new URL(url);
  const isLocal = isLocalHost(hostname);
  if (protocol !== 'https:' && !isLocal)
    throw new ClientError(
      'A2ACLI_ERR_AUTH_FAILED',
      `The authorization server ${url} does not use https`,
      'Report it to the operator of the agent; secrets are not sent over http.',
    );
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  const response = await egressRequest(egressPolicy({ allowLoopback: isLocal, maxRedirects: 0 }), {
    url,
    method: form ? 'POST' : 'GET',
    headers: {
      accept: 'application/json',
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(basic && { authorization: `Basic ${btoa(`${encode(basic.id)}:${encode(basic.secret)}`)}` }),
    },
    ...(form && { body: new URLSearchParams(form).toString() }),
  });
  const body = asJsonObject(parseJsonOrUndefined(response.text));
  if (body) return { status: response.status, body };
  throw tokenRefusedError(url, { status: response.status, body: {} });
}

/** Creates the error for a response without a token. */
export function tokenRefusedError(url: string, { status, body }: TokenResponse): ClientError {
  const reason = typeof body.error === 'string' ? `: ${body.error}` : '';
  const description = typeof body.error_description === 'string' ? ` (${body.error_description})` : '';
  return new ClientError(
    'A2ACLI_ERR_AUTH_FAILED',
    `No token from ${new URL(url).origin}: HTTP ${status}${reason}${description}`,
    'Check the client ID, the client secret and the scope.',
  );
}

/** Parses a token response (RFC 6749, section 5.1). */
export function parseTokenResponse(
  url: string,
  response: TokenResponse,
): Pick<StoredToken, 'accessToken' | 'expiresAt' | 'refreshToken'> {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = response.body;
  if (response.status !== 200 || typeof accessToken !== 'string') throw tokenRefusedError(url, response);
  return {
    accessToken,
    ...(typeof refreshToken === 'string' && { refreshToken }),
    ...(Number(seconds) > 0 && { expiresAt: new Date(Date.now() + Number(seconds) * 1_000).toISOString() }),
  };
}

/** A token is refreshed this long before it expires, in milliseconds. */
const refreshMargin = 30_000;

/** Returns the stored token of an agent, refreshed if it expires soon. */
export async function refreshStoredToken(agent: string): Promise<StoredToken | undefined> {
  const token = loadToken(agent);
  if (!token?.expiresAt || Date.parse(token.expiresAt) - refreshMargin > Date.now()) return token;
  if (token.refreshToken === undefined) return Date.parse(token.expiresAt) > Date.now() ? token : undefined;
  const response = await requestToken(token.tokenUrl, {
    grant_type: 'refresh_token',
    refresh_token: token.refreshToken,
    client_id: token.clientId,
  });
  const refreshed = { ...token, ...parseTokenResponse(token.tokenUrl, response) };
  saveToken(agent, refreshed);
  return refreshed;
}
