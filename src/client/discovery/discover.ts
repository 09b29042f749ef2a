/**
 * Discovery of an agent: its card, or at least the endpoints to try.
 *
 * @module
 */
import type { AgentCard } from '../../protocol/card.ts';
import type { CatalogAgent } from '../../protocol/catalog/ai-catalog.ts';
import { A2AError } from '../../protocol/errors.ts';
import { type Endpoint, unreadableResponse } from '../transports/transport-binding.ts';
import { decodeReportingLosses } from '../transports/loss-reporting.ts';
import type { ClientSettings } from '../connect-options.ts';
import { http2UnsupportedError } from '../http/http-client.ts';
import { isGrpcUrl, parseGrpcAddress } from './grpc-address.ts';
import { listEndpoints, fallbackEndpoints } from './endpoints.ts';
import { type CardSearch, type FetchedCard, fetchCard, refetchCard } from './fetch-card.ts';
import { fetchListedCard, findCatalog, folderOf, selectAgent } from './find-in-catalog.ts';
import { hasInterfaceAt, type ParsedCard, parseCard } from './parse-card.ts';
import { type CardVerification, missingCardError, verifyDiscoveredCard } from './card-verification.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Result of discovery. */
export interface DiscoveredAgent {
  /** Undefined if the agent has no card. */
  card: AgentCard | undefined;
  cardUrl: string | undefined;
  /** Fetched card; undefined if there is none or it was passed to `connect()`. */
  fetchedCard: FetchedCard | undefined;
  /** Result of the card verification, if enabled. */
  verification: CardVerification | undefined;
  /** Endpoints to try, best first. */
  endpoints: Endpoint[];
  /** Error of the first URL in the card that the egress policy denies. */
  denied: A2AError | undefined;
  /** Key in the endpoint cache. */
  cacheKey: string;
}

const wellKnownPaths = ['.well-known/agent-card.json', '.well-known/agent.json'];

/** Discovers the agent of a URL or a card. */
export async function discover(
  settings: ClientSettings,
  target: string | URL | object,
): Promise<DiscoveredAgent> {
  if (typeof target !== 'string' && !(target instanceof URL)) return fromCard(settings, target, {});
  const url = parseAgentUrl(target);
  settings.destinations.trust(url);
  if (settings.endpoint !== undefined) settings.destinations.trust(parseAgentUrl(settings.endpoint));
  const isGrpc = isGrpcUrl(String(target));
  const search: CardSearch = { errors: [] };
  const { errors } = search;
  for (const candidate of isGrpc && settings.cardPath === undefined ? [] : cardCandidates(url, settings)) {
    const fetched = await fetchCard(settings, candidate.url.href, search);
    if (fetched === undefined || (candidate.mustList && !hasInterfaceAt(fetched.wire, url))) continue;
    return fromCard(settings, fetched.wire, { fetched });
  }
  // Missing credentials are more informative than a missing card.
  const authError = errors.find(
    ({ reason }) => reason === 'UNAUTHENTICATED' || reason === 'PERMISSION_DENIED',
  );
  if (authError) throw authError;
  const mayHaveCatalog = !isGrpc && settings.cardPath === undefined && !url.pathname.endsWith('.json');
  const catalog = search.catalog ?? (mayHaveCatalog ? await findCatalog(settings, url) : undefined);
  const agent = catalog && selectAgent(catalog, url);
  if (agent) return fromCatalog(settings, agent, catalog.url);
  if (settings.cardPath !== undefined) throw errors[0] ?? noCardError(url);
  if (settings.requireVerified) throw missingCardError(url.href);
  return {
    card: undefined,
    cardUrl: undefined,
    fetchedCard: undefined,
    verification: undefined,
    endpoints: await filterSupported(settings, fallbackEndpoints(url.href, settings, isGrpc), undefined),
    denied: undefined,
    cacheKey: url.href,
  };
}

/** Fetches the card again. @returns the same object if the card has not changed. */
export async function refreshDiscovery(
  settings: ClientSettings,
  agent: DiscoveredAgent,
): Promise<DiscoveredAgent> {
  if (!agent.fetchedCard) return agent;
  const fetched = await refetchCard(settings, agent.fetchedCard);
  return fetched === agent.fetchedCard ? agent : fromCard(settings, fetched.wire, { fetched });
}

/** Uses an agent of a catalog. */
async function fromCatalog(
  settings: ClientSettings,
  agent: CatalogAgent,
  catalogUrl: string,
): Promise<DiscoveredAgent> {
  if (agent.card) {
    const url = new URL(catalogUrl);
    url.hash = encodeURIComponent(agent.identifier);
    return fromCard(settings, agent.card, { entryUrl: url.href });
  }
  const fetched = await fetchListedCard(settings, agent.cardUrl ?? catalogUrl);
  return fromCard(settings, fetched.wire, { fetched });
}

function parseAgentUrl(target: string | URL): URL {
  const grpcUrl = isGrpcUrl(String(target)) ? parseGrpcAddress(String(target)) : undefined;
  if (grpcUrl) return grpcUrl;
  const url = parseUrl(target);
  if (!url)
    throw new A2AError('INVALID_PARAMS', `Invalid URL: ${String(target)}`, {
      hint: 'Pass an absolute URL, such as http://localhost:4000.',
    });
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new A2AError('INVALID_PARAMS', `Not an http or https URL: ${url.href}`);
  return url;
}

interface CardCandidate {
  url: URL;
  /** Accepts the card only if it lists the URL of the caller, because a host may have several agents. */
  mustList?: boolean;
}

/** Returns the URLs where the card may be, most likely first. */
function cardCandidates(agentUrl: URL, { cardPath, destinations }: ClientSettings): CardCandidate[] {
  if (cardPath !== undefined) {
    const url = new URL(cardPath, agentUrl);
    destinations.trust(url);
    return [{ url }];
  }
  const itself = { url: agentUrl };
  if (agentUrl.pathname.endsWith('.json')) return [itself];
  const folder = folderOf(agentUrl);
  const below = wellKnownPaths.map((path) => ({ url: new URL(path, folder) }));
  if (folder.pathname === '/') return [...below, itself];
  const atRoot = wellKnownPaths.map((path) => ({ url: new URL(`/${path}`, agentUrl), mustList: true }));
  return [...below, itself, ...atRoot];
}

/** Where a card comes from: its URL, the entry of a catalog that contains it, or the caller. */
interface CardSource {
  fetched?: FetchedCard;
  entryUrl?: string;
}

async function fromCard(
  settings: ClientSettings,
  source: object,
  { fetched, entryUrl }: CardSource,
): Promise<DiscoveredAgent> {
  const cardUrl = fetched?.url ?? entryUrl;
  const { wire, verification } = await verifyDiscoveredCard(settings, source, cardUrl);
  const { card, uncertain } = decodeCard(settings, wire, cardUrl);
  const listed = listEndpoints(card, { url: cardUrl, uncertain }, settings);
  if (listed.length === 0) throw noInterfaceError(card, settings);
  // The caller passed the card, so its URLs are trusted.
  if (cardUrl === undefined) for (const { url } of listed) settings.destinations.trust(url);
  const supported = await filterSupported(settings, listed, card);
  const { endpoints, denied } = await filterAllowed(settings, supported);
  const cacheKey = cardUrl ?? endpoints[0]?.url ?? '';
  return { card, cardUrl, fetchedCard: fetched, verification, endpoints, denied, cacheKey };
}

function decodeCard(settings: ClientSettings, wire: object, cardUrl: string | undefined): ParsedCard {
  try {
    return decodeReportingLosses(settings, { operation: 'card', url: cardUrl }, (mode) =>
      parseCard(wire, mode),
    );
  } catch (thrown) {
    throw unreadableResponse(thrown, cardUrl ?? 'the card');
  }
}

/** Removes the endpoints of gRPC if the HTTP client has no HTTP/2. @throws if none remains */
async function filterSupported(
  { http, transports, warn }: ClientSettings,
  listed: readonly Endpoint[],
  card: AgentCard | undefined,
): Promise<Endpoint[]> {
  const supported = listed.filter(({ transport }) => transport !== 'GRPC');
  if (supported.length === listed.length || (await http.supportsHttp2?.())) return [...listed];
  const [next] = supported;
  if (!next) throw http2UnsupportedError(card && describeInterfaces(card));
  // Without a preference of the caller, the card may prefer what it likes.
  if (transports)
    warn({
      kind: 'fallback',
      message: `Using ${next.transport} at ${next.url}`,
      error: http2UnsupportedError(),
    });
  return supported;
}

/** Removes endpoints that the egress policy denies. @throws the first denial if none remains */
async function filterAllowed(
  { destinations, warn }: ClientSettings,
  listed: readonly Endpoint[],
): Promise<{ endpoints: Endpoint[]; denied: A2AError | undefined }> {
  const endpoints: Endpoint[] = [];
  const denials = new Map<string, A2AError>();
  for (const endpoint of listed) {
    if (denials.has(endpoint.url)) continue;
    try {
      await destinations.resolve(endpoint.url, 'call');
      endpoints.push(endpoint);
    } catch (thrown) {
      denials.set(endpoint.url, A2AError.from(thrown));
    }
  }
  const [denied] = denials.values();
  if (denied && endpoints.length === 0) throw denied;
  for (const error of denials.values()) warn({ kind: 'denied', message: error.message, error });
  return { endpoints, denied };
}

function noInterfaceError(card: AgentCard, { transports, versions }: ClientSettings): A2AError {
  const requested = [...(transports ?? []), ...(versions ?? [])].join(', ');
  return new A2AError('VERSION_NOT_SUPPORTED', `The card of ${card.name} lists no supported interface`, {
    hint: `${describeInterfaces(card)}${requested === '' ? '' : ` Requested: ${requested}.`}`,
  });
}

function describeInterfaces({ interfaces }: AgentCard): string {
  const listed = interfaces.map((each) => `${each.protocolBinding} ${each.protocolVersion} at ${each.url}`);
  return `The card lists ${listed.join('; ') || 'no interfaces'}.`;
}

function noCardError(url: URL): A2AError {
  return new A2AError('NOT_FOUND', `No agent card found for ${url.href}`);
}
