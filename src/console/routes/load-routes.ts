import type { Metrics } from '../../metrics/metrics.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { LoadEvent, LoadSample } from '../console-api.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
import { parseMetricCounts } from '../load/metric-counts.ts';
import { type LoadCounts, TrafficCounter } from '../load/traffic-counter.ts';
import type { ApiRoutes } from '../api-routes.ts';
import type { TestTraffic } from '../test-traffic.ts';

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

/** Samples of all agents together and of each one. */
interface Histories {
  readonly all: History;
  readonly agents: Map<string, History>;
}

/**
 * Samples the load of all agents from server metrics, or from the traffic log if there are none, and that of each agent
 * from the traffic log. It samples all the time, so that a newly opened page displays the past minutes. Metrics do not tell
 * who sent a request: the load without tests is counted in the traffic log while tests run.
 */
export class LoadMonitor {
  readonly #traffic: TrafficCounter;
  readonly #userTraffic: TrafficCounter;
  readonly #testTraffic: TestTraffic;
  readonly #sampleMetrics: (() => LoadCounts) | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #wakers = new Set<() => void>();
  readonly #histories = createHistories();
  readonly #userHistories = createHistories();
  /** Numbers of test records at the last two samples. */
  #testRecords: readonly [number, number] = [0, 0];

  constructor(metrics: readonly Metrics[], trafficLog: TrafficLog, testTraffic: TestTraffic) {
    this.#sampleMetrics = metrics.length > 0 ? createMetricSampler(metrics) : undefined;
    this.#testTraffic = testTraffic;
    this.#traffic = new TrafficCounter(trafficLog);
    this.#userTraffic = new TrafficCounter(trafficLog, (record) => !testTraffic.isTest(record));
    this.#timer = setInterval(() => this.#sample(), sampleInterval).unref();
  }

  readonly routes: ApiRoutes = {
    'GET load': ({ query }) => {
      const agent = query.get('agent') ?? '';
      const histories = query.get('tests') === 'hide' ? this.#userHistories : this.#histories;
      return { stream: (stream) => this.#sendSamples(stream, histories, agent) };
    },
  };

  /** Stops sampling. */
  close(): void {
    clearInterval(this.#timer);
    this.#traffic.close();
    this.#userTraffic.close();
  }

  #sample(): void {
    const at = Date.now();
    const total = this.#traffic.sample();
    const user = this.#userTraffic.sample();
    const metrics = this.#sampleMetrics?.();
    const [before, last] = this.#testRecords;
    const { recordCount } = this.#testTraffic;
    // A response may be counted by the metrics after the sample that has its record.
    const hasTests = recordCount > before || total.all.openStreams > user.all.openStreams;
    this.#testRecords = [last, recordCount];
    addSamples(this.#histories, at, { ...total, all: metrics ?? total.all });
    addSamples(this.#userHistories, at, { ...user, all: (hasTests ? undefined : metrics) ?? user.all });
    for (const wake of this.#wakers) wake();
  }

  /** Sends the names of agents when they change, stored samples, then new ones. @param agent - empty for all */
  async #sendSamples(stream: JsonEventStream, histories: Histories, agent: string): Promise<void> {
    let sentNames = -1;
    for (let sent = 0; !stream.signal.aborted; ) {
      const events: LoadEvent[] = [];
      if (histories.agents.size !== sentNames) {
        sentNames = histories.agents.size;
        events.push({ kind: 'agents', names: [...histories.agents.keys()] });
      }
      const history = agent === '' ? histories.all : histories.agents.get(agent);
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

function createHistories(): Histories {
  return { all: { samples: [], count: 0 }, agents: new Map() };
}

function addSamples(
  histories: Histories,
  at: number,
  { all, agents }: { readonly all: LoadCounts; readonly agents: ReadonlyMap<string, LoadCounts> },
): void {
  addSample(histories.all, { at, ...all });
  for (const [name, counts] of agents) {
    const history = histories.agents.get(name) ?? { samples: [], count: 0 };
    histories.agents.set(name, history);
    addSample(history, { at, ...counts });
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
