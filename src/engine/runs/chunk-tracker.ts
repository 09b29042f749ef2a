import type { TaskLog } from '../../store/task-store.ts';
import { A2AError } from '../../protocol/errors.ts';

/** What is known of the artifacts of a run, so that nobody is told to append to what they never saw begin. */
export class ChunkTracker {
  readonly #log: TaskLog;
  /** The artifact that came last, and whether it had its last chunk: most runs have one, which needs no map. */
  #current: string | undefined = undefined;
  #isCurrentClosed = false;
  /** The same of those before it. */
  #isClosed: Map<string, boolean> | undefined = undefined;

  constructor(log: TaskLog) {
    this.#log = log;
  }

  /**
   * Notes an artifact or a chunk of one.
   *
   * @returns whether it adds to something that is there: the first chunk begins the artifact.
   * @throws {@link A2AError} `INVALID_AGENT_RESPONSE` for a chunk after the last one.
   */
  add(artifactId: string, append: boolean, isLast: boolean): boolean {
    const isClosed = artifactId === this.#current ? this.#isCurrentClosed : this.#isClosed?.get(artifactId);
    if (append && isClosed) {
      throw new A2AError(
        'INVALID_AGENT_RESPONSE',
        `The agent added to the artifact ${artifactId} after its last chunk`,
      );
    }
    if (this.#current !== undefined && this.#current !== artifactId) {
      this.#isClosed ??= new Map();
      this.#isClosed.set(this.#current, this.#isCurrentClosed);
    }
    this.#current = artifactId;
    this.#isCurrentClosed = isLast;
    return append && (isClosed !== undefined || this.#isOlder(artifactId));
  }

  /** True for an artifact of an earlier turn, which another run made. */
  #isOlder(id: string): boolean {
    return this.#log.task().artifacts?.some(({ artifactId }) => artifactId === id) ?? false;
  }
}
