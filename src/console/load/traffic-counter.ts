import type { TrafficRecord } from '../../tap/traffic-record.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { LoadSample } from '../console-api.ts';

/** How many times of answers are remembered between two looks. */
const maxTimes = 10_000;
/** How many open streams are told apart. */
const maxStreams = 10_000;

/** Counts what is seen on the wire. */
export class TrafficCounter {
  readonly #ignore: () => void;
  readonly #streams = new Set<string>();
  #requests = 0;
  #errors = 0;
  #events = 0;
  #times: number[] = [];

  constructor(tape: TrafficLog) {
    // Streams that are open may have been opened before.
    for (const passage of tape.recordsAfter()) this.#follow(passage);
    this.#ignore = tape.subscribe((passage) => this.#count(passage));
  }

  /** What happened since the last look. */
  sample(): Omit<LoadSample, 'at'> {
    const times = this.#times.sort((a, b) => a - b);
    const [median, p99] = [times[Math.floor(times.length * 0.5)], times[Math.floor(times.length * 0.99)]];
    const sample = {
      requests: this.#requests,
      errors: this.#errors,
      events: this.#events,
      openStreams: this.#streams.size,
      ...(median !== undefined && { latencyMedian: median }),
      ...(p99 !== undefined && { latencyP99: p99 }),
    };
    this.#requests = this.#errors = this.#events = 0;
    this.#times = [];
    return sample;
  }

  /** Looks no more. */
  close(): void {
    this.#ignore();
  }

  #count(passage: TrafficRecord): void {
    const { kind, mesh, elapsed: after, decoded: meaning, http } = passage;
    this.#follow(passage);
    if (kind === 'request') this.#requests++;
    if (kind === 'frame' || (kind === 'message' && mesh)) this.#events++;
    if (meaning?.isError || (kind === 'response' && (http?.status ?? 200) >= 400)) this.#errors++;
    if (kind === 'response' && after !== undefined && this.#times.length < maxTimes) this.#times.push(after);
  }

  #follow({ kind, exchangeId: trip }: TrafficRecord): void {
    if (kind === 'frame' && this.#streams.size < maxStreams) this.#streams.add(trip);
    if (kind === 'end') this.#streams.delete(trip);
  }
}
