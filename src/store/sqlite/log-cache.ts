import { isTerminal } from '../../protocol/task.ts';
import type { SqliteTaskLog } from './sqlite-task-log.ts';

/** Names a task of an owner; the length keeps apart what would read the same when joined. */
export function taskCacheKey(owner: string, id: string): string {
  return `${owner.length}:${owner}${id}`;
}

/**
 * The logs in memory, those used last kept longest, bounded by count and by size.
 *
 * While anybody holds the log of an unfinished task, opening the task gives that same log, in the cache or not:
 * what one holder appends must reach the followers of all.
 */
export class LogCache {
  readonly #maxLogs: number;
  readonly #maxBytes: number;
  #logs = new Map<string, SqliteTaskLog>();
  #sizes = new Map<string, number>();
  #bytes = 0;
  #parked = new Map<string, WeakRef<SqliteTaskLog>>();
  #registry = new FinalizationRegistry<string>((key) => {
    if (!this.#parked.get(key)?.deref()) this.#parked.delete(key);
  });

  constructor(maxLogs: number, maxBytes: number) {
    this.#maxLogs = maxLogs;
    this.#maxBytes = maxBytes;
  }

  /** Gives a log that is in memory, and keeps it there a while longer. */
  get(owner: string, id: string): SqliteTaskLog | undefined {
    const key = taskCacheKey(owner, id);
    const log = this.#logs.get(key);
    if (log) {
      this.#logs.delete(key);
      this.#logs.set(key, log);
      return log;
    }
    if (this.#parked.size === 0) return undefined;
    const parked = this.#parked.get(key)?.deref();
    if (parked) this.put(parked);
    return parked;
  }

  /** Keeps a log, or notes that it has grown. */
  put(log: SqliteTaskLog): void {
    const key = taskCacheKey(log.owner, log.id);
    const { size } = log;
    this.#bytes += size - (this.#sizes.get(key) ?? 0);
    this.#sizes.set(key, size);
    this.#logs.set(key, log);
    if (this.#parked.size > 0) this.#parked.delete(key);
    this.#makeRoom();
  }

  /** Forgets a log that is not what is on disk. */
  drop(log: SqliteTaskLog): void {
    this.#remove(taskCacheKey(log.owner, log.id));
  }

  /** The logs that are in memory. */
  logs(): SqliteTaskLog[] {
    const logs = [...this.#logs.values()];
    for (const parked of this.#parked.values()) {
      const log = parked.deref();
      if (log) logs.push(log);
    }
    return logs;
  }

  #remove(key: string): void {
    this.#logs.delete(key);
    this.#parked.delete(key);
    this.#bytes -= this.#sizes.get(key) ?? 0;
    this.#sizes.delete(key);
  }

  #makeRoom(): void {
    // Those that are needed move to the other end; where all are, there is no room to make.
    let needed = 0;
    while (this.#logs.size > this.#maxLogs || this.#bytes > this.#maxBytes) {
      const oldest = this.#logs.entries().next().value;
      if (!oldest || needed === 16) return;
      const [key, log] = oldest;
      if (log.isDirty || log.isFollowed) {
        needed++;
        this.#logs.delete(key);
        this.#logs.set(key, log);
        continue;
      }
      this.#remove(key);
      if (!isTerminal(log.state)) this.#park(key, log);
    }
  }

  #park(key: string, log: SqliteTaskLog): void {
    this.#parked.set(key, new WeakRef(log));
    this.#registry.register(log, key);
  }
}
