/**
 * Finding an agent: its card, wherever it is, or at least an address that answers.
 *
 * @module
 */
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { type Endpoint, unreadableResponse } from '../transports/transport-binding.ts';
import { decodeReportingLosses } from '../transports/loss-reporting.ts';
import type { ClientSettings } from '../connect-options.ts';
import { listEndpoints, fallbackEndpoints } from './endpoints.ts';
import { type FetchedCard, fetchCard, refetchCard } from './fetch-card.ts';
import { hasInterfaceAt, type ParsedCard, parseCard } from './parse-card.ts';
import { type CardVerification, missingCardError, verifyDiscoveredCard } from './card-verification.ts';

/** What is known of an agent before anybody spoke to it. */
export interface DiscoveredAgent {
  /** Undefined where there is none. */
  card: AgentCard | undefined;
  cardUrl: string | undefined;
  /** The card as it came; undefined when there is none, or when it was given. */
  fetched: FetchedCard | undefined;
  /** What is known about the signatures of the card, where somebody looked. */
  verdict: CardVerification | undefined;
  /** Every way to speak to it, the best first. */
  endpoints: Endpoint[];
  /** Why one of the addresses in the card is not among them. */
  refused: A2AError | undefined;
  /** The name of the place in the memory of what agents really speak. */
  place: string;
}

const wellKnown = ['.well-known/agent-card.json', '.well-known/agent.json'];

/** Finds the agent that an address or a card stands for. */
export async function discover(
  settings: ClientSettings,
  where: string | URL | object,
): Promise<DiscoveredAgent> {
  if (typeof where !== 'string' && !(where instanceof URL)) return fromCard(settings, where, undefined);
  const given = readUrl(where);
  settings.gate.trust(given);
  if (settings.endpoint !== undefined) settings.gate.trust(readUrl(settings.endpoint));
  const refused: A2AError[] = [];
  for (const place of ladder(given, settings)) {
    const fetched = await fetchCard(settings, place.url.href, refused);
    if (fetched === undefined || (place.mustName && !hasInterfaceAt(fetched.wire, given))) continue;
    return fromCard(settings, fetched.wire, fetched);
  }
  // Credentials that are missing say more than a place where nothing is.
  const told = refused.find(({ reason }) => reason === 'UNAUTHENTICATED' || reason === 'PERMISSION_DENIED');
  if (told) throw told;
  if (settings.cardPath !== undefined) throw refused[0] ?? noCard(given);
  if (settings.requireVerified) throw missingCardError(given.href);
  const endpoints = fallbackEndpoints(given.href, settings);
  return {
    card: undefined,
    cardUrl: undefined,
    fetched: undefined,
    verdict: undefined,
    endpoints,
    refused: undefined,
    place: given.href,
  };
}

/** Looks whether the card has changed. Gives what was found before if it has not. */
export async function refreshDiscovery(
  settings: ClientSettings,
  before: DiscoveredAgent,
): Promise<DiscoveredAgent> {
  if (!before.fetched) return before;
  const fetched = await refetchCard(settings, before.fetched);
  return fetched === before.fetched ? before : fromCard(settings, fetched.wire, fetched);
}

function readUrl(where: string | URL): URL {
  if (!URL.canParse(String(where)))
    throw new A2AError('INVALID_PARAMS', `${String(where)} is not a URL`, {
      hint: 'Write the whole address, such as http://localhost:4000.',
    });
  const url = new URL(where);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new A2AError('INVALID_PARAMS', `${url.href} is not an address of HTTP`);
  return url;
}

interface Rung {
  url: URL;
  /** The card counts only if it speaks of the address that was given: a host may have several agents. */
  mustName?: boolean;
}

/** Where a card may be, the likeliest place first. */
function ladder(given: URL, { cardPath, gate }: ClientSettings): Rung[] {
  if (cardPath !== undefined) {
    const url = new URL(cardPath, given);
    gate.trust(url);
    return [{ url }];
  }
  const itself = { url: given };
  if (given.pathname.endsWith('.json')) return [itself];
  const folder = new URL(given);
  folder.search = '';
  folder.hash = '';
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  const below = wellKnown.map((path) => ({ url: new URL(path, folder) }));
  if (folder.pathname === '/') return [...below, itself];
  const atRoot = wellKnown.map((path) => ({ url: new URL(`/${path}`, given), mustName: true }));
  return [...below, itself, ...atRoot];
}

async function fromCard(
  settings: ClientSettings,
  given: object,
  fetched: FetchedCard | undefined,
): Promise<DiscoveredAgent> {
  const cardUrl = fetched?.url;
  const { wire, verdict } = await verifyDiscoveredCard(settings, given, cardUrl);
  const { card, uncertain } = understood(settings, wire, cardUrl);
  const named = listEndpoints(card, { url: cardUrl, uncertain }, settings);
  if (named.length === 0) throw noWay(card, settings);
  // A card that somebody gave is that somebody's word.
  if (!fetched) for (const { url } of named) settings.gate.trust(url);
  const { endpoints, refused } = await allowed(settings, named);
  const place = cardUrl ?? endpoints[0]?.url ?? '';
  return { card, cardUrl, fetched, verdict, endpoints, refused, place };
}

function understood(settings: ClientSettings, wire: object, cardUrl: string | undefined): ParsedCard {
  try {
    return decodeReportingLosses(settings, { operation: 'card', url: cardUrl }, (reading) =>
      parseCard(wire, reading),
    );
  } catch (thrown) {
    throw unreadableResponse(thrown, cardUrl ?? 'the card');
  }
}

/** Leaves out addresses that may not be used. If that leaves nothing, the first of them is the error. */
async function allowed(
  { gate, report }: ClientSettings,
  named: readonly Endpoint[],
): Promise<{ endpoints: Endpoint[]; refused: A2AError | undefined }> {
  const endpoints: Endpoint[] = [];
  const refusals = new Map<string, A2AError>();
  for (const endpoint of named) {
    if (refusals.has(endpoint.url)) continue;
    try {
      await gate.resolve(endpoint.url, 'call');
      endpoints.push(endpoint);
    } catch (thrown) {
      refusals.set(endpoint.url, A2AError.from(thrown));
    }
  }
  const [refused] = refusals.values();
  if (refused && endpoints.length === 0) throw refused;
  for (const error of refusals.values()) report({ kind: 'refused', message: error.message, error });
  return { endpoints, refused };
}

function noWay(card: AgentCard, { transports, versions }: ClientSettings): A2AError {
  const offers = card.interfaces.map(
    (each) => `${each.protocolBinding} ${each.protocolVersion} at ${each.url}`,
  );
  const wanted = [...(transports ?? []), ...(versions ?? [])].join(', ');
  return new A2AError('VERSION_NOT_SUPPORTED', `There is no way to speak to ${card.name}`, {
    hint: `It offers ${offers.join('; ') || 'nothing'}.${wanted === '' ? '' : ` Wanted: ${wanted}.`}`,
  });
}

function noCard(given: URL): A2AError {
  return new A2AError('NOT_FOUND', `There is no agent card for ${given.href}`);
}
