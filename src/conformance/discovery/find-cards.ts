import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { probeVersion } from './probe-version.ts';
import { cardVariants, detectCardVersion, type PublishedCard } from './card-variants.ts';
import { isJsonObject, type JsonObject, asText } from '../drivers/normalized-views.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import type { RawHttpClient } from '../wire/raw-http-client.ts';

/** Where a card may be. */
export function cardLocations(url: string): string[] {
  const base = url.replace(/\/+$/, '');
  return base.endsWith('.json')
    ? [base]
    : [`${base}/.well-known/agent-card.json`, `${base}/.well-known/agent.json`];
}

/** Asks for the card at a place, as a caller of a version; callers of 0.1 name none. */
export function requestCard(
  http: RawHttpClient,
  place: string,
  version: '1.0' | '0.3' | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<HttpExchange> {
  return http.send({
    method: 'GET',
    url: place,
    headers: {
      accept: 'application/json',
      ...(version === undefined ? {} : { 'a2a-version': version }),
      ...headers,
    },
  });
}

/** A card that was found, and how it was asked for. */
interface FoundCard {
  readonly place: string;
  /** The version that was named; the first readers named none. */
  readonly asked: '1.0' | '0.3' | undefined;
  readonly card: JsonObject;
}

/** The cards at both well-known places, asked for as every version would; the one of the newest version first. */
export async function findCards(
  http: RawHttpClient,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<PublishedCard[]> {
  const found: FoundCard[] = [];
  for (const place of cardLocations(url)) {
    for (const asked of ['1.0', '0.3', undefined] as const) {
      const exchange = await requestCard(http, place, asked, headers);
      const card = exchange.status === 200 ? parseJsonOrUndefined(exchange.body) : undefined;
      if (isJsonObject(card)) found.push({ place, asked, card });
    }
  }
  const cards: PublishedCard[] = [];
  for (const { place, card } of distinct(found)) {
    const { version: looks, isCertain } = detectCardVersion(card);
    const shape = isCertain ? looks : ((await spokenAt(http, card, place, headers)) ?? looks);
    if (!cards.some(({ version }) => version === shape)) cards.push({ url: place, card, version: shape });
  }
  // One card may have the words of several versions; each is then looked at as its own readers find it.
  const spoken = new Set(cards.flatMap(cardVariants).map(({ version }) => version));
  for (const version of ['0.3', '0.1'] as const) {
    const own = found.find((each) => isFor(each, version));
    if (own && spoken.has(version) && !cards.some((each) => each.version === version))
      cards.push({ url: own.place, card: own.card, version });
  }
  return cards.toSorted((a, b) => b.version.localeCompare(a.version));
}

/** One card is often found several times, and an agent need not be asked about it again. */
function distinct(found: readonly FoundCard[]): FoundCard[] {
  return [
    ...new Map(found.toReversed().map((each) => [JSON.stringify(each.card), each])).values(),
  ].toReversed();
}

/** The version that an agent speaks at the address of its card, if its answers tell. */
async function spokenAt(
  http: RawHttpClient,
  card: JsonObject,
  place: string,
  given: Readonly<Record<string, string>>,
): Promise<'0.1' | '0.3' | undefined> {
  const at = asText(card.url);
  if (at === undefined || !URL.canParse(at, place)) return undefined;
  const url = new URL(at, place).href;
  const headers = { 'content-type': 'application/json', accept: 'application/json', ...given };
  return probeVersion(async (body) => (await http.send({ method: 'POST', url, headers, body })).body);
}

function isFor({ place, asked, card }: FoundCard, version: '0.3' | '0.1'): boolean {
  if (typeof card.url !== 'string') return false;
  return version === '0.3' ? asked === '0.3' : asked === undefined && place.endsWith('/agent.json');
}
