import { metricNames, type Metrics } from '../../metrics/metrics.ts';
import { expositionMediaType } from '../../metrics/registry.ts';
import { A2AError } from '../../protocol/errors.ts';
import { isLoopbackAddress } from '../limits/client-address.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import type { ServerContext } from '../http/server-context.ts';

/** Where metrics are shown, and to whom. */
export interface MetricsOptions {
  /** @defaultValue `/metrics` */
  path?: string;
  /**
   * Who may read them.
   * @defaultValue whoever calls from this machine; a proxy on this machine is such a caller
   */
  allow?: (exchange: HttpServerRequest) => boolean | Promise<boolean>;
  /** The metrics to keep, where agents and couriers share them. @defaultValue new ones */
  metrics?: Metrics;
}

/** Shows metrics to those who may read them. */
export class MetricsEndpoint {
  readonly path: string;
  readonly #metrics: Metrics;
  readonly #allow: (exchange: HttpServerRequest) => boolean | Promise<boolean>;

  constructor(face: ServerContext, metrics: Metrics, { path = '/metrics', allow }: MetricsOptions) {
    this.path = path;
    this.#metrics = metrics;
    this.#allow = allow ?? (({ remoteAddress }) => isLoopbackAddress(remoteAddress));
    metrics.registry.observed(metricNames.openStreams, 'gauge', () => face.openStreams);
    metrics.registry.observed(metricNames.events, 'counter', () => face.eventsSent);
  }

  async answer(exchange: HttpServerRequest): Promise<HttpServerResponse> {
    if (!(await this.#allow(exchange)))
      throw new A2AError(
        'PERMISSION_DENIED',
        'Metrics are not shown to everybody: see the option metrics.allow',
      );
    const headers = ['Content-Type', expositionMediaType, 'Cache-Control', 'no-store'];
    return { status: 200, headers, body: this.#metrics.registry.text() };
  }
}
