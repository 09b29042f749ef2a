import { LatencyHistogram } from '../../load/latency-histogram.ts';
import type { TrafficRecord } from '../../tap/traffic-record.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { LoadSample } from '../console-api.ts';

/** Load since the last sample. */
export type LoadCounts = Omit<LoadSample, 'at'>;

/** Maximum number of tracked streams of an agent. */
const maxStreams = 10_000;
/** Maximum number of agents that are counted separately. */
const maxAgents = 64;

/** Counts the load in a traffic log: of all agents, and of each one that receives requests. */
export class TrafficCounter {
  readonly #unsubscribe: () => void;
  readonly #all = new RecordCounter();
  readonly #agents = new Map<string, RecordCounter>();

  /** @param isCounted - returns false for records that are left out. */
  constructor(trafficLog: TrafficLog, isCounted: (record: TrafficRecord) => boolean = () => true) {
    const count = (record: TrafficRecord): void => {
      if (isCounted(record)) this.#count(record);
    };
    // Open streams may have started earlier.
    for (const record of trafficLog.recordsAfter()) count(record);
    this.sample();
    this.#unsubscribe = trafficLog.subscribe(count);
  }

  /** Returns the load of all agents and of each one by its name. */
  sample(): { readonly all: LoadCounts; readonly agents: ReadonlyMap<string, LoadCounts> } {
    const agents = new Map([...this.#agents].map(([name, counter]) => [name, counter.sample()]));
    return { all: this.#all.sample(), agents };
  }

  /** Stops counting. */
  close(): void {
    this.#unsubscribe();
  }

  #count(record: TrafficRecord): void {
    this.#all.count(record);
    this.#agentCounter(record)?.count(record);
  }

  /** Returns the counter of the agent: it receives the HTTP request, and sends the response and the events. */
  #agentCounter({ kind, from, to }: TrafficRecord): RecordCounter | undefined {
    const name = kind === 'request' ? to : from;
    let counter = this.#agents.get(name);
    if (!counter && kind === 'request' && this.#agents.size < maxAgents) {
      counter = new RecordCounter();
      this.#agents.set(name, counter);
    }
    return counter;
  }
}

class RecordCounter {
  readonly #streams = new Set<string>();
  readonly #latencies = new LatencyHistogram();
  #endedStreams = 0;
  #requests = 0;
  #errors = 0;
  #events = 0;

  count({ kind, mesh, elapsed, decoded, http, exchangeId }: TrafficRecord): void {
    if (kind === 'frame' && this.#streams.size < maxStreams) this.#streams.add(exchangeId);
    if (kind === 'end' && this.#streams.delete(exchangeId)) this.#endedStreams++;
    if (kind === 'request') this.#requests++;
    if (kind === 'frame' || (kind === 'message' && mesh)) this.#events++;
    if (decoded?.isError || (kind === 'response' && (http?.status ?? 200) >= 400)) this.#errors++;
    if (kind === 'response' && elapsed !== undefined) this.#latencies.record(elapsed);
  }

  /** Returns the load since the last call. */
  sample(): LoadCounts {
    const latency = this.#latencies.summary();
    const sample = {
      requests: this.#requests,
      errors: this.#errors,
      events: this.#events,
      // Most streams end between two samples.
      openStreams: this.#streams.size + this.#endedStreams,
      ...(latency && { latency: pickPercentiles(latency) }),
    };
    this.#requests = this.#errors = this.#events = this.#endedStreams = 0;
    this.#latencies.clear();
    return sample;
  }
}

function pickPercentiles({ p50, p90, p99, max }: NonNullable<LoadSample['latency']>) {
  return { p50, p90, p99, max };
}
