import { setTimeout as delay } from 'node:timers/promises';
import { ChaosProgress } from './chaos-progress.ts';
import { productClient } from './clients/product-client.ts';
import { rawClient } from './clients/raw-client.ts';
import { type ErrorCounts, RecordingClient } from './clients/recording-client.ts';
import { wireVariants } from './clients/wire-variants.ts';
import { runTask } from './clients/workload.ts';
import { Cluster } from './cluster/cluster.ts';
import { causeFaults } from './cluster/faults.ts';
import { checkHistory, type Violation } from './history/check-history.ts';
import { ChaosHistory } from './history/history.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { TestWebhook } from '../support/push/test-webhook.ts';

/** Options of {@link runChaos}. */
interface ChaosOptions {
  readonly seed: number;
  /** Minimum numbers of tasks and faults. */
  readonly tasks: number;
  readonly faults: number;
  /** Tasks at the same time. */
  readonly concurrency: number;
}

/** Result of {@link runChaos}. */
interface ChaosResult {
  readonly violations: readonly Violation[];
  /** Clients that did not receive the end of their task. */
  readonly waiting: readonly string[];
  readonly tasks: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly events: number;
  readonly reads: number;
  readonly deliveries: number;
  readonly resumes: number;
  /** Number of failed requests. */
  readonly errors: number;
  readonly milliseconds: number;
}

/** Returns the seed of this run and prints it. `DRAGOMAN_CHAOS_SEED` repeats the faults of an earlier run. */
export function chaosSeed(): number {
  const seed = Number(process.env['DRAGOMAN_CHAOS_SEED'] ?? Date.now() % 1_000_000);
  console.log(`DRAGOMAN_CHAOS_SEED=${seed}`);
  return seed;
}

/** Runs tasks of clients of all versions on three replicas while faults happen, and checks what all of them were shown. */
export async function runChaos({ seed, tasks, faults, concurrency }: ChaosOptions): Promise<ChaosResult> {
  const random = seededRandom(seed);
  const history = new ChaosHistory();
  const errors: ErrorCounts = new Map();
  // Every tenth notification fails.
  const webhook = await new TestWebhook(() => (random() < 0.1 ? 503 : 200)).start();
  const cluster = await Cluster.start();
  const progress = new ChaosProgress(tasks, faults);
  const chooseReplica = (): string => cluster.chooseUrl(random);
  const clients = [
    ...wireVariants.map((variant) => rawClient(variant, chooseReplica)),
    productClient('1.0', 'JSONRPC', chooseReplica),
    productClient('1.0', 'HTTP+JSON', chooseReplica),
    productClient('0.3', 'JSONRPC', chooseReplica),
    productClient('0.3', 'HTTP+JSON', chooseReplica),
    productClient('0.2', 'JSONRPC', chooseReplica),
    productClient('0.1', 'JSONRPC', chooseReplica),
  ].map((client) => new RecordingClient(client, history, errors, progress.stalled));
  // 0.1 and 0.3 share method names, so that a task of 0.1 is returned in the format of 0.1.
  const readers = clients.filter(({ name }) => name.includes('1.0'));
  try {
    let started = 0;
    const failures: unknown[] = [];
    const work = async (): Promise<void> => {
      while (!progress.isEnough && failures.length === 0) {
        const client = clients[started++ % clients.length];
        const others = client?.isWithoutIds ? readers : clients.filter((each) => !each.isWithoutIds);
        const other = others[Math.floor(random() * others.length)];
        if (client && other) await runTask(client, other, { history, random, webhookUrl: webhook.url });
        progress.finishTask();
      }
    };
    const workers = Array.from({ length: concurrency }, () => work().catch((error) => failures.push(error)));
    const counts = await causeFaults(cluster, {
      random,
      faults,
      progress: () => (failures.length > 0 ? undefined : progress.share),
      onFault: progress.endFault,
    });
    await Promise.all(workers);
    if (failures.length > 0 && !progress.stalled.aborted) throw failures[0];
    for (let left = await cluster.countUnfinished(); left > 0 && !progress.stalled.aborted; ) {
      await delay(50);
      const previous = left;
      left = await cluster.countUnfinished();
      if (left < previous) progress.note();
    }
    const final = await cluster.readFinalState();
    for (const { id, path } of webhook.accepted) {
      const [taskId = '', , sequence] = id.split(':');
      history.deliveries.push({ path, taskId, sequence: Number(sequence) });
    }
    return {
      violations: checkHistory(history, final),
      waiting: failures.map(String),
      tasks: final.logs.size,
      faults: counts,
      events: history.events.length,
      reads: history.tasks.length,
      deliveries: history.deliveries.length,
      resumes: final.runs.filter(({ kind }) => kind === 'resume').length,
      errors: [...errors.values()].reduce((sum, count) => sum + count, 0),
      milliseconds: progress.milliseconds,
    };
  } finally {
    progress.stop();
    await cluster.stop();
    await Promise.all(clients.map((client) => client.close()));
    await webhook.stop();
  }
}
