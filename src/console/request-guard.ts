import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { A2AError } from '../protocol/errors.ts';

/** Where the console is, as its own page may name it. */
export interface ConsoleOrigin {
  readonly port: number;
  /** The address that people are told. */
  readonly origin: string;
}

/** The names of this machine that no stranger can point elsewhere. */
const names = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Says why a request must not be answered; undefined where it may. Any page in the same browser can send requests
 * here, under a name of its own if it likes, so whatever does not come from our own page is turned away.
 */
export function foreignRequestReason(
  headers: IncomingHttpHeaders,
  isApi: boolean,
  door: ConsoleOrigin,
): string | undefined {
  const here = hostsOf(door.port);
  const { host = '', origin } = headers;
  if (!here.includes(host.toLowerCase())) return `The console answers at ${door.origin} only.`;
  if (origin !== undefined && origin !== `http://${host.toLowerCase()}`)
    return 'The console answers its own page only.';
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  // A link that leads here from elsewhere is fine: it shows the page, which can do nothing without the token.
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return isLink && !isApi ? undefined : 'The console answers its own page only.';
}

function hostsOf(port: number): string[] {
  return names.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
}

/** Lets those in who have the token. */
export class TokenCheck {
  readonly #digest: Buffer;

  constructor(token: string) {
    this.#digest = digestOf(`Bearer ${token}`);
  }

  /** @throws {@link A2AError} `UNAUTHENTICATED` */
  check({ authorization = '' }: IncomingHttpHeaders): void {
    // Digests have one length, and comparing them takes one time.
    if (timingSafeEqual(digestOf(authorization), this.#digest)) return;
    throw new A2AError(
      'UNAUTHENTICATED',
      'The token of this page is missing or is not the one of this console',
      {
        hint: 'Open the address that was printed when the console started; it has the token.',
      },
    );
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
