import { isTerminal } from '../../protocol/task.ts';
import type { DurableTaskLog } from './durable-task-log.ts';

/** Returns the cache key of a task. The length prefix keeps keys of different owners distinct. */
export function taskCacheKey(owner: string, id: string): string {
  return `${owner.length}:${owner}${id}`;
}

/**
 * LRU cache of task logs, bounded by count and by size.
 *
 * While any code references the log of an unfinished task, opening the task returns this same log, even if it was
 * evicted: events appended through one reference must reach the subscribers of all. Evicted logs are tracked weakly.
 */
export class LogCache<L extends DurableTaskLog = DurableTaskLog> {
  readonly #maxLogs: number;
  readonly #maxBytes: number;
  #logs = new Map<string, L>();
  /** The same logs by the key of their row, if they are stored. */
  #byRow = new Map<number, L>();
  #bytes = 0;
  #evicted = new Map<string, WeakRef<L>>();
  #registry = new FinalizationRegistry<string>((key) => {
    if (!this.#evicted.get(key)?.deref()) this.#evicted.delete(key);
  });

  constructor(maxLogs: number, maxBytes: number) {
    this.#maxLogs = maxLogs;
    this.#maxBytes = maxBytes;
  }

  /** Returns a log that is in memory and marks it as recently used. */
  get(owner: string, id: string): L | undefined {
    const key = taskCacheKey(owner, id);
    const log = this.#logs.get(key);
    if (log) {
      this.#logs.delete(key);
      this.#logs.set(key, log);
      return log;
    }
    if (this.#evicted.size === 0) return undefined;
    const evicted = this.#evicted.get(key)?.deref();
    if (evicted) this.put(evicted);
    return evicted;
  }

  /** Returns a log by the key of its row, without marking it as used. */
  getByRow(row: number): L | undefined {
    return this.#byRow.get(row);
  }

  /** Adds a log, or updates its size. */
  put(log: L): void {
    const key = taskCacheKey(log.owner, log.id);
    const { size } = log;
    const replaced = log.cachedSize === 0 ? this.#logs.get(key) : undefined;
    if (replaced) this.#release(replaced);
    this.#bytes += size - log.cachedSize;
    log.cachedSize = size;
    this.#logs.set(key, log);
    if (log.stored.row !== 0) this.#byRow.set(log.stored.row, log);
    if (this.#evicted.size > 0) this.#evicted.delete(key);
    this.#evict();
  }

  /** Removes a log that differs from the file. */
  drop(log: L): void {
    this.#remove(taskCacheKey(log.owner, log.id));
  }

  /** Returns all logs in memory, including evicted ones that are still referenced. */
  logs(): L[] {
    const logs = [...this.#logs.values()];
    for (const evicted of this.#evicted.values()) {
      const log = evicted.deref();
      if (log) logs.push(log);
    }
    return logs;
  }

  #remove(key: string): void {
    const log = this.#logs.get(key);
    if (log) this.#release(log);
    this.#logs.delete(key);
    if (this.#evicted.size > 0) this.#evicted.delete(key);
  }

  #release(log: L): void {
    this.#byRow.delete(log.stored.row);
    this.#bytes -= log.cachedSize;
    log.cachedSize = 0;
  }

  #evict(): void {
    // Logs in use move to the other end. After 16 of them in a row, the limit is exceeded for now.
    let inUse = 0;
    while (this.#logs.size > this.#maxLogs || this.#bytes > this.#maxBytes) {
      const oldest = this.#logs.entries().next().value;
      if (!oldest || inUse === 16) return;
      const [key, log] = oldest;
      if (log.isDirty || log.hasWaitingSubscriptions) {
        inUse++;
        this.#logs.delete(key);
        this.#logs.set(key, log);
        continue;
      }
      this.#remove(key);
      if (!isTerminal(log.state)) this.#trackWeakly(key, log);
    }
  }

  #trackWeakly(key: string, log: L): void {
    this.#evicted.set(key, new WeakRef(log));
    this.#registry.register(log, key);
  }
}
