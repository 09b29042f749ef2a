import type { StoreReplica } from '../../store/store-replica.ts';
import type { TaskLog } from '../../store/task-store.ts';
import type { TaskRun } from './task-run.ts';

/** Milliseconds between two checks for running tasks during a shutdown. */
const idleCheckInterval = 20;

/** The runs of this process by task. Task ids are unique only within an owner. */
export class TaskRunTable {
  readonly #owners = new Map<string, Map<string, TaskRun>>();

  /** Returns the run of a task, if it runs in this process. */
  find({ owner, id }: TaskLog): TaskRun | undefined {
    return this.#owners.get(owner)?.get(id);
  }

  /** @returns the run */
  add(run: TaskRun): TaskRun {
    const { owner, id } = run.log;
    let runs = this.#owners.get(owner);
    if (!runs) this.#owners.set(owner, (runs = new Map()));
    runs.set(id, run);
    return run;
  }

  /** Removes a run, unless another run has replaced it. */
  remove(run: TaskRun): void {
    const { owner, id } = run.log;
    const runs = this.#owners.get(owner);
    if (runs?.get(id) !== run) return;
    runs.delete(id);
    if (runs.size === 0 && owner !== '') this.#owners.delete(owner);
  }

  /** Returns the checks of a replica and how many tasks it runs; undefined without a replica. */
  checks(replica: StoreReplica | undefined): { readonly [part: string]: string } | undefined {
    return replica && { ...replica.checks(), tasks: `${this.size} running` };
  }

  get size(): number {
    let size = 0;
    for (const runs of this.#owners.values()) size += runs.size;
    return size;
  }

  /**
   * Ends all runs because the agent closes, and waits until their last events are persisted.
   *
   * @param canResume - leaves the tasks unfinished, as if the process had been killed, so that they can be resumed.
   * @returns the logs of these tasks
   */
  async endAll(canResume: boolean): Promise<TaskLog[]> {
    const runs = this.all();
    const unfinished = canResume ? runs.filter((run) => !run.isAsking).map(({ log }) => log) : [];
    for (const run of runs) {
      if (run.isAsking || canResume) run.detach();
      else run.stop('failed', 'The agent was shut down while it processed this task.');
    }
    await Promise.allSettled(runs.map(async ({ log }) => log.whenPersisted()));
    return unfinished;
  }

  /** Waits until no run is working, at most `timeout` milliseconds. Runs that wait for input do not count. */
  async whenIdle(timeout: number): Promise<void> {
    const end = performance.now() + timeout;
    while (performance.now() < end && this.all().some((run) => !run.isAsking))
      await new Promise((resolve) => setTimeout(resolve, idleCheckInterval));
  }

  all(): TaskRun[] {
    return [...this.#owners.values()].flatMap((runs) => [...runs.values()]);
  }
}
