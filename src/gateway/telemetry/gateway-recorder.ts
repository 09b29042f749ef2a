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

/** Name of the gateway in traffic records. */
const name = 'gateway';

/** User-Agent product of the gateway. Taps of upstreams derive the participant name from it. */
export const gatewayProductName = `dragoman-${name}`;

/** Records the traffic of a gateway. */
export class GatewayRecorder {
  /** Options of the HTTP server that record its traffic. */
  readonly server: Pick<ServerOptions, 'onTraffic'>;
  readonly #trafficLog: TrafficLog;

  constructor(trafficLog: TrafficLog) {
    this.#trafficLog = trafficLog;
    this.server = tapServer(trafficLog, { name, excludedUserAgents: [consoleProbeProduct] });
  }

  /** Wraps an HTTP client to record its requests to an agent. */
  recordHttp(http: HttpClient, agent: string): HttpClient {
    return tapHttpClient(http, this.#trafficLog, { from: name, to: () => agent });
  }

  recordBroker(broker: BrokerConnection): BrokerConnection {
    return tapBroker(broker, this.#trafficLog, { name });
  }

  recordLosses(losses: readonly TranslationLoss[], source: LossSource): void {
    recordLosses(this.#trafficLog, losses, source);
  }
}
