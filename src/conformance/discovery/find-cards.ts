import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { type PostJson, probeVersion, probeVersionByMessage } from './probe-version.ts';
import type { DiscoveryOptions } from './discovery-options.ts';
import { cardVariants, detectCardVersion, type PublishedCard } from './card-variants.ts';
import { asText } from '../drivers/normalized-views.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import type { RawHttpClient } from '../wire/raw-http-client.ts';
import { stripTrailing } from '../../primitives/text.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Returns the URLs at which the card of an agent may be. */
export function cardLocations(url: string): string[] {
  const base = stripTrailing(url, '/');
  return base.endsWith('.json')
    ? [base]
    : [`${base}/.well-known/agent-card.json`, `${base}/.well-known/agent.json`];
}

/** Requests the card at a URL, as a client of the given version; clients of 0.1 send no version header. */
export function requestCard(
  http: RawHttpClient,
  location: string,
  version: '1.0' | '0.3' | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<HttpExchange> {
  return http.send({
    method: 'GET',
    url: location,
    headers: {
      accept: 'application/json',
      ...(version === undefined ? {} : { 'a2a-version': version }),
      ...headers,
    },
  });
}

interface FoundCard {
  readonly location: string;
  /** Version header of the request; clients of 0.1 send none. */
  readonly requested: '1.0' | '0.3' | undefined;
  readonly card: JsonObject;
}

/** Fetches the cards at both well-known URLs as a client of every version; returns the newest version first. */
export async function findCards(
  http: RawHttpClient,
  url: string,
  headers: Readonly<Record<string, string>>,
  { probesByMessage = true }: DiscoveryOptions = {},
): Promise<PublishedCard[]> {
  const found: FoundCard[] = [];
  for (const location of cardLocations(url)) {
    for (const requested of ['1.0', '0.3', undefined] as const) {
      const exchange = await requestCard(http, location, requested, headers);
      const card = exchange.status === 200 ? parseJsonOrUndefined(exchange.body) : undefined;
      if (isJsonObject(card)) found.push({ location, requested, card });
    }
  }
  const cards: PublishedCard[] = [];
  for (const { location, card } of deduplicate(found)) {
    const { version: detected, isCertain } = detectCardVersion(card);
    const version = isCertain
      ? detected
      : ((await probeCardVersion(http, card, location, headers, probesByMessage)) ?? detected);
    if (!cards.some((each) => each.version === version))
      cards.push({ url: location, card, version, isCertain });
  }
  // One card may declare several versions; each is then checked with the card that its clients receive.
  const declared = new Set(cards.flatMap(cardVariants).map(({ version }) => version));
  for (const version of ['0.3', '0.1'] as const) {
    const match = found.find((each) => isCardOf(each, version));
    if (match && declared.has(version) && !cards.some((each) => each.version === version))
      cards.push({ url: match.location, card: match.card, version, isCertain: true });
  }
  return cards.toSorted((a, b) => b.version.localeCompare(a.version));
}

/** Removes duplicates: an agent often serves the same card to clients of all versions. */
function deduplicate(found: readonly FoundCard[]): FoundCard[] {
  const texts = found.map(({ card }) => JSON.stringify(card));
  return found.filter((_each, index) => texts.indexOf(texts[index] ?? '') === index);
}

/** Detects the version of an agent from the responses at the URL of its card. */
async function probeCardVersion(
  http: RawHttpClient,
  card: JsonObject,
  location: string,
  credentials: Readonly<Record<string, string>>,
  probesByMessage: boolean,
): Promise<'0.1' | '0.3' | undefined> {
  const address = asText(card.url);
  const url = address === undefined ? undefined : parseUrl(address, location)?.href;
  if (url === undefined) return undefined;
  const headers = { 'content-type': 'application/json', accept: 'application/json', ...credentials };
  const post: PostJson = async (body) => (await http.send({ method: 'POST', url, headers, body })).body;
  return (await probeVersion(post)) ?? (probesByMessage ? probeVersionByMessage(post) : undefined);
}

function isCardOf({ location, requested, card }: FoundCard, version: '0.3' | '0.1'): boolean {
  if (typeof card.url !== 'string') return false;
  return version === '0.3'
    ? requested === '0.3'
    : requested === undefined && location.endsWith('/agent.json');
}
