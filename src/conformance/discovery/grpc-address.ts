import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Names of schemes in the address of a gRPC interface, by the scheme of the connection. */
const schemes: { readonly [scheme: string]: string } = {
  'http:': 'http:',
  'grpc:': 'http:',
  'https:': 'https:',
  'grpcs:': 'https:',
};

/**
 * Returns the origin of a gRPC interface whose address is a URL, `host:port` or `dns:///host:port`. Without a scheme, TLS is
 * used if the card was read over TLS.
 *
 * @returns undefined if the address is none of these.
 */
export function grpcOrigin(published: string, cardUrl: string): string | undefined {
  const address = published.replace(/^dns:(?:\/\/[^/]*\/)?/i, '');
  const [, named] = /^([a-z][a-z\d+.-]*:)\/\//i.exec(address) ?? [];
  const text =
    named === undefined ? `${cardUrl.startsWith('https:') ? 'https:' : 'http:'}//${address}` : address;
  const scheme = named === undefined ? undefined : schemes[named.toLowerCase()];
  if (named !== undefined && scheme === undefined) return undefined;
  const url = text.replace(/^[a-z]+:/i, scheme ?? '$&');
  return parseUrl(url)?.origin;
}
