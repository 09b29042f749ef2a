import type { TrafficRecord } from '../../tap/traffic-record.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { LoadSample } from '../console-api.ts';

/** Maximum number of latencies between two samples. */
const maxLatencies = 10_000;
/** Maximum number of tracked streams. */
const maxStreams = 10_000;

/** Counts the load in a traffic log. */
export class TrafficCounter {
  readonly #unsubscribe: () => void;
  readonly #streams = new Set<string>();
  #endedStreams = 0;
  #requests = 0;
  #errors = 0;
  #events = 0;
  #latencies: number[] = [];

  constructor(trafficLog: TrafficLog) {
    // Open streams may have started earlier.
    for (const record of trafficLog.recordsAfter()) this.#trackStream(record);
    this.#endedStreams = 0;
    this.#unsubscribe = trafficLog.subscribe((record) => this.#count(record));
  }

  /** Returns the load since the last sample. */
  sample(): Omit<LoadSample, 'at'> {
    const latencies = this.#latencies.sort((a, b) => a - b);
    const [median, p99] = [
      latencies[Math.floor(latencies.length * 0.5)],
      latencies[Math.floor(latencies.length * 0.99)],
    ];
    const sample = {
      requests: this.#requests,
      errors: this.#errors,
      events: this.#events,
      // Most streams end between two samples.
      openStreams: this.#streams.size + this.#endedStreams,
      ...(median !== undefined && { latencyMedian: median }),
      ...(p99 !== undefined && { latencyP99: p99 }),
    };
    this.#requests = this.#errors = this.#events = this.#endedStreams = 0;
    this.#latencies = [];
    return sample;
  }

  /** Stops counting. */
  close(): void {
    this.#unsubscribe();
  }

  #count(record: TrafficRecord): void {
    const { kind, mesh, elapsed, decoded, http } = record;
    this.#trackStream(record);
    if (kind === 'request') this.#requests++;
    if (kind === 'frame' || (kind === 'message' && mesh)) this.#events++;
    if (decoded?.isError || (kind === 'response' && (http?.status ?? 200) >= 400)) this.#errors++;
    if (kind === 'response' && elapsed !== undefined && this.#latencies.length < maxLatencies)
      this.#latencies.push(elapsed);
  }

  #trackStream({ kind, exchangeId }: TrafficRecord): void {
    if (kind === 'frame' && this.#streams.size < maxStreams) this.#streams.add(exchangeId);
    if (kind === 'end' && this.#streams.delete(exchangeId)) this.#endedStreams++;
  }
}
