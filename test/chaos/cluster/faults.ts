import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import type { ReplicaProcess } from './replica-process.ts';

/** One kind of fault: it begins, lasts for a while and ends. */
type Fault = (cluster: Cluster, random: () => number) => Promise<void>;

const choose = <T>(values: readonly T[], random: () => number): T =>
  values[Math.floor(random() * values.length)] as T;

/** Waits for up to a number of milliseconds. */
const pause = (milliseconds: number, random: () => number) => () => delay(random() * milliseconds);

async function restart(replica: ReplicaProcess, signal: 'SIGKILL' | 'SIGTERM', rest: () => Promise<void>) {
  await replica.kill(signal);
  await rest();
  await replica.start();
}

/** Faults of one part of the cluster, by name. They happen one after the other, beside the faults of other parts. */
type FaultLane = { readonly [name: string]: Fault };

const processFaults: FaultLane = {
  kill: ({ replicas }, random) => restart(choose(replicas, random), 'SIGKILL', pause(1_000, random)),
  terminate: ({ replicas }, random) => restart(choose(replicas, random), 'SIGTERM', pause(500, random)),
  async suspend({ replicas, lease }, random) {
    const replica = choose(replicas, random);
    replica.suspend();
    await delay(lease * (1.1 + random()));
    replica.resume();
  },
};

const databaseFaults: FaultLane = {
  async disconnect({ relays, lease }, random) {
    const relay = choose(relays, random);
    relay.disconnect();
    await delay(lease * 1.5 * random());
    relay.restore();
  },
  crashDatabase: (cluster, random) => cluster.crashDatabase(pause(1_500, random)),
};

const poolerFaults: FaultLane = {
  async crashPooler({ bouncer }, random) {
    await bouncer?.kill();
    await delay(random() * 1_000);
    await bouncer?.launch();
  },
};

/** Seconds after which a fault is worth a line. */
const longFault = 10;

/** Options of {@link causeFaults}. */
interface FaultOptions {
  readonly random: () => number;
  /** Number of faults. */
  readonly faults: number;
  /** Returns the share of the work that is done, from 0 to 1; undefined if the test has failed. */
  readonly progress: () => number | undefined;
  /** Called after each fault. */
  readonly onFault: () => void;
}

/**
 * Causes faults of processes and of the database, in random order, each kind of a part equally often. They are spread over the
 * work, so that a slow machine has no more of them than a fast one.
 *
 * @returns the number of faults by name.
 */
export async function causeFaults(
  cluster: Cluster,
  { random, faults, progress, onFault }: FaultOptions,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const errors: unknown[] = [];
  let started = 0;
  const run = async (lane: FaultLane, check: () => void): Promise<void> => {
    let round: string[] = [];
    while (started < faults && errors.length === 0) {
      const due = started++ / faults;
      for (let share = progress(); share === undefined || share < due; share = progress()) {
        if (share === undefined) return;
        await delay(20);
      }
      await delay(random() * 200);
      if (round.length === 0) round = Object.keys(lane).toSorted(() => random() - 0.5);
      const name = round.pop() ?? '';
      check();
      const since = performance.now();
      await lane[name]?.(cluster, random);
      const seconds = (performance.now() - since) / 1_000;
      if (seconds > longFault) console.log(`${name} took ${seconds.toFixed(1)} s`);
      counts[name] = (counts[name] ?? 0) + 1;
      onFault();
    }
  };
  const checkReplicas = (): void => cluster.replicas.forEach((each) => each.checkAlive());
  const lanes = [
    run(processFaults, checkReplicas),
    run({ ...databaseFaults, ...(cluster.bouncer && poolerFaults) }, () => {}),
  ];
  // A fault ends before the cluster is stopped.
  await Promise.all(lanes.map((lane) => lane.catch((error: unknown) => errors.push(error))));
  if (errors.length > 0) throw errors[0];
  return counts;
}
