import { isLoopbackHost } from '../../../primitives/loopback.ts';
import { isUrl } from '../../../primitives/web/parse-url.ts';

/** Returns true for URLs of the local host. Names below `localhost` count, because clients resolve them locally. */
export function isLoopbackUrl(url: string): boolean {
  if (!isUrl(url)) return false;
  const { hostname } = new URL(url);
  return isLoopbackHost(hostname) || hostname.endsWith('.localhost');
}
