import type { IncomingHttpHeaders } from 'node:http';
import { constantTimeEqual } from '../primitives/node/constant-time-equal.ts';
import { A2AError } from '../protocol/errors.ts';

/** Address of the console. */
export interface ConsoleOrigin {
  readonly port: number;
  /** Origin that is printed to the user. */
  readonly origin: string;
}

/** Loopback host names that cannot be rebound by DNS. */
const hostNames = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Returns why a request must be rejected, or undefined. Any page in the same browser can send requests here, also under
 * a host name of its own (DNS rebinding), so only requests of the console page are accepted (CSRF protection).
 */
export function foreignRequestReason(
  headers: IncomingHttpHeaders,
  isApi: boolean,
  address: ConsoleOrigin,
): string | undefined {
  const hosts = listHosts(address.port);
  const { host = '', origin } = headers;
  if (!hosts.includes(host.toLowerCase())) return `The console accepts requests only at ${address.origin}.`;
  if (origin !== undefined && origin !== `http://${host.toLowerCase()}`)
    return 'The console accepts requests only from its own page.';
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  // A link from another site may open the page, which is useless without the token.
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return isLink && !isApi ? undefined : 'The console accepts requests only from its own page.';
}

function listHosts(port: number): string[] {
  return hostNames.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
}

/** Checks the bearer token of API requests. */
export class TokenCheck {
  readonly #expected: string;

  constructor(token: string) {
    this.#expected = `Bearer ${token}`;
  }

  /** @throws {@link A2AError} `UNAUTHENTICATED` */
  check({ authorization = '' }: IncomingHttpHeaders): void {
    if (constantTimeEqual(authorization, this.#expected)) return;
    throw new A2AError('UNAUTHENTICATED', 'Missing or invalid console token', {
      hint: 'Open the URL that the console printed at start; it contains the token.',
    });
  }
}
