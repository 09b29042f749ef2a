import { A2AError } from '../protocol/errors.ts';
import { startDeadline } from './deadline.ts';
import { type RawResponse, sendOnce, type HttpMethod } from './send-once.ts';
import { type HeaderMap, crossOriginHeaders, outgoingHeaders } from './headers.ts';
import type { EgressPurpose } from './egress-options.ts';
import type { EgressPolicy } from './egress-policy.ts';

/** One request to an address that a peer gave. */
export interface EgressRequest {
  url: string | URL;
  /** @defaultValue `GET` */
  method?: HttpMethod;
  /** Those of the connection itself, such as `host`, are left out. */
  headers?: HeaderMap;
  body?: string | Uint8Array;
  /**
   * Why it is made, which decides what is allowed.
   * @defaultValue `call`
   */
  purpose?: EgressPurpose;
  /** Ends the request at once, with `CANCELED`. */
  signal?: AbortSignal;
}

/** The whole answer. */
export interface EgressResponse {
  readonly status: number;
  readonly headers: HeaderMap;
  readonly bytes: Uint8Array;
  /** The bytes, read as UTF-8. */
  readonly text: string;
  /** Where the answer came from, after redirects. */
  readonly url: string;
}

/** Redirects after which a request is made again as it was. The others turn a POST into a GET, so it stays there. */
const repeating: readonly number[] = [307, 308];
const redirecting: readonly number[] = [301, 302, 303, ...repeating];

/**
 * Makes a request that keeps to a policy, wherever redirects lead. Headers that may be secret stay at the first
 * origin. A redirect that is not to be followed is an answer like others.
 *
 * @throws {@link A2AError} `PERMISSION_DENIED` by the policy, `UNAVAILABLE` without an answer,
 * `INVALID_AGENT_RESPONSE` for an answer that is too large or no HTTP, `TIMEOUT`, and `CANCELED` by the signal.
 */
export async function egressRequest(policy: EgressPolicy, request: EgressRequest): Promise<EgressResponse> {
  const { method = 'GET', purpose = 'call', body } = request;
  const most = policy.redirectsFor(purpose);
  let url = policy.check(request.url, purpose);
  let headers = outgoingHeaders(request.headers);
  const limit = startDeadline(policy.limits.timeout, request.signal);
  try {
    for (let hops = 0; ; hops++) {
      const answer = await sendOnce(policy, { url, method, headers, body, signal: limit.signal });
      const location = most === 0 ? undefined : locationOf(answer, method);
      if (location === undefined) return responseOf(answer, url);
      if (hops >= most) throw refusal(url, `it redirects more than ${most} times`, 'Raise `maxRedirects`.');
      const next = nextOf(location, url, policy, purpose);
      if (next.origin !== url.origin) headers = crossOriginHeaders(headers);
      url = next;
    }
  } finally {
    limit.clear();
  }
}

/** Where an answer sends the request on to, if it may go. */
function locationOf({ status, headers }: RawResponse, method: HttpMethod): string | undefined {
  const isReading = method === 'GET' || method === 'HEAD';
  return (isReading ? redirecting : repeating).includes(status) ? headers.location : undefined;
}

function nextOf(location: string, from: URL, policy: EgressPolicy, purpose: EgressPurpose): URL {
  if (!URL.canParse(location, from.href)) throw refusal(from, 'it redirects to no URL', 'Ask its operator.');
  const next = policy.check(new URL(location, from), purpose);
  if (from.protocol === 'https:' && next.protocol === 'http:')
    throw refusal(from, 'it redirects from https to http', 'Use the new address, if it is right.');
  return next;
}

function refusal(url: URL, why: string, hint: string): A2AError {
  return new A2AError('PERMISSION_DENIED', `${url.origin} may not be used: ${why}`, { hint });
}

function responseOf({ status, headers, bytes }: RawResponse, url: URL): EgressResponse {
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
