import {
  type AgentCatalog,
  type CatalogAgent,
  catalogMediaType,
  catalogPath,
  isCatalog,
  newestVersions,
  readCatalog,
} from '../../protocol/catalog/ai-catalog.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { truncate } from '../../primitives/text.ts';
import type { ClientSettings } from '../connect-options.ts';
import { unexpectedResponseError } from '../http/response-errors.ts';
import {
  type CardSearch,
  fetchCard,
  type FetchedCard,
  requestWithAuth,
  toUnexpectedResponse,
} from './fetch-card.ts';

/** Maximum size of a catalog in bytes. */
const maxBytes = 4 * 1_024 * 1_024;

/** Maximum number of agents that an error names. */
const maxNamed = 10;

/** Several agents are available at a URL, and none of them is its agent. */
export class SeveralAgentsError extends A2AError {
  /** URL of the catalog. */
  readonly catalogUrl: string;
  /** All agents of the catalog. */
  readonly agents: readonly CatalogAgent[];

  constructor(url: URL, catalogUrl: string, agents: readonly CatalogAgent[]) {
    super('NOT_FOUND', `No agent card found at ${url.href}; its catalog lists ${formatAgents(agents)}`, {
      hint: `Pass the URL of one of them, or ${catalogUrl}#name.`,
    });
    this.catalogUrl = catalogUrl;
    this.agents = agents;
  }
}

/** Lists agents with their URLs in one line. */
function formatAgents(agents: readonly CatalogAgent[]): string {
  const named = agents.slice(0, maxNamed).map(({ name, cardUrl }) => {
    // The host chose the name.
    const plain = truncate(name.replaceAll(/[\p{C}\p{Z}]/gu, ' '), 100);
    return cardUrl === undefined ? plain : `${plain} (${truncate(cardUrl, 500)})`;
  });
  const rest = agents.length - named.length;
  return `${agents.length} agents: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/**
 * Selects the agent that the fragment of a URL names, or the only agent of a catalog.
 *
 * @returns undefined if the catalog has no agents.
 * @throws {@link SeveralAgentsError} if the URL matches several agents or none
 */
export function selectAgent({ agents, url: catalogUrl }: AgentCatalog, url: URL): CatalogAgent | undefined {
  const listed = newestVersions(agents);
  const wanted = decodeFragment(url.hash.slice(1));
  const matching =
    wanted === ''
      ? listed
      : listed.filter(({ name, identifier }) => name === wanted || identifier === wanted);
  if (listed.length > 0 && matching.length !== 1) throw new SeveralAgentsError(url, catalogUrl, listed);
  return matching[0];
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** Returns a URL as a folder, below which well-known documents are. */
export function folderOf(url: URL): URL {
  const folder = new URL(url);
  folder.search = '';
  folder.hash = '';
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  return folder;
}

/** Fetches the catalog below the URL of a host. @returns undefined if there is none that can be read */
export function findCatalog(settings: ClientSettings, url: URL): Promise<AgentCatalog | undefined> {
  // Most agents have no catalog, so that a failure means little.
  return fetchCatalogAt(settings, new URL(catalogPath, folderOf(url)).href).catch(() => undefined);
}

/** Fetches the catalog at a URL. @throws {@link A2AError} if the response is not a catalog */
export async function fetchCatalogAt(
  settings: ClientSettings,
  url: string,
  call: CallContext = {},
): Promise<AgentCatalog> {
  const body = Math.min(maxBytes, settings.limits.body);
  const bounded = { ...settings, maxRetries: 0, limits: { ...settings.limits, body } };
  const response = await requestWithAuth(bounded, url, {
    headers: { accept: `${catalogMediaType}, application/json` },
    call,
  });
  const wire = response.status === 200 ? parseJsonOrUndefined(response.text) : undefined;
  if (isCatalog(wire)) return readCatalog(wire, url);
  throw unexpectedResponseError(toUnexpectedResponse(response, url));
}

/** Fetches the card of an agent in a catalog. The host supplied its URL, so the egress policy applies. */
export async function fetchListedCard(
  settings: ClientSettings,
  cardUrl: string,
  call: CallContext = {},
): Promise<FetchedCard> {
  const search: CardSearch = { errors: [] };
  const fetched = await fetchCard(settings, cardUrl, search, call);
  if (fetched) return fetched;
  throw search.errors[0] ?? new A2AError('NOT_FOUND', `No agent card found at ${cardUrl}`);
}
