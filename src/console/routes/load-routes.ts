import type { Metrics } from '../../metrics/metrics.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { LoadSample } from '../console-api.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
import { parseMetricCounts } from '../load/metric-counts.ts';
import { TrafficCounter } from '../load/traffic-counter.ts';
import type { ApiRoutes } from '../api-routes.ts';

/** Counts the load since the last sample. */
interface Counter {
  sample(): Omit<LoadSample, 'at'>;
  close(): void;
}

/** Milliseconds between two samples. */
const sampleInterval = 1_000;
/** Number of stored samples: five minutes, as displayed by the page. */
const maxSamples = 300;

/**
 * Samples the load from server metrics, or from the traffic log if there are none. It samples all the time, so that a
 * newly opened page displays the past minutes.
 */
export class LoadMonitor {
  readonly #counter: Counter;
  readonly #timer: NodeJS.Timeout;
  readonly #wakers = new Set<() => void>();
  #samples: LoadSample[] = [];
  /** Number of all samples, including evicted ones. */
  #count = 0;

  constructor(metrics: readonly Metrics[], trafficLog: TrafficLog) {
    this.#counter = metrics.length > 0 ? createMetricCounter(metrics) : new TrafficCounter(trafficLog);
    this.#timer = setInterval(() => this.#sample(), sampleInterval).unref();
  }

  readonly routes: ApiRoutes = {
    'GET load': () => ({ stream: (stream) => this.#sendSamples(stream) }),
  };

  /** Stops sampling. */
  close(): void {
    clearInterval(this.#timer);
    this.#counter.close();
  }

  #sample(): void {
    const sample: LoadSample = { at: Date.now(), ...this.#counter.sample() };
    this.#samples = [...this.#samples.slice(1 - maxSamples), sample];
    this.#count++;
    for (const wake of this.#wakers) wake();
  }

  /** Sends stored samples, then new ones. */
  async #sendSamples(stream: JsonEventStream): Promise<void> {
    for (let sent = 0; !stream.signal.aborted; ) {
      const unsent = this.#count - sent;
      sent = this.#count;
      if (unsent > 0) await stream.send(...this.#samples.slice(-unsent));
      else
        await stream.waitFor((wake) => {
          this.#wakers.add(wake);
          return () => this.#wakers.delete(wake);
        });
    }
  }
}

function createMetricCounter(metrics: readonly Metrics[]): Counter {
  const read = () => parseMetricCounts(metrics.map(({ registry }) => registry.text()).join(''));
  let previous = read();
  return {
    sample() {
      const now = read();
      const sample = now.since(previous);
      previous = now;
      return sample;
    },
    close() {},
  };
}
