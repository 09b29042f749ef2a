import type { HttpClient } from '../../client/http/http-client.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import type { BrokerConnection } from '../../mesh/brokers/broker-connection.ts';
import type { ServerOptions } from '../../server/server-options.ts';
import { type LossSource, recordLosses } from '../../tap/recorders/record-losses.ts';
import { consoleProbeProduct } from '../../tap/participants.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import { tapHttpClient } from '../../tap/recorders/tap-http-client.ts';
import { tapBroker } from '../../tap/recorders/tap-broker.ts';
import { tapServer } from '../../tap/recorders/tap-server.ts';

/** What the gateway itself is called on a tape. */
const name = 'gateway';

/** What the gateway calls itself where it calls others; on a tape that is its name too. */
export const gatewayProductName = `dragoman-${name}`;

/** Records what passes at a gateway. */
export class GatewayRecorder {
  /** For the options of its server. */
  readonly server: Pick<ServerOptions, 'onTraffic'>;
  readonly #tape: TrafficLog;

  constructor(tape: TrafficLog) {
    this.#tape = tape;
    this.server = tapServer(tape, { name, except: [consoleProbeProduct] });
  }

  /** The same client, recorded as the way to an agent. */
  http(http: HttpClient, agent: string): HttpClient {
    return tapHttpClient(http, this.#tape, { from: name, to: () => agent });
  }

  /** The same link, recorded. */
  link(link: BrokerConnection): BrokerConnection {
    return tapBroker(link, this.#tape, { name });
  }

  /** Records what a translation could not carry over. */
  lost(losses: readonly TranslationLoss[], occasion: LossSource): void {
    recordLosses(this.#tape, losses, occasion);
  }
}
