/**
 * Numbers about a server, in the text format of Prometheus.
 *
 * @module
 */
export { metricNames, Metrics, type PushOutcome } from './metrics.ts';
export {
  type Counter,
  type Family,
  type Gauge,
  type Histogram,
  type MetricNaming,
  Registry,
} from './registry.ts';
