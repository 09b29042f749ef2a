/** Metric types of Prometheus. */
export type MetricType = 'counter' | 'gauge' | 'histogram';

/** One sample line of a metric family. */
export interface MetricSample {
  /** Suffix of the family name, such as `_sum`. */
  suffix: string;
  labels: readonly string[];
  /** Upper bound of a histogram bucket. */
  bound?: string;
  value: number;
}

interface Heading {
  name: string;
  help: string;
  type: MetricType;
  labels?: readonly string[];
}

/** Writes a metric family in the Prometheus text format. */
export function formatFamily(
  { name, help, type, labels = [] }: Heading,
  all: readonly MetricSample[],
): string {
  let text = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  for (const each of all) {
    const pairs = labels.map((label, at) => `${label}="${escapeLabel(each.labels[at] ?? '')}"`);
    if (each.bound !== undefined) pairs.push(`le="${each.bound}"`);
    const braces = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
    text += `${name}${each.suffix}${braces} ${formatValue(each.value)}\n`;
  }
  return text;
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
