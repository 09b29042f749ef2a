import { createHash, randomBytes } from 'node:crypto';
import { type Clock, sleep, systemClock } from '../../primitives/clock.ts';
import { canceledError } from '../../protocol/errors.ts';
import type { LoginGrant } from './login-grant.ts';
import { listenForRedirect, type LoopbackRedirect } from './loopback-redirect.ts';
import {
  checkServerUrl,
  LoginError,
  type OAuthClient,
  type OAuthResponse,
  refusedError,
  requestAsClient,
  requestOAuth,
} from './oauth-request.ts';
import { type OAuthToken, parseTokenResponse } from './oauth-token.ts';
import { isUrl } from '../../primitives/web/parse-url.ts';

/** What the user must do: open a URL, and compare or enter a code in the device code flow. */
export interface LoginPrompt {
  readonly url: string;
  readonly userCode?: string;
}

/** Options of {@link logIn}. */
export interface LoginOptions {
  /** Registered client. @defaultValue the server registers one, if it offers that */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** Scopes, separated by spaces. @defaultValue those that the card requires */
  readonly scope?: string | undefined;
  readonly prompt: (prompt: LoginPrompt) => void;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that the user has in the browser. @defaultValue five minutes */
  readonly timeout?: number;
  readonly clock?: Clock;
}

/** Obtains a token with a flow of OAuth 2. @throws LoginError with advice for the user */
export async function logIn(grant: LoginGrant, options: LoginOptions): Promise<OAuthToken> {
  for (const url of [grant.tokenUrl, grant.authorizationUrl, grant.deviceUrl])
    if (url !== undefined) checkServerUrl(url);
  const scope = options.scope ?? grant.scopes.join(' ');
  const redirect = grant.flow === 'authorization-code' ? await listenForRedirect() : undefined;
  try {
    const client = await chooseClient(grant, options, redirect?.url);
    const response = redirect
      ? await requestWithCode(grant, options, client, { redirect, scope })
      : grant.flow === 'device-code'
        ? await requestWithDevice(grant, options, client, scope)
        : await requestWithSecret(grant, options, client, scope);
    const issued = parseTokenResponse(grant.tokenUrl, response);
    return {
      ...issued,
      tokenUrl: grant.tokenUrl,
      clientId: client.id,
      ...(client.secret !== undefined &&
        issued.refreshToken !== undefined && { clientSecret: client.secret }),
      ...(scope !== '' && { scope }),
    };
  } finally {
    await redirect?.close();
  }
}

/** Returns the client of the user, or registers one (RFC 7591). */
async function chooseClient(
  { tokenUrl, registrationUrl, flow }: LoginGrant,
  { clientId, clientSecret, signal }: LoginOptions,
  redirectUrl: string | undefined,
): Promise<OAuthClient> {
  if (clientId !== undefined && clientId !== '') return { id: clientId, secret: clientSecret };
  if (registrationUrl === undefined || flow === 'client-credentials')
    throw new LoginError(
      'Missing client ID',
      `Use the client ID that is registered at ${new URL(tokenUrl).host}.`,
    );
  const json = {
    client_name: 'Dragoman',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: [redirectUrl === undefined ? deviceGrant : 'authorization_code', 'refresh_token'],
    response_types: redirectUrl === undefined ? [] : ['code'],
    redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
  };
  const response = await requestOAuth(registrationUrl, { json, signal });
  const { client_id: id, client_secret: secret } = response.body;
  if (response.status >= 300 || typeof id !== 'string') throw refusedError(registrationUrl, response);
  return { id, secret: typeof secret === 'string' ? secret : undefined };
}

function requestWithSecret(
  { tokenUrl }: LoginGrant,
  { signal }: LoginOptions,
  client: OAuthClient,
  scope: string,
): Promise<OAuthResponse> {
  const form = { grant_type: 'client_credentials', ...(scope !== '' && { scope }) };
  return requestAsClient(tokenUrl, client, form, signal);
}

/** Runs the authorization code flow with PKCE (RFC 7636): the user approves in a browser, which is redirected to loopback. */
async function requestWithCode(
  grant: LoginGrant,
  { prompt, signal, timeout = 300_000 }: LoginOptions,
  client: OAuthClient,
  { redirect, scope }: { redirect: LoopbackRedirect; scope: string },
): Promise<OAuthResponse> {
  const [state, verifier] = [randomBytes(24).toString('base64url'), randomBytes(32).toString('base64url')];
  const url = new URL(grant.authorizationUrl ?? '');
  for (const [name, value] of Object.entries({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirect.url,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(scope !== '' && { scope }),
  }))
    url.searchParams.set(name, value);
  const received = redirect.receive(state, { timeout, signal });
  prompt({ url: url.href });
  const query = await received;
  checkIssuer(grant, query.get('iss'));
  const error = query.get('error');
  if (error !== null) {
    const body = { error, error_description: query.get('error_description') ?? undefined };
    throw refusedError(url.href, { status: 302, body });
  }
  const code = query.get('code') ?? '';
  if (code === '') throw new LoginError('The authorization server sent no code', 'Log in again.');
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirect.url,
    code_verifier: verifier,
  };
  return requestAsClient(grant.tokenUrl, client, form, signal);
}

/** Detects a redirect of another server (RFC 9207). */
function checkIssuer({ issuer, sendsIssuer }: LoginGrant, received: string | null): void {
  const isWrong = received === null ? sendsIssuer : issuer !== undefined && received !== issuer;
  if (isWrong)
    throw new LoginError(
      `The redirect came from ${received === null ? 'an unknown server' : 'another server'}, not from ${issuer}`,
      'Log in again. If it happens again, another server may be trying to get your code.',
    );
}

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** Runs the device authorization grant (RFC 8628): shows a code and polls until the user has approved. */
async function requestWithDevice(
  grant: LoginGrant,
  { prompt, signal, clock = systemClock }: LoginOptions,
  client: OAuthClient,
  scope: string,
): Promise<OAuthResponse> {
  const { deviceUrl = '' } = grant;
  const form: Record<string, string> = scope === '' ? {} : { scope };
  const authorization = await requestAsClient(deviceUrl, client, form, signal);
  const {
    device_code: code,
    user_code: userCode,
    verification_uri: uri,
    interval: pause,
  } = authorization.body;
  const { verification_uri_complete: completeUri, expires_in: lifetime } = authorization.body;
  if (authorization.status !== 200 || typeof code !== 'string' || typeof uri !== 'string')
    throw refusedError(deviceUrl, authorization);
  checkServerUrl(uri);
  const isComplete = typeof completeUri === 'string' && isUrl(completeUri);
  if (isComplete) checkServerUrl(completeUri);
  prompt({ url: isComplete ? completeUri : uri, userCode: String(userCode) });
  // RFC 8628, section 3.2: the default interval is 5 seconds.
  let interval = Math.max(0.1, Number(pause ?? 5)) * 1_000;
  const deadline = clock.monotonic() + Math.min(Number(lifetime) || 900, 3_600) * 1_000;
  while (clock.monotonic() < deadline) {
    await sleep(clock, interval, signal, canceledError);
    const poll = { grant_type: deviceGrant, device_code: code };
    const response = await requestAsClient(grant.tokenUrl, client, poll, signal);
    if (response.body.error === 'slow_down') interval += 5_000;
    else if (response.body.error !== 'authorization_pending') return response;
  }
  throw new LoginError('The login was not approved in time', 'Log in again.');
}
