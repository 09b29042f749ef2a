import type { MaybePromise } from '../../../primitives/maybe-promise.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { HeldTaskLog } from '../../durable/held-task-log.ts';
import { type LogCache, taskCacheKey } from '../../durable/log-cache.ts';
import type { UnfinishedTask } from '../../task-store.ts';
import type { PostgresOwnerTable } from '../postgres-owner-table.ts';
import type { HoldDoubts } from './hold-doubts.ts';
import type { LogFollower } from './log-follower.ts';
import type { Replica } from './replica.ts';
import type { TaskHolds } from './task-holds.ts';

/** Collaborators of {@link TaskClaims}. */
interface ClaimsContext {
  readonly holds: TaskHolds;
  readonly doubts: HoldDoubts;
  readonly follower: LogFollower;
  readonly replica: Pick<Replica, 'epoch' | 'isCurrent'>;
  readonly cache: LogCache<HeldTaskLog>;
  readonly owners: PostgresOwnerTable;
  /** Called with the number of tasks of replicas that have ended. */
  readonly onTakeover: (tasks: number) => void;
}

/** Makes this replica the holder of tasks, or leaves them to others, and keeps the logs in memory consistent with that. */
export class TaskClaims {
  readonly #context: ClaimsContext;
  /** Keys of the tasks that were taken over last. Other tasks that this replica holds and does not know have no run. */
  #takenOver: ReadonlySet<string> = new Set();

  constructor(context: ClaimsContext) {
    this.#context = context;
  }

  /** Returns true if a task was among the last ones that this replica took over. */
  hasTakenOver(owner: string, id: string): boolean {
    return this.#takenOver.has(taskCacheKey(owner, id));
  }

  claim(log: HeldTaskLog): MaybePromise<boolean> {
    if (log.isHeld && !log.isReleasing && this.#context.replica.isCurrent) return true;
    return this.#claim(log);
  }

  async #claim(log: HeldTaskLog): Promise<boolean> {
    const { holds, doubts, follower, replica } = this.#context;
    try {
      await log.whenPersisted();
    } catch (error) {
      if (A2AError.from(error).reason !== 'CONFLICT') throw error;
    }
    return doubts.claim(log, async () => {
      if (await holds.claim(replica.epoch, log.stored.row)) return follower.adopt(log);
      await follower.refresh(log);
      return false;
    });
  }

  async handOver(tasks: readonly UnfinishedTask[]): Promise<void> {
    const { owners, holds, replica, cache } = this.#context;
    const rows = await Promise.all(
      tasks.map(async ({ owner, id }) => ({ ownerRow: (await owners.find(owner)) ?? 0, id })),
    );
    await holds.handOver(replica.epoch, rows);
    for (const { owner, id } of tasks) {
      const log = cache.get(owner, id);
      if (log) log.isHeld = false;
    }
  }

  async takeOver(): Promise<readonly UnfinishedTask[]> {
    const { holds, doubts, follower, replica, cache, onTakeover } = this.#context;
    const { epoch } = replica;
    const tasks = await holds.takeOver(epoch);
    if (tasks.length > 0) onTakeover(tasks.length);
    tasks.push(...(await doubts.takeTasks(epoch)));
    this.#takenOver = new Set(tasks.map(({ owner, id }) => taskCacheKey(owner, id)));
    const logs = tasks.flatMap(({ owner, id }) => cache.get(owner, id) ?? []);
    // A log that cannot be read is not held; the next check of the doubts finds its task.
    await Promise.all(logs.map((log) => follower.adopt(log).catch(() => doubts.raise())));
    return tasks;
  }
}
