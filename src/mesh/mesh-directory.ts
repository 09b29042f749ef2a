import type { Dialect } from '../dialects/dialect.ts';
import type { AgentCard, ProtocolVersion } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import type { LogSink } from '../primitives/log.ts';
import { parseJsonOrUndefined } from '../primitives/json.ts';
import { readMeshCard } from './mesh-card.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import type { MeshMessage, BrokerConnection, Subscription } from './brokers/broker-connection.ts';
import { checkAgentName, MeshTopics } from './mesh-topics.ts';

/** An agent or gateway that is announced on the mesh. */
export interface MeshPeer {
  readonly name: string;
  readonly kind: 'agent' | 'gateway';
  readonly card: AgentCard;
  /** Protocol version according to its card. */
  readonly version: ProtocolVersion;
  /** Time of the last announcement, in milliseconds since 1970. */
  readonly lastSeen: number;
}

/** Options of {@link meshDirectory}. */
export interface MeshDirectoryOptions {
  readonly broker: BrokerConnection;
  readonly namespace: string;
  /** Milliseconds without an announcement after which a peer is removed. @defaultValue 60 000 */
  readonly expiry?: number;
  /** Maximum number of peers; further ones are ignored. @defaultValue 1000 */
  readonly maxPeers?: number;
  /** Maximum number of characters of a card. @defaultValue 1 000 000 */
  readonly maxCardSize?: number;
  readonly clock?: Clock;
  readonly log?: LogSink;
}

/** Directory of the agents and gateways on the mesh. */
export interface MeshDirectory extends AsyncDisposable {
  /** Returns the available agents, sorted by name. */
  agents(): MeshPeer[];
  /** Returns the available gateways, sorted by name. */
  gateways(): MeshPeer[];
  /** Returns an available agent. */
  find(name: string): MeshPeer | undefined;
  /** Waits for an agent. @throws {@link A2AError} `UNAVAILABLE` if it is not announced in time. */
  wait(name: string, milliseconds: number, signal?: AbortSignal): Promise<MeshPeer>;
  /** Calls `listener` when a peer appears, changes or disappears. @returns a function that ends it. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

/** Interval at which expired peers are removed, in milliseconds. */
const sweepInterval = 10_000;

/** Creates a directory that subscribes to the announcements on the mesh. */
export async function meshDirectory(options: MeshDirectoryOptions): Promise<MeshDirectory> {
  const directory = new Directory(options);
  await directory.open();
  return directory;
}

interface Entry extends MeshPeer {
  readonly dialect: Dialect;
  /** `lastSeen` by the monotonic clock. */
  readonly seenAt: number;
  /** Used to detect that a card changed. */
  readonly payload: string;
}

class Directory implements MeshDirectory {
  readonly #broker: BrokerConnection;
  readonly #topics: MeshTopics;
  readonly #expiry: number;
  readonly #maxPeers: number;
  readonly #maxCardSize: number;
  readonly #clock: Clock;
  readonly #log: LogSink;
  readonly #peers = new Map<string, Entry>();
  readonly #listeners = new Set<{ listener: () => void }>();
  #subscription: Subscription | undefined;
  #stopSweep: (() => void) | undefined;
  #isFull = false;

  constructor(options: MeshDirectoryOptions) {
    this.#broker = options.broker;
    this.#topics = new MeshTopics(options.namespace);
    this.#expiry = options.expiry ?? 60_000;
    this.#maxPeers = options.maxPeers ?? 1000;
    this.#maxCardSize = options.maxCardSize ?? 1_000_000;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? (() => {});
  }

  async open(): Promise<void> {
    this.#subscription = await this.#broker.subscribe(this.#topics.discovery, (message) =>
      this.#receive(message),
    );
    this.#scheduleSweep();
  }

  agents(): MeshPeer[] {
    return this.#listAlive('agent');
  }

  gateways(): MeshPeer[] {
    return this.#listAlive('gateway');
  }

  find(name: string): MeshPeer | undefined {
    const entry = this.#peers.get(`agent/${name}`);
    return entry && this.#isAlive(entry) ? entry : undefined;
  }

  wait(name: string, milliseconds: number, signal?: AbortSignal): Promise<MeshPeer> {
    return new Promise((resolve, reject) => {
      const known = this.find(name);
      if (known) {
        resolve(known);
        return;
      }
      const finish = (settle: () => void): void => {
        stopTimer();
        stopListening();
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const onAbort = (): void =>
        finish(() => reject(new A2AError('CANCELED', undefined, { cause: signal?.reason })));
      const stopListening = this.onChange(() => {
        const found = this.find(name);
        if (found) finish(() => resolve(found));
      });
      const stopTimer = this.#clock.after(milliseconds, () =>
        finish(() => reject(this.#notFoundError(name))),
      );
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort);
    });
  }

  onChange(listener: () => void): () => void {
    const entry = { listener };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  async close(): Promise<void> {
    this.#stopSweep?.();
    await this.#subscription?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #notFoundError(name: string): A2AError {
    const names = this.agents().map((each) => each.name);
    return new A2AError('UNAVAILABLE', `Agent "${name}" is not on the mesh`, {
      hint:
        names.length === 0
          ? `No agents announced in namespace ${this.#topics.namespace}. Check the namespace.`
          : `Agents in namespace ${this.#topics.namespace}: ${names.slice(0, 20).join(', ')}`,
    });
  }

  #isAlive({ seenAt }: Entry): boolean {
    return this.#clock.monotonic() - seenAt < this.#expiry;
  }

  #listAlive(kind: MeshPeer['kind']): MeshPeer[] {
    return [...this.#peers.values()]
      .filter((each) => each.kind === kind && this.#isAlive(each))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #receive({ topic, payload }: MeshMessage): void {
    if (payload.length > this.#maxCardSize) {
      this.#log({ level: 'warn', message: 'Ignored a card that is too large', fields: { topic } });
      return;
    }
    try {
      const { card, kind, dialect } = readMeshCard(parseJsonOrUndefined(payload));
      const lastSeen = this.#clock.now();
      const seenAt = this.#clock.monotonic();
      checkAgentName(card.name);
      this.#put({
        name: card.name,
        kind,
        card,
        version: dialect.version,
        dialect,
        lastSeen,
        seenAt,
        payload,
      });
    } catch (error) {
      this.#log({ level: 'warn', message: 'Ignored an invalid card', error, fields: { topic } });
    }
  }

  #put(entry: Entry): void {
    const key = `${entry.kind}/${entry.name}`;
    const known = this.#peers.get(key);
    if (!known && this.#peers.size >= this.#maxPeers) this.#sweep();
    if (!known && this.#peers.size >= this.#maxPeers) {
      if (!this.#isFull)
        this.#log({
          level: 'warn',
          message: `More than ${this.#maxPeers} peers are announced; further ones are ignored`,
        });
      this.#isFull = true;
      return;
    }
    this.#peers.set(key, entry);
    if (!known || !this.#isAlive(known) || known.payload !== entry.payload) this.#notify();
  }

  /** Removes expired peers. */
  #sweep(): void {
    let hasChanged = false;
    for (const [key, entry] of this.#peers) {
      if (this.#isAlive(entry)) continue;
      this.#peers.delete(key);
      hasChanged = true;
    }
    if (!hasChanged) return;
    this.#isFull = false;
    this.#notify();
  }

  #scheduleSweep(): void {
    this.#stopSweep = this.#clock.after(sweepInterval, () => {
      this.#sweep();
      this.#scheduleSweep();
    });
  }

  #notify(): void {
    for (const { listener } of this.#listeners) listener();
  }
}
