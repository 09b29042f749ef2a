import type { ValueType } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { MetricData, MetricProducer } from '@opentelemetry/sdk-metrics';
import type { CollectedMetric, Registry } from '../metrics/registry.ts';

type Library = Pick<
  typeof import('@opentelemetry/sdk-metrics'),
  'AggregationTemporality' | 'DataPointType'
> & { readonly DOUBLE: ValueType; readonly emptyResource: () => Resource };

/** Reads the metrics of a registry for the exporter: the same values as on the Prometheus page. */
export function metricProducer(
  registry: Registry,
  library: Library,
  { startedAt, now }: { startedAt: number; now: () => number },
): MetricProducer {
  return {
    async collect() {
      const times = { startTime: toHrTime(startedAt), endTime: toHrTime(now()) };
      const metrics = registry.collect().map((metric) => toMetricData(metric, library, times));
      const resourceMetrics = {
        // The reader replaces it by its own.
        resource: library.emptyResource(),
        scopeMetrics: [{ scope: { name: 'dragoman' }, metrics }],
      };
      return { resourceMetrics, errors: [] };
    },
  };
}

interface Times {
  readonly startTime: [number, number];
  readonly endTime: [number, number];
}

function toMetricData(metric: CollectedMetric, library: Library, times: Times): MetricData {
  const { name, help, unit = '', labels: names = [] } = metric.descriptor;
  const shared = {
    descriptor: { name, description: help, unit, valueType: library.DOUBLE },
    aggregationTemporality: library.AggregationTemporality.CUMULATIVE,
  };
  const point = <T>(labels: readonly string[], value: T) => ({
    ...times,
    // An empty label of Prometheus is a missing attribute of OpenTelemetry.
    attributes: Object.fromEntries(names.flatMap((label, at) => (labels[at] ? [[label, labels[at]]] : []))),
    value,
  });
  if (metric.type === 'histogram') {
    const dataPoints = metric.points.map(({ labels, counts, sum, count }) => {
      const above = count - counts.reduce((total, each) => total + each, 0);
      return point(labels, {
        buckets: { boundaries: [...metric.bounds], counts: [...counts, above] },
        sum,
        count,
      });
    });
    return { ...shared, dataPointType: library.DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = metric.points.map(({ labels, value }) => point(labels, value));
  return metric.type === 'counter'
    ? { ...shared, dataPointType: library.DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...shared, dataPointType: library.DataPointType.GAUGE, dataPoints };
}

function toHrTime(milliseconds: number): [number, number] {
  const seconds = Math.trunc(milliseconds / 1_000);
  return [seconds, Math.round((milliseconds - seconds * 1_000) * 1_000_000)];
}
