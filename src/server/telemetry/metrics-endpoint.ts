import { metricNames, type Metrics } from '../../metrics/metrics.ts';
import { expositionMediaType } from '../../metrics/registry.ts';
import { A2AError } from '../../protocol/errors.ts';
import { isLoopbackAddress } from '../../primitives/loopback.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import type { ServerContext } from '../http/server-context.ts';

/** Options of the metrics endpoint. */
export interface MetricsOptions {
  /** @defaultValue `/metrics` */
  path?: string;
  /**
   * Decides whether a request may read the metrics.
   * @defaultValue clients on loopback addresses, including a proxy on the same host
   */
  allow?: (request: HttpServerRequest) => boolean | Promise<boolean>;
  /** Metrics to record into, for example those of the agent. @defaultValue new metrics */
  metrics?: Metrics;
}

/** Serves metrics to allowed clients. */
export class MetricsEndpoint {
  readonly path: string;
  readonly #metrics: Metrics;
  readonly #allow: (request: HttpServerRequest) => boolean | Promise<boolean>;

  constructor(context: ServerContext, metrics: Metrics, { path = '/metrics', allow }: MetricsOptions) {
    this.path = path;
    this.#metrics = metrics;
    this.#allow =
      allow ?? (({ clientAddress, remoteAddress }) => isLoopbackAddress(clientAddress ?? remoteAddress));
    metrics.registry.observed(metricNames.openStreams, 'gauge', () => context.openStreams);
    metrics.registry.observed(metricNames.events, 'counter', () => context.eventsSent);
  }

  async handle(request: HttpServerRequest): Promise<HttpServerResponse> {
    if (!(await this.#allow(request)))
      throw new A2AError(
        'PERMISSION_DENIED',
        'Metrics are available to local clients only; see the option metrics.allow',
      );
    const headers = ['Content-Type', expositionMediaType, 'Cache-Control', 'no-store'];
    return { status: 200, headers, body: this.#metrics.registry.text() };
  }
}
