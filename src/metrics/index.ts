/**
 * Metrics in the Prometheus text format.
 *
 * @module
 */
export { metricNames, Metrics, type PushOutcome } from './metrics.ts';
export {
  type CollectedMetric,
  type Counter,
  type MetricFamily,
  type Gauge,
  type Histogram,
  type MetricDescriptor,
  Registry,
} from './registry.ts';
