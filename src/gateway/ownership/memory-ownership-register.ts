import { compositeKey } from '../../primitives/composite-key.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import type { TaskIdAlias } from '../../client/task-id-aliases.ts';
import type { OwnedTask, OwnershipRegister } from './ownership-register.ts';

interface Entry {
  readonly key: string;
  readonly owner: string;
  readonly agent: string;
  /** Undefined for a context. */
  readonly task: OwnedTask | undefined;
}

/** Options of {@link memoryOwnershipRegister}. */
export interface MemoryOwnershipRegisterOptions {
  /** Maximum number of tasks and contexts. The oldest of the owner with the most are evicted. @defaultValue 200,000 */
  readonly max?: number;
}

/** Keeps owners in memory. They are lost on restart. */
export function memoryOwnershipRegister(options: MemoryOwnershipRegisterOptions = {}): OwnershipRegister {
  return new MemoryOwnershipRegister(options.max ?? 200_000);
}

class MemoryOwnershipRegister implements OwnershipRegister {
  readonly #max: number;
  readonly #entries = new Map<string, Entry>();
  /** Entries of each owner, least recently used first. */
  readonly #byOwner = new Map<string, Map<string, Entry>>();
  readonly #aliases: LruMap<string, TaskIdAlias>;

  constructor(max: number) {
    this.#max = max;
    // Each alias has two keys.
    this.#aliases = new LruMap({ maxEntries: 2 * max });
  }

  taskOwner(agent: string, taskId: string): string | undefined {
    return this.#use(compositeKey('task', agent, taskId))?.owner;
  }

  contextOwner(agent: string, contextId: string): string | undefined {
    return this.#use(compositeKey('context', agent, contextId))?.owner;
  }

  claimTask(agent: string, owner: string, task: OwnedTask): string {
    const key = compositeKey('task', agent, task.taskId);
    const { owner: first } = this.#use(key) ?? this.#add({ key, owner, agent, task });
    if (first === owner && task.contextId !== '') this.claimContext(agent, owner, task.contextId);
    return first;
  }

  claimContext(agent: string, owner: string, contextId: string): void {
    const key = compositeKey('context', agent, contextId);
    if (!this.#use(key)) this.#add({ key, owner, agent, task: undefined });
  }

  countTasks(agent: string, owner: string, contextId?: string): number {
    let count = 0;
    for (const { agent: of, task } of this.#byOwner.get(owner)?.values() ?? [])
      if (task && of === agent && (contextId === undefined || task.contextId === contextId)) count++;
    return count;
  }

  aliases(agent: string) {
    return {
      get: (key: string) => this.#aliases.get(compositeKey(agent, key)),
      set: (key: string, alias: TaskIdAlias) => this.#aliases.set(compositeKey(agent, key), alias),
    };
  }

  #use(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    const own = entry && this.#byOwner.get(entry.owner);
    if (!own) return undefined;
    own.delete(key);
    own.set(key, entry);
    return entry;
  }

  #add(entry: Entry): Entry {
    let own = this.#byOwner.get(entry.owner);
    if (!own) this.#byOwner.set(entry.owner, (own = new Map()));
    own.set(entry.key, entry);
    this.#entries.set(entry.key, entry);
    if (this.#entries.size > this.#max) this.#evict(own);
    return entry;
  }

  /** Evicts from an owner with at least its share, so that no owner can displace the entries of others. */
  #evict(own: Map<string, Entry>): void {
    const share = this.#entries.size / this.#byOwner.size;
    const [largest = own] = own.size > share ? [own] : this.#atLeast(share);
    const [oldest] = largest.values();
    if (!oldest) return;
    largest.delete(oldest.key);
    this.#entries.delete(oldest.key);
    if (largest.size === 0) this.#byOwner.delete(oldest.owner);
  }

  *#atLeast(share: number): Generator<Map<string, Entry>> {
    for (const entries of this.#byOwner.values()) if (entries.size >= share) yield entries;
  }
}
