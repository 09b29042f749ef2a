import type { TaskLog } from '../ledger/ledger.ts';
import type { Run } from './run.ts';

/** The runs of this process, by the task they work on. */
export class RunTable {
  readonly #runs = new Map<string, Run>();

  /** The run that works on a task, if it is here. */
  of(log: TaskLog): Run | undefined {
    return this.#runs.get(keyOf(log));
  }

  add(run: Run): void {
    this.#runs.set(keyOf(run.log), run);
  }

  /** Forgets a run, unless another one took its place. */
  remove(run: Run): void {
    const key = keyOf(run.log);
    if (this.#runs.get(key) === run) this.#runs.delete(key);
  }

  /** All runs, as they are now. */
  all(): Run[] {
    return [...this.#runs.values()];
  }
}

/** Ids are unique within an owner only; the length tells where the one ends, whatever either contains. */
function keyOf({ owner, id }: TaskLog): string {
  return `${owner.length}:${owner}${id}`;
}
