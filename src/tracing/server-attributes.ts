import type { Attributes } from './tracing.ts';
import { isUrl } from '../primitives/web/parse-url.ts';

const defaultPorts: { readonly [protocol: string]: number } = { 'http:': 80, 'https:': 443 };

/** Returns host and port of a URL. Its path and query may contain secrets. */
export function serverAttributes(url: string): Attributes {
  if (!isUrl(url)) return {};
  const { hostname, port, protocol } = new URL(url);
  return {
    'server.address': hostname || undefined,
    'server.port': port === '' ? defaultPorts[protocol] : Number(port),
  };
}
