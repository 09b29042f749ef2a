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

/** The faults by name. */
const faults: { readonly [name: string]: Fault } = {
  kill: ({ replicas }, random) => restart(choose(replicas, random), 'SIGKILL', pause(1_000, random)),
  terminate: ({ replicas }, random) => restart(choose(replicas, random), 'SIGTERM', pause(500, random)),
  async suspend({ replicas, lease }, random) {
    const replica = choose(replicas, random);
    replica.suspend();
    await delay(lease * (1.1 + random()));
    replica.resume();
  },
  async disconnect({ relays, lease }, random) {
    const relay = choose(relays, random);
    relay.disconnect();
    await delay(lease * 1.5 * random());
    relay.restore();
  },
  crashDatabase: (cluster, random) => cluster.crashDatabase(pause(1_500, random)),
  async crashPooler({ bouncer }, random) {
    await bouncer?.kill();
    await delay(random() * 1_000);
    await bouncer?.launch();
  },
};

/**
 * Causes faults one after the other, each kind equally often, in random order.
 *
 * @param isDone - called before each fault with the number of faults so far.
 * @returns the number of faults by name.
 */
export async function causeFaults(
  cluster: Cluster,
  random: () => number,
  isDone: (count: number) => boolean,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const names = Object.keys(faults).filter((name) => cluster.bouncer || name !== 'crashPooler');
  let round: string[] = [];
  for (let count = 0; !isDone(count); count++) {
    if (round.length === 0) round = names.toSorted(() => random() - 0.5);
    const name = round.pop() ?? 'kill';
    await delay(random() * 400);
    for (const replica of cluster.replicas) replica.checkAlive();
    await faults[name]?.(cluster, random);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
