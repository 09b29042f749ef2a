import { expositionName } from '../../metrics/exposition.ts';
import { metricNames } from '../../metrics/metrics.ts';
import type { LoadSample } from '../console-api.ts';

/** Line of the Prometheus text format: `name{labels} value`. */
const metricLine = /^(\w+)(?:\{(.*)\})? (\S+)$/;

const streamMethod = /a2a_method_name="(?:SendStreamingMessage|SubscribeToTask)"/;

const durationName = expositionName(metricNames.duration, 'histogram');

/** Totals of server metrics at one time. */
export class MetricCounts {
  requests = 0;
  errors = 0;
  events = 0;
  openStreams = 0;
  endedStreams = 0;
  /** Cumulative number of responses by upper bound in seconds. */
  readonly durations = new Map<number, number>();

  /** Returns the difference to earlier totals. */
  since(before: MetricCounts): Omit<LoadSample, 'at'> {
    const buckets = [...this.durations]
      .map(([bound, count]) => ({ bound, count: count - (before.durations.get(bound) ?? 0) }))
      .sort((a, b) => a.bound - b.bound);
    const [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1].map((share) => quantile(buckets, share));
    return {
      requests: this.requests - before.requests,
      errors: this.errors - before.errors,
      events: this.events - before.events,
      // Most streams end between two samples.
      openStreams: this.openStreams + this.endedStreams - before.endedStreams,
      ...(p50 !== undefined &&
        p90 !== undefined &&
        p99 !== undefined &&
        max !== undefined && { latency: { p50, p90, p99, max } }),
    };
  }
}

/** Parses the totals of a Prometheus text. */
export function parseMetricCounts(text: string): MetricCounts {
  const counts = new MetricCounts();
  for (const each of text.split('\n')) {
    const [, name, labels = '', number] = metricLine.exec(each) ?? [];
    const value = Number(number);
    switch (name) {
      case metricNames.requests.name:
        counts.requests += value;
        if (!labels.endsWith('outcome="OK"')) counts.errors += value;
        break;
      case metricNames.events.name:
        counts.events += value;
        break;
      case metricNames.openStreams.name:
        counts.openStreams += value;
        break;
      case `${durationName}_count`:
        if (streamMethod.test(labels)) counts.endedStreams += value;
        break;
      case `${durationName}_bucket`: {
        // The duration of a stream is that of its task, not a latency.
        if (streamMethod.test(labels)) break;
        const bound = Number(/le="([^"]*)"/.exec(labels)?.[1]?.replace('+Inf', 'Infinity'));
        counts.durations.set(bound, (counts.durations.get(bound) ?? 0) + value);
        break;
      }
    }
  }
  return counts;
}

/** Returns a quantile in milliseconds, interpolated within the bucket like `histogram_quantile` of Prometheus. */
function quantile(buckets: readonly { bound: number; count: number }[], share: number): number | undefined {
  const total = buckets.at(-1)?.count ?? 0;
  if (total <= 0) return undefined;
  const rank = total * share;
  let [lower, below] = [0, 0];
  for (const { bound, count } of buckets) {
    if (count >= rank) {
      // The last bucket has no upper bound.
      if (bound === Infinity) return lower * 1_000;
      return (lower + (bound - lower) * ((rank - below) / (count - below))) * 1_000;
    }
    [lower, below] = [bound, count];
  }
  return undefined;
}
