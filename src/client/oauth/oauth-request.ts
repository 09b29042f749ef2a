import { egressPolicy } from '../../egress/egress-policy.ts';
import { egressRequest } from '../../egress/egress-request.ts';
import { asJsonObject, type JsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { isLocalHost } from '../../primitives/loopback.ts';
import { truncate } from '../../primitives/text.ts';
import { A2AError } from '../../protocol/errors.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** A login failed. The message is for the user. */
export class LoginError extends A2AError {
  constructor(message: string, hint: string) {
    super('UNAUTHENTICATED', message, { hint });
  }
}

/** Response of an authorization server. */
export interface OAuthResponse {
  readonly status: number;
  readonly body: JsonObject;
}

/** A request to an authorization server: a form or JSON is posted, without both it is a GET. */
export interface OAuthRequest {
  readonly form?: Record<string, string>;
  readonly json?: object;
  /** Client ID and secret for HTTP basic authentication. */
  readonly basic?: { readonly id: string; readonly secret: string };
  readonly signal?: AbortSignal | undefined;
}

/**
 * Checks a URL of an authorization server. It comes from an untrusted card, and secrets go there, so it must use https
 * or be local.
 */
export function checkServerUrl(url: string): URL {
  const parsed = parseUrl(url);
  const isSecure = parsed?.protocol === 'https:';
  if (parsed && (isSecure || (parsed.protocol === 'http:' && isLocalHost(parsed.hostname)))) return parsed;
  throw new LoginError(
    `The authorization server ${truncate(url, 200)} does not use https`,
    'Report it to the operator of the agent; secrets are not sent over http.',
  );
}

/** Sends a request to an authorization server. Redirects are not followed. @throws LoginError if the response is no JSON */
export async function requestOAuth(url: string, request: OAuthRequest = {}): Promise<OAuthResponse> {
  const { form, json, basic, signal } = request;
  const { hostname } = checkServerUrl(url);
  const policy = egressPolicy({ allowLoopback: isLocalHost(hostname), maxRedirects: 0 });
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  const response = await egressRequest(policy, {
    url,
    method: form || json ? 'POST' : 'GET',
    headers: {
      accept: 'application/json',
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(json && { 'content-type': 'application/json' }),
      ...(basic && { authorization: `Basic ${btoa(`${encode(basic.id)}:${encode(basic.secret)}`)}` }),
    },
    ...(form && { body: new URLSearchParams(form).toString() }),
    ...(json && { body: JSON.stringify(json) }),
    ...(signal && { signal }),
  });
  const body = asJsonObject(parseJsonOrUndefined(response.text));
  if (body) return { status: response.status, body };
  throw refusedError(url, { status: response.status, body: {} });
}

/** A client of an authorization server. A confidential client has a secret. */
export interface OAuthClient {
  readonly id: string;
  readonly secret: string | undefined;
}

/** Posts a form as a client: one with a secret authenticates with it, others send their ID only. */
export function requestAsClient(
  url: string,
  { id, secret }: OAuthClient,
  form: Record<string, string>,
  signal?: AbortSignal,
): Promise<OAuthResponse> {
  if (secret !== undefined) return requestOAuth(url, { form, basic: { id, secret }, signal });
  return requestOAuth(url, { form: { ...form, client_id: id }, signal });
}

/** What a user can do about an error code of OAuth. */
const advice: { readonly [code: string]: string } = {
  access_denied: 'You or the operator denied the access. Log in again to approve it.',
  expired_token: 'The code expired before you approved. Log in again.',
  invalid_client: 'Check the client ID and the client secret.',
  invalid_grant: 'The code or the refresh token expired or was used before. Log in again.',
  invalid_scope: 'Check the scope.',
  unauthorized_client: 'The client may not use this flow. Ask the operator of the authorization server.',
};

/** Creates the error for a response of an authorization server without the expected content. */
export function refusedError(url: string, { status, body }: OAuthResponse): LoginError {
  const code = typeof body.error === 'string' ? body.error : '';
  const text =
    typeof body.error_description === 'string' ? ` (${truncate(body.error_description, 500)})` : '';
  return new LoginError(
    `No token from ${new URL(url).origin}: HTTP ${status}${code === '' ? '' : `: ${truncate(code, 100)}`}${text}`,
    advice[code] ?? 'Check the client ID, the client secret and the scope.',
  );
}
