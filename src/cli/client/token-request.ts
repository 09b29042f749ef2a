import { egressPolicy } from '../../egress/egress-policy.ts';
import { egressRequest } from '../../egress/egress-request.ts';
import { isLocalHost } from '../../client/http/destination-policy.ts';
import { ClientError } from './client-error.ts';
import { type StoredToken, loadToken, saveToken } from './token-store.ts';

/** The answer of an authorization server. */
export interface TokenResponse {
  status: number;
  body: { [member: string]: unknown };
}

/**
 * Asks an authorization server. A card named its address, so it must be encrypted or on this machine.
 *
 * @param basic - the id and the secret of the client, for servers that want them in a header.
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
      `the authorization server ${url} does not use https`,
      'Secrets are not sent there. Tell whoever runs the agent.',
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
  try {
    const body: unknown = JSON.parse(response.text);
    if (typeof body === 'object' && body !== null)
      return { status: response.status, body: body as TokenResponse['body'] };
  } catch {
    // Told below.
  }
  throw tokenRefusedError(url, { status: response.status, body: {} });
}

/** The error for a server that gives no token. */
export function tokenRefusedError(url: string, { status, body }: TokenResponse): ClientError {
  const why = typeof body.error === 'string' ? `: ${body.error}` : '';
  const more = typeof body.error_description === 'string' ? ` (${body.error_description})` : '';
  return new ClientError(
    'A2ACLI_ERR_AUTH_FAILED',
    `${new URL(url).origin} gives no token: HTTP ${status}${why}${more}`,
    'Check the client id, its secret and the scope.',
  );
}

/** What an answer says about a token. */
export function parseTokenResponse(
  url: string,
  answer: TokenResponse,
): Pick<StoredToken, 'accessToken' | 'expiresAt' | 'refreshToken'> {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = answer.body;
  if (answer.status !== 200 || typeof accessToken !== 'string') throw tokenRefusedError(url, answer);
  return {
    accessToken,
    ...(typeof refreshToken === 'string' && { refreshToken }),
    ...(Number(seconds) > 0 && { expiresAt: new Date(Date.now() + Number(seconds) * 1_000).toISOString() }),
  };
}

/** A token is renewed this long before it expires, in milliseconds. */
const margin = 30_000;

/** The token that is kept for an agent, renewed where that is due and possible. */
export async function refreshStoredToken(agent: string): Promise<StoredToken | undefined> {
  const token = loadToken(agent);
  if (!token?.expiresAt || Date.parse(token.expiresAt) - margin > Date.now()) return token;
  if (token.refreshToken === undefined) return Date.parse(token.expiresAt) > Date.now() ? token : undefined;
  const answer = await requestToken(token.tokenUrl, {
    grant_type: 'refresh_token',
    refresh_token: token.refreshToken,
    client_id: token.clientId,
  });
  const fresh = { ...token, ...parseTokenResponse(token.tokenUrl, answer) };
  saveToken(agent, fresh);
  return fresh;
}
