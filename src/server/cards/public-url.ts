import { type HttpServerRequest, singleHeader } from '../http/http-message.ts';
import type { ServerOptions } from '../server-options.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** Headers with which a proxy forwards its public URL. */
export const forwardedHeaders = 'X-Forwarded-Proto, X-Forwarded-Host, X-Forwarded-Prefix';

/** Returns the URL of the agent, without trailing slash because many clients append the operation path directly. */
export function resolvePublicUrl(
  request: Pick<HttpServerRequest, 'headers' | 'isSecure' | 'mountPath'>,
  options: Pick<ServerOptions, 'publicUrl' | 'basePath' | 'trustForwarded'>,
): string {
  const { publicUrl, basePath = '', trustForwarded = false } = options;
  if (publicUrl !== undefined) return publicUrl;
  const forwarded = (name: string) =>
    trustForwarded ? singleHeader(request.headers, name)?.split(',')[0]?.trim() : undefined;
  const host = forwarded('x-forwarded-host') ?? singleHeader(request.headers, 'host') ?? 'localhost';
  const validHost = /^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost';
  const isSecure = (forwarded('x-forwarded-proto') ?? (request.isSecure ? 'https' : 'http')) === 'https';
  const prefix = stripTrailing(forwarded('x-forwarded-prefix') ?? '', '/');
  const path = validPath(prefix) + validPath(request.mountPath ?? '');
  return `${isSecure ? 'https' : 'http'}://${validHost}${path}${basePath}`;
}

/** Clients choose these paths, so that unusual ones are omitted. */
function validPath(path: string): string {
  return /^(\/[\w.~%-]+)*$/.test(path) ? path : '';
}
