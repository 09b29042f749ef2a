import type { Dialect } from '../dialects/dialect.ts';
import type { AgentCard, ProtocolVersion } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import type { LogSink } from '../primitives/log.ts';
import { parseJsonOrUndefined } from '../primitives/json.ts';
import { readMeshCard } from './mesh-card.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import type { MeshMessage, BrokerConnection, Subscription } from './brokers/broker-connection.ts';
import { checkAgentName, MeshTopics } from './mesh-topics.ts';

/** Somebody who announced itself on the mesh. */
export interface MeshPeer {
  readonly name: string;
  readonly kind: 'agent' | 'gateway';
  readonly card: AgentCard;
  /** What it speaks, as far as its card tells. */
  readonly version: ProtocolVersion;
  /** When it was last heard of, in milliseconds since 1970. */
  readonly lastSeen: number;
}

/** Options of {@link meshDirectory}. */
export interface MeshDirectoryOptions {
  readonly link: BrokerConnection;
  readonly namespace: string;
  /** After how many milliseconds of silence somebody is gone. @defaultValue 60 000 */
  readonly expiry?: number;
  /** How many are remembered; further ones are not taken in. @defaultValue 1000 */
  readonly size?: number;
  /** How many characters a card may have. @defaultValue 1 000 000 */
  readonly cardSize?: number;
  readonly clock?: Clock;
  readonly log?: LogSink;
}

/** Who is on the mesh. */
export interface MeshDirectory extends AsyncDisposable {
  /** The agents that are alive, by name. */
  agents(): MeshPeer[];
  /** The gateways that are alive, by name. */
  gateways(): MeshPeer[];
  /** An agent that is alive. */
  find(name: string): MeshPeer | undefined;
  /** Waits for an agent. @throws {@link A2AError} UNAVAILABLE when it does not announce itself in time. */
  wait(name: string, milliseconds: number, signal?: AbortSignal): Promise<MeshPeer>;
  /** Calls back when somebody comes, changes or goes. @returns what stops it. */
  onChange(changed: () => void): () => void;
  close(): Promise<void>;
}

/** How often it is looked who is gone, in milliseconds. */
const round = 10_000;

/** Listens to who announces itself on the mesh, agents and gateways. */
export async function meshDirectory(options: MeshDirectoryOptions): Promise<MeshDirectory> {
  const directory = new Directory(options);
  await directory.open();
  return directory;
}

interface Entry extends MeshPeer {
  readonly dialect: Dialect;
  /** Tells whether a card is the same as the last one. */
  readonly payload: string;
}

class Directory implements MeshDirectory {
  readonly #link: BrokerConnection;
  readonly #topics: MeshTopics;
  readonly #expiry: number;
  readonly #size: number;
  readonly #cardSize: number;
  readonly #clock: Clock;
  readonly #log: LogSink;
  readonly #peers = new Map<string, Entry>();
  readonly #listeners = new Set<{ changed: () => void }>();
  #subscription: Subscription | undefined;
  #stopRound: (() => void) | undefined;
  #isFull = false;

  constructor(options: MeshDirectoryOptions) {
    this.#link = options.link;
    this.#topics = new MeshTopics(options.namespace);
    this.#expiry = options.expiry ?? 60_000;
    this.#size = options.size ?? 1000;
    this.#cardSize = options.cardSize ?? 1_000_000;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? (() => {});
  }

  async open(): Promise<void> {
    this.#subscription = await this.#link.subscribe(this.#topics.discovery, (delivery) =>
      this.#take(delivery),
    );
    this.#watch();
  }

  agents(): MeshPeer[] {
    return this.#alive('agent');
  }

  gateways(): MeshPeer[] {
    return this.#alive('gateway');
  }

  find(name: string): MeshPeer | undefined {
    const entry = this.#peers.get(`agent/${name}`);
    return entry && this.#isAlive(entry) ? entry : undefined;
  }

  wait(name: string, milliseconds: number, signal?: AbortSignal): Promise<MeshPeer> {
    return new Promise((resolve, reject) => {
      const there = this.find(name);
      if (there) {
        resolve(there);
        return;
      }
      const settle = (end: () => void): void => {
        stopTimer();
        stopListening();
        signal?.removeEventListener('abort', leave);
        end();
      };
      const leave = (): void =>
        settle(() => reject(new A2AError('CANCELED', undefined, { cause: signal?.reason })));
      const stopListening = this.onChange(() => {
        const found = this.find(name);
        if (found) settle(() => resolve(found));
      });
      const stopTimer = this.#clock.after(milliseconds, () => settle(() => reject(this.#unknown(name))));
      if (signal?.aborted) leave();
      else signal?.addEventListener('abort', leave);
    });
  }

  onChange(changed: () => void): () => void {
    const listener = { changed };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#stopRound?.();
    await this.#subscription?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #unknown(name: string): A2AError {
    const names = this.agents().map((each) => each.name);
    return new A2AError('UNAVAILABLE', `There is no agent "${name}" on the mesh`, {
      hint:
        names.length === 0
          ? `Nobody announces itself in the namespace ${this.#topics.namespace}. Is it the right one?`
          : `In the namespace ${this.#topics.namespace} there are: ${names.slice(0, 20).join(', ')}`,
    });
  }

  #isAlive({ lastSeen: seen }: MeshPeer): boolean {
    return this.#clock.now() - seen < this.#expiry;
  }

  #alive(kind: MeshPeer['kind']): MeshPeer[] {
    return [...this.#peers.values()]
      .filter((each) => each.kind === kind && this.#isAlive(each))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #take({ topic, payload }: MeshMessage): void {
    if (payload.length > this.#cardSize) {
      this.#log({ level: 'warn', message: 'A card was too large to be read', fields: { topic } });
      return;
    }
    try {
      const { card, kind, dialect } = readMeshCard(parseJsonOrUndefined(payload));
      const seen = this.#clock.now();
      checkAgentName(card.name);
      this.#put({ name: card.name, kind, card, version: dialect.version, dialect, lastSeen: seen, payload });
    } catch (error) {
      this.#log({ level: 'warn', message: 'A card could not be read', error, fields: { topic } });
    }
  }

  #put(entry: Entry): void {
    const key = `${entry.kind}/${entry.name}`;
    const known = this.#peers.get(key);
    if (!known && this.#peers.size >= this.#size) this.#sweep();
    if (!known && this.#peers.size >= this.#size) {
      if (!this.#isFull)
        this.#log({
          level: 'warn',
          message: `More than ${this.#size} announce themselves; the rest is not seen`,
        });
      this.#isFull = true;
      return;
    }
    this.#peers.set(key, entry);
    if (!known || !this.#isAlive(known) || known.payload !== entry.payload) this.#changed();
  }

  /** Forgets who is silent. */
  #sweep(): void {
    let any = false;
    for (const [key, entry] of this.#peers) {
      if (this.#isAlive(entry)) continue;
      this.#peers.delete(key);
      any = true;
    }
    if (!any) return;
    this.#isFull = false;
    this.#changed();
  }

  #watch(): void {
    this.#stopRound = this.#clock.after(round, () => {
      this.#sweep();
      this.#watch();
    });
  }

  #changed(): void {
    for (const { changed } of this.#listeners) changed();
  }
}
