import { SameOriginCheck } from '../../primitives/web/same-origin-check.ts';
import { type HttpServerRequest, singleHeader, type HttpServerResponse } from './http-message.ts';
import type { ServerOptions } from '../server-options.ts';

const exposedHeaders = 'A2A-Version, A2A-Extensions, X-A2A-Extensions, ETag, WWW-Authenticate, Retry-After';

/** Returns the CORS headers for an origin; empty if it is not allowed. */
function headersFor(origin: string, allowed: ServerOptions['cors']): string[] {
  if (allowed === undefined) return [];
  if (allowed.origins === '*') return ['Access-Control-Allow-Origin', '*'];
  return allowed.origins.includes(origin) ? ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin'] : [];
}

/** Adds CORS headers to a response. Requests without `Origin` need none, and preflight responses have their own. */
export function withCors(
  request: HttpServerRequest,
  response: HttpServerResponse,
  options: ServerOptions,
): HttpServerResponse {
  const origin = singleHeader(request.headers, 'origin');
  if (origin === undefined || request.method === 'OPTIONS') return response;
  const headers = headersFor(origin, options.cors);
  if (headers.length === 0) return response;
  return {
    ...response,
    headers: [...response.headers, ...headers, 'Access-Control-Expose-Headers', exposedHeaders],
  };
}

/** Responds to a CORS preflight request. */
export function preflightResponse(request: HttpServerRequest, options: ServerOptions): HttpServerResponse {
  const origin = singleHeader(request.headers, 'origin') ?? '';
  const requestedHeaders = singleHeader(request.headers, 'access-control-request-headers');
  const headers = headersFor(origin, options.cors);
  if (headers.length > 0) {
    headers.push(
      'Access-Control-Allow-Methods',
      'GET, POST, DELETE, OPTIONS',
      'Access-Control-Max-Age',
      '86400',
    );
    headers.push(
      'Access-Control-Allow-Headers',
      requestedHeaders ?? 'Content-Type, Authorization, A2A-Version, A2A-Extensions, Idempotency-Key',
    );
  }
  return { status: 204, headers, body: undefined };
}

/** Creates the check of `Host` and `Origin`. @returns undefined if all clients are authenticated. */
export function createSameOriginCheck({
  auth,
  allowedHosts,
  publicUrl,
  cors,
}: Pick<ServerOptions, 'auth' | 'allowedHosts' | 'publicUrl' | 'cors'>): SameOriginCheck | undefined {
  if (auth && !auth.allowAnonymous) return undefined;
  return new SameOriginCheck({ allowedHosts, publicUrl, origins: cors?.origins });
}
