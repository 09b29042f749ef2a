import type { Attributes } from './tracing.ts';
import { parseUrl } from '../primitives/web/parse-url.ts';

const defaultPorts: { readonly [protocol: string]: number } = { 'http:': 80, 'https:': 443 };

/** Returns host and port of a URL. Its path and query may contain secrets. */
export function serverAttributes(url: string): Attributes {
  const parsed = parseUrl(url);
  if (!parsed) return {};
  const { hostname, port, protocol } = parsed;
  return {
    'server.address': hostname || undefined,
    'server.port': port === '' ? defaultPorts[protocol] : Number(port),
  };
}
