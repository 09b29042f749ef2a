import { type HttpServerRequest, singleHeader } from '../http/http-message.ts';
import type { ServerOptions } from '../server-options.ts';

/** What a proxy says about the address that it was reached at. */
export const forwardedHeaders = 'X-Forwarded-Proto, X-Forwarded-Host, X-Forwarded-Prefix';

/** The address that a caller reached, without a slash at the end: many clients put the path of an operation right behind it. */
export function resolvePublicUrl(
  exchange: Pick<HttpServerRequest, 'headers' | 'isSecure'>,
  options: Pick<ServerOptions, 'publicUrl' | 'basePath' | 'trustForwarded'>,
): string {
  const { publicUrl, basePath = '', trustForwarded = false } = options;
  if (publicUrl !== undefined) return publicUrl;
  const told = (name: string) =>
    trustForwarded ? singleHeader(exchange.headers, name)?.split(',')[0]?.trim() : undefined;
  const host = told('x-forwarded-host') ?? singleHeader(exchange.headers, 'host') ?? 'localhost';
  const safe = /^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost';
  const isSecure = (told('x-forwarded-proto') ?? (exchange.isSecure ? 'https' : 'http')) === 'https';
  const prefix = (told('x-forwarded-prefix') ?? '').replace(/\/+$/, '');
  const path = /^(\/[\w.~%-]+)*$/.test(prefix) ? prefix : '';
  return `${isSecure ? 'https' : 'http'}://${safe}${path}${basePath}`;
}
