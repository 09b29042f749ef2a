import type { AgentCard } from '../protocol/card.ts';
import { type AgentCatalog, type CatalogAgent, catalogPath } from '../protocol/catalog/ai-catalog.ts';
import { A2AError, invalidField } from '../protocol/errors.ts';
import { type ConnectOptions, type ClientSettings, resolveSettings } from './connect-options.ts';
import { fetchCatalogAt, fetchListedCard, folderOf } from './discovery/find-in-catalog.ts';
import { parseCard } from './discovery/parse-card.ts';
import { parseUrl } from '../primitives/web/parse-url.ts';

/** Options of {@link fetchCatalog}. All options are optional. */
export interface CatalogOptions extends ConnectOptions {
  /** Number of agents whose cards are read. @defaultValue 0 */
  maxCards?: number;
  signal?: AbortSignal;
}

/** An agent of a catalog with its card. */
export interface ListedAgent extends CatalogAgent {
  /** The card; undefined if it is not read or cannot be read. */
  readonly decodedCard?: AgentCard;
  /** Why the card cannot be read. */
  readonly error?: A2AError;
}

/** A catalog with the cards of its agents. */
export interface CatalogListing extends AgentCatalog {
  readonly agents: readonly ListedAgent[];
}

/** Maximum size of each card in bytes, and number of cards that are read at a time. */
const cardLimits = { bytes: 1_024 * 1_024, concurrent: 8 };

/** Statuses of URLs without a catalog. */
const missingStatuses: ReadonlySet<number | undefined> = new Set([200, 404, 405, 410]);

/**
 * Fetches the catalog of a host: the agents that it offers. Other catalogs that it names are not followed.
 *
 * @param target - URL of the host or of the catalog.
 * @throws {@link A2AError} `NOT_FOUND` if there is no catalog
 *
 * @example
 * ```ts
 * const { agents } = await fetchCatalog('https://agents.example.com');
 * ```
 */
export async function fetchCatalog(
  target: string | URL,
  options: CatalogOptions = {},
): Promise<CatalogListing> {
  const { maxCards = 0, signal, ...connectOptions } = options;
  const settings = resolveSettings(connectOptions);
  try {
    const url = parseHostUrl(target);
    settings.destinations.trust(url);
    const catalog = await fetchFirst(settings, url, signal);
    return { ...catalog, agents: await readCards(settings, catalog, { maxCards, signal }) };
  } finally {
    if (settings.ownsHttp) await settings.http.close();
  }
}

function parseHostUrl(target: string | URL): URL {
  const url = parseUrl(String(target));
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw invalidField('target', 'must be an http or https URL, such as https://agents.example.com');
}

async function fetchFirst(
  settings: ClientSettings,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<AgentCatalog> {
  const wellKnown = new URL(catalogPath, folderOf(url)).href;
  const candidates = url.pathname.endsWith('.json') ? [] : [wellKnown];
  if (url.pathname !== '/') candidates.push(url.href);
  for (const candidate of candidates) {
    try {
      return await fetchCatalogAt(settings, candidate, { signal });
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (!missingStatuses.has(error.status)) throw error;
    }
  }
  throw new A2AError('NOT_FOUND', `No catalog found at ${url.href}`, {
    hint: `A catalog is a JSON document at ${candidates[0]}.`,
  });
}

async function readCards(
  settings: ClientSettings,
  { agents }: AgentCatalog,
  { maxCards, signal }: { maxCards: number; signal: AbortSignal | undefined },
): Promise<ListedAgent[]> {
  const body = Math.min(cardLimits.bytes, settings.limits.body);
  const bounded = { ...settings, maxRetries: 0, limits: { ...settings.limits, body } };
  const listed: ListedAgent[] = [...agents];
  const queue = agents.slice(0, maxCards).entries();
  const work = async (): Promise<void> => {
    for (const [at, agent] of queue) {
      try {
        const wire = agent.card ?? (await fetchListedCard(bounded, agent.cardUrl ?? '', { signal })).wire;
        listed[at] = { ...agent, decodedCard: parseCard(wire).card };
      } catch (thrown) {
        listed[at] = { ...agent, error: A2AError.from(thrown) };
      }
    }
  };
  await Promise.all(Array.from({ length: cardLimits.concurrent }, work));
  return listed;
}
