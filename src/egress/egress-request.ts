import { A2AError } from '../protocol/errors.ts';
import { deadline } from './deadline.ts';
import { type Answer, exchange, type Method } from './send-once.ts';
import { type Headers, headersForStranger, outgoingHeaders } from './headers.ts';
import type { Purpose } from './egress-options.ts';
import type { EgressPolicy } from './egress-policy.ts';

/** One request to an address that a peer gave. */
export interface GuardedRequest {
  url: string | URL;
  /** @defaultValue `GET` */
  method?: Method;
  /** Those of the connection itself, such as `host`, are left out. */
  headers?: Headers;
  body?: string | Uint8Array;
  /**
   * Why it is made, which decides what is allowed.
   * @defaultValue `call`
   */
  purpose?: Purpose;
  /** Ends the request at once, with `CANCELED`. */
  signal?: AbortSignal;
}

/** The whole answer. */
export interface GuardedResponse {
  readonly status: number;
  readonly headers: Headers;
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
export async function guardedRequest(
  policy: EgressPolicy,
  request: GuardedRequest,
): Promise<GuardedResponse> {
  const { method = 'GET', purpose = 'call', body } = request;
  const most = policy.redirectsFor(purpose);
  let url = policy.check(request.url, purpose);
  let headers = outgoingHeaders(request.headers);
  const limit = deadline(policy.limits.timeout, request.signal);
  try {
    for (let hops = 0; ; hops++) {
      const answer = await exchange(policy, { url, method, headers, body, signal: limit.signal });
      const location = most === 0 ? undefined : locationOf(answer, method);
      if (location === undefined) return responseOf(answer, url);
      if (hops >= most) throw refusal(url, `it redirects more than ${most} times`, 'Raise `maxRedirects`.');
      const next = nextOf(location, url, policy, purpose);
      if (next.origin !== url.origin) headers = headersForStranger(headers);
      url = next;
    }
  } finally {
    limit.clear();
  }
}

/** Where an answer sends the request on to, if it may go. */
function locationOf({ status, headers }: Answer, method: Method): string | undefined {
  const isReading = method === 'GET' || method === 'HEAD';
  return (isReading ? redirecting : repeating).includes(status) ? headers.location : undefined;
}

function nextOf(location: string, from: URL, policy: EgressPolicy, purpose: Purpose): URL {
  if (!URL.canParse(location, from.href)) throw refusal(from, 'it redirects to no URL', 'Ask its operator.');
  const next = policy.check(new URL(location, from), purpose);
  if (from.protocol === 'https:' && next.protocol === 'http:')
    throw refusal(from, 'it redirects from https to http', 'Use the new address, if it is right.');
  return next;
}

function refusal(url: URL, why: string, hint: string): A2AError {
  return new A2AError('PERMISSION_DENIED', `${url.origin} may not be used: ${why}`, { hint });
}

function responseOf({ status, headers, bytes }: Answer, url: URL): GuardedResponse {
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
