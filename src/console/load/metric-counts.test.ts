import { describe, expect, it } from 'vitest';
import { Metrics } from '../../metrics/metrics.ts';
import { parseMetricCounts } from './metric-counts.ts';

function counting() {
  const metrics = new Metrics();
  return { metrics, counts: () => parseMetricCounts(metrics.registry.text()) };
}

describe('MetricCounts.since', () => {
  it('returns the requests and errors in between', () => {
    const { metrics, counts } = counting();
    metrics.requests.of('send', '1.0', 'JSONRPC', 'OK').add(3);
    const before = counts();
    metrics.requests.of('send', '1.0', 'JSONRPC', 'OK').add(2);
    metrics.requests.of('getTask', '0.3', 'JSONRPC', 'TASK_NOT_FOUND').add();
    expect(counts().since(before)).toEqual({ requests: 3, errors: 1, events: 0, openStreams: 0 });
  });

  it('interpolates latencies within buckets and omits them without responses', () => {
    const { metrics, counts } = counting();
    const before = counts();
    for (let at = 0; at < 99; at++) metrics.duration.of('SendMessage', '1.0', 'JSONRPC', '').observe(0.004);
    metrics.duration.of('SendMessage', '1.0', 'JSONRPC', '').observe(7);
    const first = counts();
    const { latency } = first.since(before);
    expect(latency?.p50).toBeGreaterThan(2.5);
    expect(latency?.p50).toBeLessThan(latency?.p90 ?? 0);
    expect(latency?.p90).toBeLessThan(5);
    expect(latency?.p99).toBeCloseTo(5);
    // The maximum is the upper bound of its bucket.
    expect(latency?.max).toBe(10_000);
    expect(counts().since(first)).not.toHaveProperty('latency');
  });

  it('caps latencies at the last bucket bound', () => {
    const { metrics, counts } = counting();
    const before = counts();
    metrics.duration.of('SendMessage', '1.0', 'JSONRPC', '').observe(1_000);
    expect(counts().since(before).latency).toEqual({
      p50: 300_000,
      p90: 300_000,
      p99: 300_000,
      max: 300_000,
    });
  });

  it('ignores the duration of streams', () => {
    const { metrics, counts } = counting();
    const before = counts();
    metrics.duration.of('SendStreamingMessage', '1.0', 'JSONRPC', '').observe(60);
    metrics.duration.of('SubscribeToTask', '1.0', 'HTTP+JSON', '').observe(60);
    expect(counts().since(before)).not.toHaveProperty('latency');
  });

  it('counts streams that ended in between as open', () => {
    const { metrics, counts } = counting();
    metrics.duration.of('SendStreamingMessage', '1.0', 'JSONRPC', '').observe(1);
    const before = counts();
    metrics.duration.of('SendStreamingMessage', '1.0', 'JSONRPC', '').observe(0.2);
    metrics.duration.of('SubscribeToTask', '1.0', 'HTTP+JSON', '').observe(0.3);
    metrics.duration.of('SendMessage', '1.0', 'JSONRPC', '').observe(0.3);
    const after = counts();
    expect(after.since(before).openStreams).toBe(2);
    expect(counts().since(after).openStreams).toBe(0);
  });

  it('sums the counts of several servers', () => {
    const [one, two] = [new Metrics(), new Metrics()];
    one.requests.of('send', '1.0', 'JSONRPC', 'OK').add();
    two.requests.of('send', '1.0', 'JSONRPC', 'OK').add();
    expect(parseMetricCounts(one.registry.text() + two.registry.text()).requests).toBe(2);
  });
});
