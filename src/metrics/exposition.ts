import type { CollectedMetric, MetricDescriptor, MetricType } from './registry.ts';

/** One sample line of a metric family. */
interface MetricSample {
  /** Suffix of the family name, such as `_sum`. */
  suffix: string;
  labels: readonly string[];
  /** Upper bound of a histogram bucket. */
  bound?: string;
  value: number;
}

const unitSuffixes: { readonly [unit: string]: string } = { s: '_seconds', By: '_bytes' };

/**
 * Returns the name of a metric in the Prometheus text format. A name with dots is one of OpenTelemetry: its unit and type are
 * appended.
 */
export function expositionName({ name, unit = '' }: MetricDescriptor, type: MetricType): string {
  if (!name.includes('.')) return name;
  const withUnit = `${name.replaceAll('.', '_')}${unitSuffixes[unit] ?? ''}`;
  return type === 'counter' ? `${withUnit}_total` : withUnit;
}

/** Returns the name of a label in the Prometheus text format. */
export function expositionLabel(label: string): string {
  return label.replaceAll('.', '_');
}

/** Writes a metric family in the Prometheus text format. */
export function formatFamily(metric: CollectedMetric): string {
  const { descriptor, type } = metric;
  const { help, labels = [] } = descriptor;
  const name = expositionName(descriptor, type);
  const names = labels.map(expositionLabel);
  let text = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  for (const each of samplesOf(metric)) {
    const pairs = names.map((label, at) => `${label}="${escapeLabel(each.labels[at] ?? '')}"`);
    if (each.bound !== undefined) pairs.push(`le="${each.bound}"`);
    const braces = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
    text += `${name}${each.suffix}${braces} ${formatValue(each.value)}\n`;
  }
  return text;
}

function* samplesOf(metric: CollectedMetric): Generator<MetricSample> {
  if (metric.type !== 'histogram') {
    for (const { labels, value } of metric.points) yield { suffix: '', labels, value };
    return;
  }
  for (const { labels, counts, count, sum } of metric.points) {
    let below = 0;
    for (const [at, bound] of metric.bounds.entries()) {
      below += counts[at] ?? 0;
      yield { suffix: '_bucket', labels, bound: String(bound), value: below };
    }
    yield { suffix: '_bucket', labels, bound: '+Inf', value: count };
    yield { suffix: '_sum', labels, value: sum };
    yield { suffix: '_count', labels, value: count };
  }
}

function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
