import type { TaskLog } from '../../store/task-store.ts';
import type { TaskRun } from './task-run.ts';

/** The runs of this process, by the task they work on. Ids are unique within an owner only. */
export class TaskRunTable {
  readonly #owners = new Map<string, Map<string, TaskRun>>();

  /** The run that works on a task, if it is here. */
  of({ owner, id }: TaskLog): TaskRun | undefined {
    return this.#owners.get(owner)?.get(id);
  }

  add(run: TaskRun): void {
    const { owner, id } = run.log;
    let runs = this.#owners.get(owner);
    if (!runs) this.#owners.set(owner, (runs = new Map()));
    runs.set(id, run);
  }

  /** Forgets a run, unless another one took its place. */
  remove(run: TaskRun): void {
    const { owner, id } = run.log;
    const runs = this.#owners.get(owner);
    if (runs?.get(id) !== run) return;
    runs.delete(id);
    if (runs.size === 0 && owner !== '') this.#owners.delete(owner);
  }

  /** How many runs there are. */
  get size(): number {
    let size = 0;
    for (const runs of this.#owners.values()) size += runs.size;
    return size;
  }

  /** All runs, as they are now. */
  all(): TaskRun[] {
    return [...this.#owners.values()].flatMap((runs) => [...runs.values()]);
  }
}
