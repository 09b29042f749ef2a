/** Number of counters per power of two; a percentile is at most 1/128 (0.8 %) above the exact value. */
const subBuckets = 128;
/** Values below this number of microseconds are counted exactly. */
const exactValues = 2 * subBuckets;
/** Greatest value in microseconds: about 71 minutes. Greater values are counted as this one. */
const greatestValue = 2 ** 32 - 1;
/** One row of counters for each shift of a value of 32 bits to a value below `exactValues`. */
const size = exactValues + 24 * subBuckets;

/** Percentiles in milliseconds. */
export interface LatencySummary {
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/**
 * Counts durations in buckets whose width grows with the value, like an HDR histogram. Its memory is constant (27 kB),
 * and its percentiles are at most 0.8 % too high. Minimum, mean and maximum are exact.
 */
export class LatencyHistogram {
  readonly #counts = new Float64Array(size);
  #count = 0;
  #sum = 0;
  #min = Infinity;
  #max = 0;

  /** Number of recorded durations. */
  get count(): number {
    return this.#count;
  }

  /** Counts a duration in milliseconds. Negative ones count as 0. */
  record(milliseconds: number): void {
    const duration = Math.max(0, milliseconds);
    const index = bucketOf(Math.min(greatestValue, Math.round(duration * 1_000)));
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count++;
    this.#sum += duration;
    this.#min = Math.min(this.#min, duration);
    this.#max = Math.max(this.#max, duration);
  }

  /** Returns a percentile in milliseconds: the smallest bucket that holds the given share. @param share - from 0 to 1 */
  percentile(share: number): number {
    const rank = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (const [index, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= rank) return Math.max(this.#min, Math.min(this.#max, greatestOf(index) / 1_000));
    }
    return this.#max;
  }

  /** Returns the percentiles; undefined if nothing was recorded. */
  summary(): LatencySummary | undefined {
    if (this.#count === 0) return undefined;
    return {
      min: this.#min,
      mean: this.#sum / this.#count,
      p50: this.percentile(0.5),
      p90: this.percentile(0.9),
      p99: this.percentile(0.99),
      p999: this.percentile(0.999),
      max: this.#max,
    };
  }

  /** Forgets all durations. */
  clear(): void {
    this.#counts.fill(0);
    this.#count = 0;
    this.#sum = 0;
    this.#min = Infinity;
    this.#max = 0;
  }
}

function bucketOf(value: number): number {
  if (value < exactValues) return value;
  const shift = 24 - Math.clz32(value);
  return shift * subBuckets + (value >>> shift);
}

/** Returns the greatest value that is counted in a bucket. */
function greatestOf(index: number): number {
  if (index < exactValues) return index;
  const shift = Math.floor(index / subBuckets) - 1;
  return (index - shift * subBuckets + 1) * 2 ** shift - 1;
}
