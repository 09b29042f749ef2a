import type { HttpClient } from '../client/http/http.ts';
import type { Loss } from '../dialects/loss.ts';
import type { Link } from '../mesh/link.ts';
import type { ServerOptions } from '../server/options.ts';
import { type LossOccasion, recordLosses } from '../tap/losses.ts';
import { productOfScout } from '../tap/parties.ts';
import type { Tape } from '../tap/tape.ts';
import { tappedHttp } from '../tap/tapped-http.ts';
import { tappedLink } from '../tap/tapped-link.ts';
import { tappedServer } from '../tap/tapped-server.ts';

/** What the gateway itself is called on a tape. */
const name = 'gateway';

/** What the gateway calls itself where it calls others; on a tape that is its name too. */
export const productOfGateway = `dragoman-${name}`;

/** Records what passes at a gateway. */
export class GatewayTap {
  /** For the options of its server. */
  readonly server: Pick<ServerOptions, 'onWire'>;
  readonly #tape: Tape;

  constructor(tape: Tape) {
    this.#tape = tape;
    this.server = tappedServer(tape, { name, except: [productOfScout] });
  }

  /** The same client, recorded as the way to an agent. */
  http(http: HttpClient, agent: string): HttpClient {
    return tappedHttp(http, this.#tape, { from: name, to: () => agent });
  }

  /** The same link, recorded. */
  link(link: Link): Link {
    return tappedLink(link, this.#tape, { name });
  }

  /** Records what a translation could not carry over. */
  lost(losses: readonly Loss[], occasion: LossOccasion): void {
    recordLosses(this.#tape, losses, occasion);
  }
}
