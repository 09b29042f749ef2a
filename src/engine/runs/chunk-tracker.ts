import type { TaskLog } from '../../store/task-store.ts';
import { A2AError } from '../../protocol/errors.ts';

/** Tracks which artifacts of a run have been started, so that the first chunk is always sent with `append: false`. */
export class ChunkTracker {
  readonly #log: TaskLog;
  /** The last artifact and whether it is complete. Most runs have only one and need no map. */
  #current: string | undefined = undefined;
  #isCurrentClosed = false;
  /** The same for earlier artifacts. */
  #isClosed: Map<string, boolean> | undefined = undefined;

  constructor(log: TaskLog) {
    this.#log = log;
  }

  /**
   * Records an artifact or a chunk.
   *
   * @returns true if it appends to an existing artifact; false for the first chunk.
   * @throws {@link A2AError} `INVALID_AGENT_RESPONSE` for a chunk after the last one.
   */
  add(artifactId: string, append: boolean, isLast: boolean): boolean {
    const isClosed = artifactId === this.#current ? this.#isCurrentClosed : this.#isClosed?.get(artifactId);
    if (append && isClosed) {
      throw new A2AError(
        'INVALID_AGENT_RESPONSE',
        `The agent appended to artifact ${artifactId} after its last chunk`,
      );
    }
    if (this.#current !== undefined && this.#current !== artifactId) {
      this.#isClosed ??= new Map();
      this.#isClosed.set(this.#current, this.#isCurrentClosed);
    }
    this.#current = artifactId;
    this.#isCurrentClosed = isLast;
    return append && (isClosed !== undefined || this.#existsInTask(artifactId));
  }

  /** Returns true for an artifact that an earlier run created. */
  #existsInTask(id: string): boolean {
    return this.#log.task().artifacts?.some(({ artifactId }) => artifactId === id) ?? false;
  }
}
