import type { Metrics } from '../../metrics/metrics.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { LoadSample } from '../console-api.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
import { parseMetricCounts } from '../load/metric-counts.ts';
import { TrafficCounter } from '../load/traffic-counter.ts';
import type { ApiRoutes } from '../api-routes.ts';

/** What happened since somebody looked last. */
interface Counter {
  sample(): Omit<LoadSample, 'at'>;
  close(): void;
}

/** Milliseconds between two samples. */
const interval = 1_000;
/** How many samples are kept: five minutes, which is what the page shows. */
const maxSamples = 300;

/**
 * Shows how much is going on: by what servers count where there is such a thing, and by what is seen otherwise. It
 * looks all the time, so that whoever opens the page sees what was before.
 */
export class LoadMonitor {
  readonly #counter: Counter;
  readonly #timer: NodeJS.Timeout;
  readonly #waiting = new Set<() => void>();
  #samples: LoadSample[] = [];
  /** How many samples there were, with those that are forgotten. */
  #count = 0;

  constructor(metrics: readonly Metrics[], tape: TrafficLog) {
    this.#counter = metrics.length > 0 ? metricCounter(metrics) : new TrafficCounter(tape);
    this.#timer = setInterval(() => this.#look(), interval).unref();
  }

  readonly routes: ApiRoutes = {
    'GET load': () => ({ stream: (stream) => this.#play(stream) }),
  };

  /** Looks no more. */
  close(): void {
    clearInterval(this.#timer);
    this.#counter.close();
  }

  #look(): void {
    const sample: LoadSample = { at: Date.now(), ...this.#counter.sample() };
    this.#samples = [...this.#samples.slice(1 - maxSamples), sample];
    this.#count++;
    for (const wake of this.#waiting) wake();
  }

  /** Plays what is kept, then what comes. */
  async #play(stream: JsonEventStream): Promise<void> {
    for (let seen = 0; !stream.signal.aborted; ) {
      const missed = this.#count - seen;
      seen = this.#count;
      if (missed > 0) await stream.send(...this.#samples.slice(-missed));
      else await new Promise<void>((resolve) => this.#news(stream.signal, resolve));
    }
  }

  #news(signal: AbortSignal, resolve: () => void): void {
    const done = (): void => {
      this.#waiting.delete(done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    this.#waiting.add(done);
    signal.addEventListener('abort', done);
  }
}

function metricCounter(metrics: readonly Metrics[]): Counter {
  const read = () => parseMetricCounts(metrics.map(({ registry }) => registry.text()).join(''));
  let before = read();
  return {
    sample() {
      const now = read();
      const sample = now.since(before);
      before = now;
      return sample;
    },
    close() {},
  };
}
