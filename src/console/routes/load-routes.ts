import type { Metrics } from '../../metrics/metrics.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { LoadEvent, LoadSample } from '../console-api.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
import { parseMetricCounts } from '../load/metric-counts.ts';
import { type LoadCounts, TrafficCounter } from '../load/traffic-counter.ts';
import type { ApiRoutes } from '../api-routes.ts';

/** Milliseconds between two samples. */
const sampleInterval = 1_000;
/** Number of stored samples: five minutes, as displayed by the page. */
const maxSamples = 300;

/** Samples of one agent or of all. */
interface History {
  samples: readonly LoadSample[];
  /** Number of all samples, including evicted ones. */
  count: number;
}

/**
 * Samples the load of all agents from server metrics, or from the traffic log if there are none, and that of each agent
 * from the traffic log. It samples all the time, so that a newly opened page displays the past minutes.
 */
export class LoadMonitor {
  readonly #traffic: TrafficCounter;
  readonly #sampleMetrics: (() => LoadCounts) | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #wakers = new Set<() => void>();
  readonly #all: History = { samples: [], count: 0 };
  readonly #agents = new Map<string, History>();

  constructor(metrics: readonly Metrics[], trafficLog: TrafficLog) {
    this.#sampleMetrics = metrics.length > 0 ? createMetricSampler(metrics) : undefined;
    this.#traffic = new TrafficCounter(trafficLog);
    this.#timer = setInterval(() => this.#sample(), sampleInterval).unref();
  }

  readonly routes: ApiRoutes = {
    'GET load': ({ query }) => {
      const agent = query.get('agent') ?? '';
      return { stream: (stream) => this.#sendSamples(stream, agent) };
    },
  };

  /** Stops sampling. */
  close(): void {
    clearInterval(this.#timer);
    this.#traffic.close();
  }

  #sample(): void {
    const at = Date.now();
    const { all, agents } = this.#traffic.sample();
    addSample(this.#all, { at, ...(this.#sampleMetrics?.() ?? all) });
    for (const [name, counts] of agents) {
      const history = this.#agents.get(name) ?? { samples: [], count: 0 };
      this.#agents.set(name, history);
      addSample(history, { at, ...counts });
    }
    for (const wake of this.#wakers) wake();
  }

  /** Sends the names of agents when they change, stored samples, then new ones. @param agent - empty for all */
  async #sendSamples(stream: JsonEventStream, agent: string): Promise<void> {
    let sentNames = -1;
    for (let sent = 0; !stream.signal.aborted; ) {
      const events: LoadEvent[] = [];
      if (this.#agents.size !== sentNames) {
        sentNames = this.#agents.size;
        events.push({ kind: 'agents', names: [...this.#agents.keys()] });
      }
      const history = agent === '' ? this.#all : this.#agents.get(agent);
      const { samples, count } = history ?? { samples: [], count: 0 };
      if (count > sent)
        events.push(...samples.slice(sent - count).map((sample) => ({ kind: 'sample' as const, sample })));
      sent = count;
      if (events.length > 0) await stream.send(...events);
      else
        await stream.waitFor((wake) => {
          this.#wakers.add(wake);
          return () => this.#wakers.delete(wake);
        });
    }
  }
}

function addSample(history: History, sample: LoadSample): void {
  history.samples = [...history.samples.slice(1 - maxSamples), sample];
  history.count++;
}

function createMetricSampler(metrics: readonly Metrics[]): () => LoadCounts {
  const read = () => parseMetricCounts(metrics.map(({ registry }) => registry.text()).join(''));
  let previous = read();
  return () => {
    const now = read();
    const counts = now.since(previous);
    previous = now;
    return counts;
  };
}
