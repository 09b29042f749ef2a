import { isLocalHost } from '../../primitives/loopback.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Returns true for a URL that names a gRPC server, which may have no card: `grpc:`, `grpcs:` or `dns:`. */
export function isGrpcUrl(text: string): boolean {
  return /^(?:grpcs?:\/\/|dns:)/i.test(text);
}

/**
 * Parses the address of a gRPC interface: `host:port`, `dns:///host:port`, or a URL with `grpc`, `grpcs`, `http` or
 * `https`, whose path has no meaning. An address without a scheme uses TLS like the card that lists it; without a URL of
 * the card, only addresses of the local host do not.
 *
 * @returns an http or https URL, or undefined if the address is invalid.
 */
export function parseGrpcAddress(address: string, cardUrl?: string): URL | undefined {
  const text = address.trim().replace(/^dns:(?:\/\/[^/]*\/)?/i, '');
  const [, scheme, rest = text] = /^(grpcs?|https?):\/\/(.*)$/i.exec(text) ?? [];
  const isSecure = scheme === undefined ? impliesTls(rest, cardUrl) : scheme.toLowerCase().endsWith('s');
  const candidate = `${isSecure ? 'https' : 'http'}://${rest}`;
  if (scheme === undefined && !/^(?:\[[^\]]*\]|[^/:]+)(?::\d+)?$/.test(rest)) return undefined;
  const url = rest.startsWith('/') ? undefined : parseUrl(candidate);
  return !url || url.hostname === '' || url.username !== '' ? undefined : new URL(url.origin);
}

function impliesTls(address: string, cardUrl: string | undefined): boolean {
  const { hostname, port } = parseUrl(`http://${address}`) ?? new URL('http://x');
  if (port === '443') return true;
  return cardUrl === undefined ? !isLocalHost(hostname) : new URL(cardUrl).protocol === 'https:';
}
