import { metricNames, type Metrics } from '../../metrics/metrics.ts';
import { expositionType } from '../../metrics/registry.ts';
import { A2AError } from '../../protocol/errors.ts';
import { isLoopback } from '../limits/client-address.ts';
import type { Exchange, Reply } from '../http/http-message.ts';
import type { Face } from '../http/server-context.ts';

/** Where metrics are shown, and to whom. */
export interface MetricsOptions {
  /** @defaultValue `/metrics` */
  path?: string;
  /**
   * Who may read them.
   * @defaultValue whoever calls from this machine; a proxy on this machine is such a caller
   */
  allow?: (exchange: Exchange) => boolean | Promise<boolean>;
  /** The metrics to keep, where agents and couriers share them. @defaultValue new ones */
  metrics?: Metrics;
}

/** Shows metrics to those who may read them. */
export class MetricsPage {
  readonly path: string;
  readonly #metrics: Metrics;
  readonly #allow: (exchange: Exchange) => boolean | Promise<boolean>;

  constructor(face: Face, metrics: Metrics, { path = '/metrics', allow }: MetricsOptions) {
    this.path = path;
    this.#metrics = metrics;
    this.#allow = allow ?? (({ remoteAddress }) => isLoopback(remoteAddress));
    metrics.registry.observed(metricNames.openStreams, 'gauge', () => face.openStreams);
    metrics.registry.observed(metricNames.events, 'counter', () => face.eventsSent);
  }

  async answer(exchange: Exchange): Promise<Reply> {
    if (!(await this.#allow(exchange)))
      throw new A2AError(
        'PERMISSION_DENIED',
        'Metrics are not shown to everybody: see the option metrics.allow',
      );
    const headers = ['Content-Type', expositionType, 'Cache-Control', 'no-store'];
    return { status: 200, headers, body: this.#metrics.registry.text() };
  }
}
