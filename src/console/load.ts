import type { Metrics } from '../metrics/metrics.ts';
import type { Tape } from '../tap/tape.ts';
import type { LoadSample } from './api.ts';
import type { EventStream } from './event-stream.ts';
import { countsOf } from './metric-counts.ts';
import { TapeCounter } from './tape-counter.ts';
import type { Routes } from './route.ts';

/** What happened since somebody looked last. */
interface Counter {
  sample(): Omit<LoadSample, 'at'>;
  close(): void;
}

/** Milliseconds between two samples. */
const interval = 1_000;

/** Shows how much is going on: by what servers count where there is such a thing, and by what is seen otherwise. */
export function loadRoutes(metrics: readonly Metrics[], tape: Tape): Routes {
  return {
    'GET load': () => ({
      stream: async (stream) => {
        const counter = metrics.length > 0 ? metricCounter(metrics) : new TapeCounter(tape);
        try {
          await tick(stream, counter);
        } finally {
          counter.close();
        }
      },
    }),
  };
}

/** One sample for each second. A page that does not read misses none: the next one has everything since. */
async function tick(stream: EventStream, counter: Counter): Promise<void> {
  do await new Promise<void>((resolve) => pause(stream.signal, resolve));
  while (await stream.send({ at: Date.now(), ...counter.sample() } satisfies LoadSample));
}

function pause(signal: AbortSignal, done: () => void): void {
  const end = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    done();
  };
  const timer = setTimeout(end, interval);
  signal.addEventListener('abort', end);
}

function metricCounter(metrics: readonly Metrics[]): Counter {
  const read = () => countsOf(metrics.map(({ registry }) => registry.text()).join(''));
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
