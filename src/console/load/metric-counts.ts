import { metricNames } from '../../metrics/metrics.ts';
import type { LoadSample } from '../console-api.ts';

/** `name{labels} value`, as Prometheus reads it. */
const line = /^(\w+)(?:\{(.*)\})? (\S+)$/;

/** What servers have counted up to a moment. */
export class MetricCounts {
  requests = 0;
  errors = 0;
  events = 0;
  openStreams = 0;
  /** How many answers took at most so many seconds. */
  readonly durations = new Map<number, number>();

  /** What happened since an earlier moment. */
  since(before: MetricCounts): Omit<LoadSample, 'at'> {
    const spread = [...this.durations]
      .map(([bound, count]) => ({ bound, count: count - (before.durations.get(bound) ?? 0) }))
      .sort((a, b) => a.bound - b.bound);
    const [median, p99] = [quantile(spread, 0.5), quantile(spread, 0.99)];
    return {
      requests: this.requests - before.requests,
      errors: this.errors - before.errors,
      events: this.events - before.events,
      openStreams: this.openStreams,
      ...(median !== undefined && { latencyMedian: median }),
      ...(p99 !== undefined && { latencyP99: p99 }),
    };
  }
}

/** Reads what is needed here out of the text that Prometheus reads. */
export function parseMetricCounts(text: string): MetricCounts {
  const counts = new MetricCounts();
  for (const each of text.split('\n')) {
    const [, name, labels = '', number] = line.exec(each) ?? [];
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
      case `${metricNames.duration.name}_bucket`: {
        // A stream takes as long as its task; that says nothing about how quick the server is.
        if (/operation="(?:stream|subscribe)"/.test(labels)) break;
        const bound = Number(/le="([^"]*)"/.exec(labels)?.[1]?.replace('+Inf', 'Infinity'));
        counts.durations.set(bound, (counts.durations.get(bound) ?? 0) + value);
        break;
      }
    }
  }
  return counts;
}

/** Milliseconds within which a share of the answers came, estimated within the bucket as Prometheus does. */
function quantile(spread: readonly { bound: number; count: number }[], share: number): number | undefined {
  const total = spread.at(-1)?.count ?? 0;
  if (total <= 0) return undefined;
  const rank = total * share;
  let [lower, below] = [0, 0];
  for (const { bound, count } of spread) {
    if (count >= rank) {
      // Beyond the last bound nobody knows how far.
      if (bound === Infinity) return lower * 1_000;
      return (lower + (bound - lower) * ((rank - below) / (count - below))) * 1_000;
    }
    [lower, below] = [bound, count];
  }
  return undefined;
}
