import type { HttpClient } from '../../client/http/http-client.ts';
import type { Loss } from '../../dialects/translation-loss.ts';
import type { Link } from '../../mesh/brokers/broker-connection.ts';
import type { ServerOptions } from '../../server/server-options.ts';
import { type LossOccasion, recordLosses } from '../../tap/recorders/record-losses.ts';
import { productOfScout } from '../../tap/participants.ts';
import type { Tape } from '../../tap/traffic-log.ts';
import { tappedHttp } from '../../tap/recorders/tap-http-client.ts';
import { tappedLink } from '../../tap/recorders/tap-broker.ts';
import { tappedServer } from '../../tap/recorders/tap-server.ts';

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
