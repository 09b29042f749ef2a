import { describe, expect, it } from 'vitest';
import { parseExposition } from '../../test/support/metrics/exposition.ts';
import { Metrics, metricNames } from './metrics.ts';
import { Registry } from './registry.ts';

describe('Registry', () => {
  it('writes counters and gauges with their labels', () => {
    const registry = new Registry();
    const requestCounter = registry.counter({
      name: 'asked_total',
      help: 'How often',
      labels: ['what', 'how'],
    });
    requestCounter.of('a', 'b').add();
    requestCounter.of('a', 'b').add(2);
    requestCounter.of('a', 'c').add();
    registry.gauge({ name: 'open', help: 'How many' }).of().set(-1.5);
    expect(registry.text()).toBe(
      [
        '# HELP asked_total How often',
        '# TYPE asked_total counter',
        'asked_total{what="a",how="b"} 3',
        'asked_total{what="a",how="c"} 1',
        '# HELP open How many',
        '# TYPE open gauge',
        'open -1.5',
        '',
      ].join('\n'),
    );
  });

  it('writes cumulative histogram buckets', () => {
    const registry = new Registry();
    const spread = registry.histogram({ name: 'took', help: 'How long', labels: ['what'] }, [0.1, 1]);
    for (const value of [0.1, 0.5, 0.7, 3]) spread.of('x').observe(value);
    const { samples } = parseExposition(registry.text());
    expect(samples).toEqual([
      { name: 'took_bucket', labels: { what: 'x', le: '0.1' }, value: 1 },
      { name: 'took_bucket', labels: { what: 'x', le: '1' }, value: 3 },
      { name: 'took_bucket', labels: { what: 'x', le: '+Inf' }, value: 4 },
      { name: 'took_sum', labels: { what: 'x' }, value: 4.3 },
      { name: 'took_count', labels: { what: 'x' }, value: 4 },
    ]);
  });

  it('escapes labels and help texts', () => {
    const registry = new Registry();
    registry
      .counter({ name: 'odd_total', help: 'one\\two\nthree', labels: ['said'] })
      .of('a"b\\c\nd')
      .add();
    expect(registry.text()).toContain('odd_total{said="a\\"b\\\\c\\nd"} 1');
    expect(parseExposition(registry.text()).samples).toHaveLength(1);
  });

  it('reads observed values at each scrape', () => {
    const registry = new Registry();
    let value = 1;
    registry.observed({ name: 'now', help: 'Now' }, 'gauge', () => value);
    value = 7;
    expect(parseExposition(registry.text()).samples).toEqual([{ name: 'now', labels: {}, value: 7 }]);
  });
});

describe('parseExposition', () => {
  it.each([
    ['a missing final line feed', '# TYPE a counter\na 1'],
    ['a sample without a type', 'a 1\n'],
    ['an invalid name', '# TYPE 1a counter\n1a 1\n'],
    ['an invalid value', '# TYPE a counter\na one\n'],
    ['a label without quotes', '# TYPE a counter\na{b=c} 1\n'],
    ['an unescaped quote in a label', '# TYPE a counter\na{b="c"d"} 1\n'],
    ['a duplicate sample', '# TYPE a counter\na 1\na 2\n'],
    ['a duplicate type', '# TYPE a counter\n# TYPE a gauge\na 1\n'],
  ])('rejects %s', (_name, text) => {
    expect(() => parseExposition(text)).toThrow();
  });
});

describe('Metrics', () => {
  it('writes names and types that Prometheus accepts', () => {
    const metrics = new Metrics();
    metrics.countLimitHit('rate');
    metrics.countTaskState('completed');
    metrics.countPush('delivered');
    metrics.observeRuns(() => 2);
    metrics.observeRuns(() => 3);
    const { samples, types } = parseExposition(metrics.registry.text());
    for (const [name, type] of types) expect(name.endsWith('_total')).toBe(type === 'counter');
    expect(samples).toContainEqual({ name: metricNames.limits.name, labels: { limit: 'rate' }, value: 1 });
    expect(samples).toContainEqual({
      name: metricNames.tasks.name,
      labels: { state: 'completed' },
      value: 1,
    });
    expect(samples).toContainEqual({
      name: metricNames.pushes.name,
      labels: { outcome: 'delivered' },
      value: 1,
    });
    expect(samples).toContainEqual({ name: metricNames.runs.name, labels: {}, value: 5 });
  });
});
