import type { A2AError } from '../../protocol/errors.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { requestBuffered, parseTarget, type BufferedResponse } from '../http/send-request.ts';
import { hintForStatus, unexpectedResponseError, withHint } from '../http/response-errors.ts';
import type { ClientSettings } from '../connect-options.ts';

/** A card as it came, and for how long it is good. */
export interface FetchedCard {
  readonly wire: object;
  readonly text: string;
  readonly url: string;
  readonly etag: string | undefined;
  /** Milliseconds for which it may be kept; undefined where nothing was said. */
  readonly life: number | undefined;
  /** When to ask again. */
  freshUntil: number;
}

/** The card at an address, or undefined where there is none. */
export async function fetchCard(
  settings: ClientSettings,
  url: string,
  refused: A2AError[],
): Promise<FetchedCard | undefined> {
  const began = settings.clock.now();
  const answer = await askWithAuth(settings, url);
  const about = {
    status: answer.status,
    url,
    authenticate: answer.header('www-authenticate'),
    contentType: answer.header('content-type'),
    body: answer.text,
  };
  if (answer.status >= 500) throw withHint(unexpectedResponseError(about), hintForStatus(about));
  const body = answer.status < 300 ? parseJsonOrUndefined(answer.text) : undefined;
  if (looksLikeCard(body)) return fetched(body, answer, { url, began });
  refused.push(unexpectedResponseError(about));
  return undefined;
}

/**
 * Asks again for a card that is too old.
 *
 * @returns the old one, with a new life, where it is still right.
 */
export async function refetchCard(settings: ClientSettings, old: FetchedCard): Promise<FetchedCard> {
  const began = settings.clock.now();
  const { url, etag } = old;
  const answer = await askWithAuth(settings, url, etag === undefined ? {} : { 'if-none-match': etag });
  const body = parseJsonOrUndefined(answer.text);
  if (answer.status < 300 && answer.text !== old.text && looksLikeCard(body))
    return fetched(body, answer, { url, began });
  if (answer.status === 304 || (answer.status < 300 && answer.text === old.text)) {
    old.freshUntil = began + (lifeOf(answer) ?? old.life ?? Number.POSITIVE_INFINITY);
    return old;
  }
  const { status } = answer;
  throw unexpectedResponseError({
    status,
    url,
    authenticate: undefined,
    contentType: undefined,
    body: answer.text,
  });
}

function fetched(
  wire: object,
  answer: BufferedResponse,
  { url, began }: { url: string; began: number },
): FetchedCard {
  const life = lifeOf(answer);
  const freshUntil = began + (life ?? Number.POSITIVE_INFINITY);
  return { wire, text: answer.text, url, etag: answer.header('etag'), life, freshUntil };
}

/** For how many milliseconds an answer may be kept (RFC 9111), as far as it says so. */
function lifeOf(answer: BufferedResponse): number | undefined {
  const control = answer.header('cache-control')?.toLowerCase() ?? '';
  if (/(^|[\s,])no-(cache|store)($|[\s,=])/.test(control)) return 0;
  const seconds = /(?:^|[\s,])max-age="?(\d{1,10})/.exec(control)?.[1];
  if (seconds === undefined) return undefined;
  const aged = answer.header('age') ?? '';
  const age = /^\d{1,10}$/.test(aged) ? Number(aged) : 0;
  return Math.max(0, Number(seconds) - age) * 1000;
}

/** A card is asked for without credentials first. */
async function askWithAuth(
  settings: ClientSettings,
  url: string,
  headers: Record<string, string> = {},
): Promise<BufferedResponse> {
  const { cardAuth, auth } = settings;
  const answer = await askForCard(settings, url, { auth: cardAuth, headers });
  if (answer.status !== 401 || cardAuth || !auth) return answer;
  return askForCard(settings, url, { auth, headers });
}

function askForCard(
  settings: ClientSettings,
  url: string,
  { auth, headers }: { auth: ClientSettings['auth']; headers: Record<string, string> },
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
      ...headers,
    },
    call: {},
    auth,
    follow: 'anywhere',
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
