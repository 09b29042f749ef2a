import { catalogMediaType, catalogPath, writeCatalog } from '../protocol/catalog/ai-catalog.ts';
import { type A2AError, errorTable } from '../protocol/errors.ts';
import { AuthError } from '../server/auth/auth-error.ts';
import { computeEtag } from '../server/cards/etag.ts';
import type { UpstreamHealth } from './agents/upstream.ts';
import type { Gateway, GatewayEntry } from './gateway.ts';
import { forwardedHeaders } from '../server/cards/public-url.ts';

/** A response of the gateway itself. */
export interface Page {
  status: number;
  /** @defaultValue `application/json` */
  type?: string;
  text: string;
  /** @defaultValue not cached */
  cache?: { control: string; etag: string; vary: string };
  /** Values of `WWW-Authenticate`. */
  challenges?: readonly string[];
}

/** An agent on the pages. */
export interface ListedEntry {
  readonly name: string;
  readonly added: GatewayEntry;
}

/** Path below which agents are served. */
export const agentsPrefix = '/agents/';

/** Path of the catalog. */
export const gatewayCatalogPath = `/${catalogPath}`;

function errorPage(code: number, status: string, message: string): Page {
  return { status: code, text: JSON.stringify({ error: { code, status, message } }) };
}

export function forbiddenPage(message: string): Page {
  return errorPage(403, 'PERMISSION_DENIED', message);
}

/** Responds to a client whose credentials are invalid, or that sends too many requests. */
export function rejectedPage(error: A2AError): Page {
  const { http, grpc } = errorTable[error.reason];
  const page = errorPage(http, grpc, error.message);
  return error instanceof AuthError ? { ...page, challenges: error.challenges } : page;
}

/** Responds to a request that no page and no agent answers. */
export function unknownPage(path: string, isReading: boolean): Page {
  const isKnown = ['/agents', '/healthz', '/readyz', '/metrics', gatewayCatalogPath].includes(path);
  if (isKnown && !isReading) return errorPage(405, 'UNIMPLEMENTED', 'Method not allowed; use GET');
  return errorPage(404, 'NOT_FOUND', 'Agent not found. GET /agents lists all agents.');
}

/** Lists the agents as a catalog. Like a card it may be cached, and depends on the host of the request. */
export function catalogPage(
  entries: readonly ListedEntry[],
  {
    base,
    cardMaxAge = 300,
    trustForwarded = false,
    isPersonal,
  }: { base: string; cardMaxAge?: number; trustForwarded?: boolean; isPersonal: boolean },
): Page {
  const agents = entries.map(({ name }) => ({ name, cardUrl: cardUrl(base, name) }));
  const text = JSON.stringify(writeCatalog(base, agents));
  const vary = [
    'Host',
    ...(trustForwarded ? [forwardedHeaders] : []),
    ...(isPersonal ? ['Authorization'] : []),
  ];
  const cache = {
    control: `${isPersonal ? 'private' : 'public'}, max-age=${cardMaxAge}`,
    etag: computeEtag(text),
    vary: vary.join(', '),
  };
  return { status: 200, type: catalogMediaType, text, cache };
}

/** Lists the agents with their health. */
export function agentListPage(entries: readonly ListedEntry[], base: string): Page {
  const agents = entries.map(({ name, added }) => {
    const { state, since } = healthOf(added);
    return {
      name,
      url: `${base}${agentsPrefix}${name}`,
      card: cardUrl(base, name),
      health: state,
      since: since === undefined ? undefined : new Date(since).toISOString(),
      ...added.info?.(),
    };
  });
  return { status: 200, text: JSON.stringify({ agents }) };
}

/**
 * Responds 503 only if the gateway is not ready, its register does not respond, or all agents are down.
 *
 * @param visible - the agents that the client may find; only they are named.
 */
export function readinessPage(
  entries: readonly ListedEntry[],
  visible: readonly ListedEntry[],
  { isReady, outage: readOutage }: Pick<Gateway, 'isReady' | 'outage'>,
): Page {
  const agents: Record<string, string> = {};
  let down = 0;
  for (const entry of entries) {
    const { state } = healthOf(entry.added);
    if (visible.includes(entry)) agents[entry.name] = state;
    if (state === 'down') down++;
  }
  const outage = readOutage?.();
  const isUnavailable = !isReady || outage !== undefined || (down > 0 && down === entries.length);
  const health = isUnavailable ? 'unavailable' : down > 0 ? 'degraded' : 'ready';
  const status = isReady ? health : 'not ready';
  const register = readOutage && (outage ? 'unavailable' : 'connected');
  return { status: isUnavailable ? 503 : 200, text: JSON.stringify({ status, register, agents }) };
}

/** An agent is down as well while it rejects calls: its task store cannot be written, or its circuit breaker is open. */
function healthOf({ agent, health }: GatewayEntry): Pick<UpstreamHealth, 'state'> & { since?: number } {
  const checked = health?.() ?? { state: 'up' };
  return checked.state !== 'down' && agent.outage?.() ? { state: 'down' } : checked;
}

function cardUrl(base: string, name: string): string {
  return `${base}${agentsPrefix}${name}/.well-known/agent-card.json`;
}
