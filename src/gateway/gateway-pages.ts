import {
  catalogMediaType,
  catalogPath,
  type OfferedAgent,
  writeCatalog,
} from '../protocol/catalog/ai-catalog.ts';
import { computeEtag } from '../server/cards/etag.ts';
import { forwardedHeaders } from '../server/cards/public-url.ts';

/** A response of the gateway itself. */
export interface Page {
  status: number;
  /** @defaultValue `application/json` */
  type?: string;
  text: string;
  /** @defaultValue not cached */
  cache?: { maxAge: number; etag: string; vary: string };
}

/** Path of the catalog. */
export const gatewayCatalogPath = `/${catalogPath}`;

function errorPage(code: number, status: string, message: string): Page {
  return { status: code, text: JSON.stringify({ error: { code, status, message } }) };
}

export function forbiddenPage(message: string): Page {
  return errorPage(403, 'PERMISSION_DENIED', message);
}

/** Responds to a request that no page and no agent answers. */
export function unknownPage(path: string, isReading: boolean): Page {
  const isKnown = ['/agents', '/healthz', '/readyz', '/metrics', gatewayCatalogPath].includes(path);
  if (isKnown && !isReading) return errorPage(405, 'UNIMPLEMENTED', 'Method not allowed; use GET');
  return errorPage(404, 'NOT_FOUND', 'Agent not found. GET /agents lists all agents.');
}

/** Lists the agents as a catalog. Like a card it may be cached, and depends on the host of the request. */
export function catalogPage(
  agents: readonly OfferedAgent[],
  {
    base,
    cardMaxAge = 300,
    trustForwarded = false,
  }: { base: string; cardMaxAge?: number; trustForwarded?: boolean },
): Page {
  const text = JSON.stringify(writeCatalog(base, agents));
  const vary = trustForwarded ? `Host, ${forwardedHeaders}` : 'Host';
  const cache = { maxAge: cardMaxAge, etag: computeEtag(text), vary };
  return { status: 200, type: catalogMediaType, text, cache };
}
