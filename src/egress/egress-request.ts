import { A2AError } from '../protocol/errors.ts';
import { startDeadline } from './deadline.ts';
import { type RawResponse, sendOnce, type HttpMethod } from './send-once.ts';
import { type HeaderMap, crossOriginHeaders, outgoingHeaders } from './headers.ts';
import type { EgressPurpose } from './egress-options.ts';
import type { EgressPolicy } from './egress-policy.ts';
import { parseUrl } from '../primitives/web/parse-url.ts';

/** A request to a URL supplied by a peer. */
export interface EgressRequest {
  url: string | URL;
  /** @defaultValue `GET` */
  method?: HttpMethod;
  /** Connection headers such as `host` are ignored. */
  headers?: HeaderMap;
  body?: string | Uint8Array;
  /** Selects the defaults of the policy. @defaultValue `call` */
  purpose?: EgressPurpose;
  /** Aborts the request with `CANCELED`. */
  signal?: AbortSignal;
}

/** A complete response. */
export interface EgressResponse {
  readonly status: number;
  readonly headers: HeaderMap;
  readonly bytes: Uint8Array;
  /** The body decoded as UTF-8. */
  readonly text: string;
  /** URL of the response after redirects. */
  readonly url: string;
}

/** Redirects that retain the method. The others turn a POST into a GET, so they are followed only for GET and HEAD. */
const methodPreserving: readonly number[] = [307, 308];
const redirectStatuses: readonly number[] = [301, 302, 303, ...methodPreserving];

/**
 * Sends a request under a policy, which also applies to redirects. Headers that may be secret are sent only to the first
 * origin. A redirect that is not followed is returned as the response.
 *
 * @throws {@link A2AError} `PERMISSION_DENIED` by the policy, `UNAVAILABLE` without a response,
 * `INVALID_AGENT_RESPONSE` if the response is too large or not HTTP, `TIMEOUT`, and `CANCELED` by the signal
 */
export async function egressRequest(policy: EgressPolicy, request: EgressRequest): Promise<EgressResponse> {
  const { method = 'GET', purpose = 'call', body } = request;
  const maxRedirects = policy.redirectsFor(purpose);
  let url = policy.check(request.url, purpose);
  let headers = outgoingHeaders(request.headers);
  const deadline = startDeadline(policy.limits.timeout, request.signal);
  try {
    for (let hops = 0; ; hops++) {
      const response = await sendOnce(policy, { url, method, headers, body, signal: deadline.signal });
      const location = maxRedirects === 0 ? undefined : redirectLocation(response, method);
      if (location === undefined) return toEgressResponse(response, url);
      if (hops >= maxRedirects)
        throw denied(url, `more than ${maxRedirects} redirects`, 'Raise `maxRedirects`.');
      const next = resolveRedirect(location, url, policy, purpose);
      if (next.origin !== url.origin) headers = crossOriginHeaders(headers);
      url = next;
    }
  } finally {
    deadline.clear();
  }
}

/** Returns the target of a redirect that can be followed with this method. */
function redirectLocation({ status, headers }: RawResponse, method: HttpMethod): string | undefined {
  const isReading = method === 'GET' || method === 'HEAD';
  return (isReading ? redirectStatuses : methodPreserving).includes(status) ? headers.location : undefined;
}

function resolveRedirect(location: string, from: URL, policy: EgressPolicy, purpose: EgressPurpose): URL {
  const target = parseUrl(location, from);
  if (!target) throw denied(from, 'invalid redirect URL', 'Contact the operator of the server.');
  const next = policy.check(target, purpose);
  if (from.protocol === 'https:' && next.protocol === 'http:')
    throw denied(from, 'redirect from https to http', 'Use the new URL if it is correct.');
  return next;
}

function denied(url: URL, reason: string, hint: string): A2AError {
  return new A2AError('PERMISSION_DENIED', `Access to ${url.origin} denied: ${reason}`, { hint });
}

function toEgressResponse({ status, headers, bytes }: RawResponse, url: URL): EgressResponse {
  return {
    status,
    headers,
    bytes,
    get text() {
      return new TextDecoder().decode(bytes);
    },
    url: url.href,
  };
}
