import { formatFamily } from './exposition.ts';

/** Metric types of Prometheus. */
export type MetricType = 'counter' | 'gauge' | 'histogram';

/** A metric that only increases. */
export interface Counter {
  add(amount?: number): void;
}

/** A metric that increases and decreases. */
export interface Gauge {
  add(amount: number): void;
  set(value: number): void;
}

/** Distribution of values in buckets. */
export interface Histogram {
  observe(value: number): void;
}

/** One metric per combination of label values. Label values must come from a small set because they are never removed. */
export interface MetricFamily<T> {
  of(...labels: string[]): T;
}

/** Name, help text and label names of a metric. */
export interface MetricDescriptor {
  /** Name for Prometheus; with dots, a name of OpenTelemetry, which Prometheus gets with underscores and the unit. */
  name: string;
  help: string;
  labels?: readonly string[];
  /** Unit in UCUM, such as `s` or `By`. */
  unit?: string;
}

/** Values of a metric at one time, one point for each combination of label values. */
export type CollectedMetric = { readonly descriptor: MetricDescriptor } & (
  | {
      readonly type: 'counter' | 'gauge';
      readonly points: readonly { readonly labels: readonly string[]; readonly value: number }[];
    }
  | {
      readonly type: 'histogram';
      /** Upper bounds of the buckets. */
      readonly bounds: readonly number[];
      readonly points: readonly HistogramPoint[];
    }
);

/** Distribution of the values of one combination of label values. */
interface HistogramPoint {
  readonly labels: readonly string[];
  /** Number of values of each bucket, without those above the last bound. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

interface Source {
  readonly name: string;
  collect(): CollectedMetric;
}

/** Stores metrics and writes them in the Prometheus text format. */
export class Registry {
  readonly #sources = new Map<string, Source>();

  counter(naming: MetricDescriptor): MetricFamily<Counter> {
    return this.#add(new Values(naming, 'counter'));
  }

  gauge(naming: MetricDescriptor): MetricFamily<Gauge> {
    return this.#add(new Values(naming, 'gauge'));
  }

  /**
   * @param buckets - upper bounds in ascending order.
   */
  histogram(naming: MetricDescriptor, buckets: readonly number[]): MetricFamily<Histogram> {
    return this.#add(new Histograms(naming, buckets));
  }

  /** Adds a metric that is read at each scrape, or replaces the one with the same name. */
  observed(naming: MetricDescriptor, type: 'counter' | 'gauge', read: () => number): void {
    const collect = (): CollectedMetric => ({
      descriptor: naming,
      type,
      points: [{ labels: [], value: read() }],
    });
    this.#sources.set(naming.name, { name: naming.name, collect });
  }

  /** Returns all metrics in the Prometheus text format. */
  text(): string {
    let text = '';
    for (const source of this.#sources.values()) text += formatFamily(source.collect());
    return text;
  }

  /** Returns the current values of all metrics. */
  collect(): CollectedMetric[] {
    return [...this.#sources.values()].map((source) => source.collect());
  }

  #add<T extends Source>(source: T): T {
    this.#sources.set(source.name, source);
    return source;
  }
}

/** Media type of {@link Registry.text}. */
export const expositionMediaType = 'text/plain; version=0.0.4; charset=utf-8';

class Children<T> {
  readonly #make: () => T;
  readonly #children = new Map<string, { labels: readonly string[]; child: T }>();

  constructor(make: () => T) {
    this.#make = make;
  }

  of(labels: readonly string[]): T {
    const key = labels.length === 1 ? (labels[0] ?? '') : labels.join('\u0000');
    let found = this.#children.get(key);
    if (!found) this.#children.set(key, (found = { labels, child: this.#make() }));
    return found.child;
  }

  all(): Iterable<{ labels: readonly string[]; child: T }> {
    return this.#children.values();
  }
}

class Value implements Counter, Gauge {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }

  set(value: number): void {
    this.value = value;
  }
}

class Values implements Source, MetricFamily<Value> {
  readonly name: string;
  readonly #naming: MetricDescriptor;
  readonly #type: 'counter' | 'gauge';
  readonly #children = new Children(() => new Value());

  constructor(naming: MetricDescriptor, type: 'counter' | 'gauge') {
    this.name = naming.name;
    this.#naming = naming;
    this.#type = type;
    // A metric without labels is written with the value 0 before its first change.
    if (!naming.labels) this.of();
  }

  of(...labels: string[]): Value {
    return this.#children.of(labels);
  }

  collect(): CollectedMetric {
    const points = [...this.#children.all()].map(({ labels, child }) => ({ labels, value: child.value }));
    return { descriptor: this.#naming, type: this.#type, points };
  }
}

class Spread implements Histogram {
  readonly counts: number[];
  readonly #bounds: readonly number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Array<number>(bounds.length).fill(0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count++;
    for (let at = 0; at < this.#bounds.length; at++) {
      if (value <= (this.#bounds[at] ?? 0)) {
        this.counts[at] = (this.counts[at] ?? 0) + 1;
        return;
      }
    }
  }
}

class Histograms implements Source, MetricFamily<Histogram> {
  readonly name: string;
  readonly #naming: MetricDescriptor;
  readonly #bounds: readonly number[];
  readonly #children: Children<Spread>;

  constructor(naming: MetricDescriptor, bounds: readonly number[]) {
    this.name = naming.name;
    this.#naming = naming;
    this.#bounds = bounds;
    this.#children = new Children(() => new Spread(bounds));
  }

  of(...labels: string[]): Histogram {
    return this.#children.of(labels);
  }

  collect(): CollectedMetric {
    const points = [...this.#children.all()].map(({ labels, child: { counts, sum, count } }) => ({
      labels,
      counts,
      sum,
      count,
    }));
    return { descriptor: this.#naming, type: 'histogram', bounds: this.#bounds, points };
  }
}
