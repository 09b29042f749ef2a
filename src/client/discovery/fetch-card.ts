import type { CallContext } from '../../protocol/agent.ts';
import { isCatalog, readCatalog, type AgentCatalog } from '../../protocol/catalog/ai-catalog.ts';
import type { A2AError } from '../../protocol/errors.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import {
  requestBuffered,
  parseTarget,
  type BufferedResponse,
  type OutboundRequest,
} from '../http/send-request.ts';
import {
  hintForStatus,
  unexpectedResponseError,
  type UnexpectedResponse,
  withHint,
} from '../http/response-errors.ts';
import type { ClientSettings } from '../connect-options.ts';

/** A fetched card and its freshness. */
export interface FetchedCard {
  readonly wire: object;
  readonly text: string;
  readonly url: string;
  readonly etag: string | undefined;
  /** Milliseconds for which the response may be cached; undefined if not stated. */
  readonly maxAge: number | undefined;
  /** Time at which the card expires, by the monotonic clock. */
  freshUntil: number;
}

/** What was found in place of a card. */
export interface CardSearch {
  readonly errors: A2AError[];
  /** The first catalog. */
  catalog?: AgentCatalog;
}

/** Fetches the card at a URL. @returns undefined and adds to `search` if there is none. */
export async function fetchCard(
  settings: ClientSettings,
  url: string,
  search: CardSearch,
  call: CallContext = {},
): Promise<FetchedCard | undefined> {
  const began = settings.clock.monotonic();
  const response = await requestWithAuth(settings, url, { call });
  const unexpected = toUnexpectedResponse(response, url);
  if (response.status >= 500) throw withHint(unexpectedResponseError(unexpected), hintForStatus(unexpected));
  const body = response.status < 300 ? parseJsonOrUndefined(response.text) : undefined;
  if (looksLikeCard(body)) return toFetchedCard(body, response, { url, began });
  if (isCatalog(body)) search.catalog ??= readCatalog(body, url);
  search.errors.push(unexpectedResponseError(unexpected));
  return undefined;
}

/** Describes a response that is neither a card nor a catalog. */
export function toUnexpectedResponse(response: BufferedResponse, url: string): UnexpectedResponse {
  return {
    status: response.status,
    url,
    authenticate: response.header('www-authenticate'),
    contentType: response.header('content-type'),
    body: response.text,
  };
}

/**
 * Fetches an expired card again.
 *
 * @returns the old card with a new expiry if it has not changed.
 */
export async function refetchCard(settings: ClientSettings, old: FetchedCard): Promise<FetchedCard> {
  const began = settings.clock.monotonic();
  const { url, etag } = old;
  const response = await requestWithAuth(settings, url, {
    headers: etag === undefined ? {} : { 'if-none-match': etag },
  });
  const { status, text } = response;
  const body = parseJsonOrUndefined(text);
  if (status < 300 && text !== old.text && looksLikeCard(body))
    return toFetchedCard(body, response, { url, began });
  if (status === 304 || (status < 300 && text === old.text)) {
    old.freshUntil = began + (parseMaxAge(response) ?? old.maxAge ?? Number.POSITIVE_INFINITY);
    return old;
  }
  throw unexpectedResponseError({
    status,
    url,
    authenticate: undefined,
    contentType: undefined,
    body: text,
  });
}

function toFetchedCard(
  wire: object,
  response: BufferedResponse,
  { url, began }: { url: string; began: number },
): FetchedCard {
  const maxAge = parseMaxAge(response);
  const freshUntil = began + (maxAge ?? Number.POSITIVE_INFINITY);
  return { wire, text: response.text, url, etag: response.header('etag'), maxAge, freshUntil };
}

/** Returns the remaining `max-age` (RFC 9111) in milliseconds; undefined if not stated. */
function parseMaxAge(response: BufferedResponse): number | undefined {
  const control = response.header('cache-control')?.toLowerCase() ?? '';
  if (/(^|[\s,])no-(cache|store)($|[\s,=])/.test(control)) return 0;
  const seconds = /(?:^|[\s,])max-age="?(\d{1,10})/.exec(control)?.[1];
  if (seconds === undefined) return undefined;
  const ageText = response.header('age') ?? '';
  const age = /^\d{1,10}$/.test(ageText) ? Number(ageText) : 0;
  return Math.max(0, Number(seconds) - age) * 1000;
}

/** Requests a card or a catalog, without credentials first. */
export async function requestWithAuth(
  settings: ClientSettings,
  url: string,
  { headers = {}, call = {} }: { headers?: Record<string, string>; call?: CallContext },
): Promise<BufferedResponse> {
  const { cardAuth, auth } = settings;
  const response = await requestCard(settings, url, { auth: cardAuth, headers, call });
  if (response.status !== 401 || cardAuth || !auth) return response;
  return requestCard(settings, url, { auth, headers, call });
}

function requestCard(
  settings: ClientSettings,
  url: string,
  request: Pick<OutboundRequest, 'auth' | 'headers' | 'call'>,
): Promise<BufferedResponse> {
  return requestBuffered(settings, {
    operation: 'card',
    method: 'GET',
    target: parseTarget(url),
    headers: {
      accept: 'application/json, application/a2a+json',
      'a2a-version': '1.0',
      'user-agent': 'dragoman',
      ...settings.cardHeaders,
      ...request.headers,
    },
    call: request.call,
    auth: request.auth,
    redirects: 'anywhere',
  });
}

function looksLikeCard(body: unknown): body is object {
  return (
    typeof body === 'object' &&
    body !== null &&
    'name' in body &&
    ('url' in body || 'supportedInterfaces' in body || 'supported_interfaces' in body)
  );
}
