import { type HttpServerRequest, singleHeader, type HttpServerResponse } from './http-message.ts';
import type { ServerOptions } from '../server-options.ts';

const exposed = 'A2A-Version, A2A-Extensions, X-A2A-Extensions, ETag, WWW-Authenticate, Retry-After';

/** The headers that let a browser read a reply, or none. */
function headersFor(origin: string, allowed: ServerOptions['cors']): string[] {
  if (allowed === false) return [];
  if (allowed === undefined || allowed === '*') return ['Access-Control-Allow-Origin', '*'];
  return allowed.includes(origin) ? ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin'] : [];
}

/** Adds what a browser needs to a reply. Other callers send no `Origin` and cost nothing. */
export function withCors(
  exchange: HttpServerRequest,
  reply: HttpServerResponse,
  options: ServerOptions,
): HttpServerResponse {
  const origin = singleHeader(exchange.headers, 'origin');
  if (origin === undefined) return reply;
  const headers = headersFor(origin, options.cors);
  if (headers.length === 0) return reply;
  return { ...reply, headers: [...reply.headers, ...headers, 'Access-Control-Expose-Headers', exposed] };
}

/** Answers a browser that asks whether it may. */
export function preflightResponse(exchange: HttpServerRequest, options: ServerOptions): HttpServerResponse {
  const origin = singleHeader(exchange.headers, 'origin') ?? '';
  const asked = singleHeader(exchange.headers, 'access-control-request-headers');
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
      asked ?? 'Content-Type, Authorization, A2A-Version, A2A-Extensions',
    );
  }
  return { status: 204, headers, body: undefined };
}
