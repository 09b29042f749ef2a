import type { IncomingHttpHeaders } from 'node:http';
import { SameOriginCheck } from '../primitives/web/same-origin-check.ts';

/** Address of the console. */
export interface ConsoleOrigin {
  readonly port: number;
  /** Origin that is printed to the user. */
  readonly origin: string;
}

const sameOrigin = new SameOriginCheck();

/** The console listens on loopback only. */
const loopback = { localAddress: '127.0.0.1' };

/**
 * Returns why a request must be rejected, or undefined. The console is stricter than other servers: `Host` must have its
 * port, and a link on another site may open the page, which is useless without the token, but not the API.
 */
export function foreignRequestReason(
  headers: IncomingHttpHeaders,
  isApi: boolean,
  { origin: ownOrigin, port }: ConsoleOrigin,
): string | undefined {
  const host = headers.host?.toLowerCase() ?? '';
  const problem = sameOrigin.problem(headers, loopback);
  if (problem?.startsWith('Host') || (port !== 80 && !host.endsWith(`:${port}`)))
    return `The console accepts requests only at ${ownOrigin}.`;
  const { origin, 'sec-fetch-site': site = 'none' } = headers;
  const isForeign =
    problem !== undefined ||
    (origin !== undefined && origin !== `http://${host}`) ||
    (isApi && site !== 'same-origin' && site !== 'none');
  return isForeign ? 'The console accepts requests only from its own page.' : undefined;
}
