import { isLoopbackHost } from '../../../primitives/loopback.ts';
import { parseUrl } from '../../../primitives/web/parse-url.ts';

/** Returns true for URLs of the local host. Names below `localhost` count, because clients resolve them locally. */
export function isLoopbackUrl(url: string): boolean {
  const hostname = parseUrl(url)?.hostname;
  if (hostname === undefined) return false;
  return isLoopbackHost(hostname) || hostname.endsWith('.localhost');
}
