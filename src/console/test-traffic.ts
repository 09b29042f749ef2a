import { isJsonObject } from '../primitives/json.ts';
import { LruSet } from '../primitives/lru-map.ts';
import { testClients } from '../tap/participants.ts';
import type { TrafficLog } from '../tap/traffic-log.ts';
import type { TrafficRecord } from '../tap/traffic-record.ts';

const maxTasks = 100_000;
const maxExchanges = 20_000;

/**
 * Recognizes conformance runs and load runs: their tasks, and recorded traffic. A gateway forwards their messages under its
 * own name; the message ID joins both sides before the task has an ID. Requests without IDs, such as lists, belong to a test
 * if their sender serves only tests at this time.
 */
export class TestTraffic {
  readonly #tasks = new LruSet<string>({ maxEntries: maxTasks });
  readonly #exchanges = new LruSet<string>({ maxEntries: maxExchanges });
  readonly #messages = new LruSet<string>({ maxEntries: maxExchanges });
  /** Requests without a response: their receivers, and whether they belong to a test. */
  readonly #open = new Map<string, { readonly to: string; readonly isTest: boolean }>();
  readonly #unsubscribe: () => void;
  #recordCount = 0;

  constructor(trafficLog: TrafficLog) {
    for (const record of trafficLog.recordsAfter()) this.#take(record);
    this.#unsubscribe = trafficLog.subscribe((record) => this.#take(record));
  }

  /** Number of recorded messages of tests so far. */
  get recordCount(): number {
    return this.#recordCount;
  }

  /** True if at least one task of a test is known. */
  get hasTasks(): boolean {
    return this.#tasks.size > 0;
  }

  /** Adds a task that a test has created. */
  addTask(id: string): void {
    this.#tasks.add(id);
  }

  /** Returns true if a test has created or used the task. */
  isTestTask(id: string): boolean {
    return this.#tasks.has(id);
  }

  /** Returns true for a record that belongs to a test. Only records of the log are recognized. */
  isTest({ exchangeId }: Pick<TrafficRecord, 'exchangeId'>): boolean {
    return this.#exchanges.has(exchangeId);
  }

  /** Stops following the traffic log. */
  close(): void {
    this.#unsubscribe();
  }

  #take(record: TrafficRecord): void {
    const { exchangeId, from, to, decoded } = record;
    const isOfTest = testClients.has(from) || testClients.has(to) || this.#exchanges.has(exchangeId);
    const taskId = decoded?.taskId;
    const messageId = requestedMessageId(record);
    const isForwarded =
      (taskId !== undefined && this.#tasks.has(taskId)) ||
      (messageId !== undefined && this.#messages.has(messageId));
    const isTest = isOfTest || isForwarded || (record.kind === 'request' && this.#servesOnlyTests(from));
    this.#follow(record, isTest);
    if (!isTest) return;
    this.#recordCount++;
    this.#exchanges.add(exchangeId);
    if (taskId !== undefined) this.#tasks.add(taskId);
    if (messageId !== undefined) this.#messages.add(messageId);
  }

  #follow({ exchangeId, kind, to }: TrafficRecord, isTest: boolean): void {
    if (kind === 'response' || kind === 'end') this.#open.delete(exchangeId);
    if (kind !== 'request') return;
    this.#open.set(exchangeId, { to, isTest });
    const [oldest] = this.#open.keys();
    if (this.#open.size > maxOpen && oldest !== undefined) this.#open.delete(oldest);
  }

  #servesOnlyTests(participant: string): boolean {
    let count = 0;
    for (const { to, isTest } of this.#open.values()) {
      if (to !== participant) continue;
      if (!isTest) return false;
      count++;
    }
    return count > 0;
  }
}

/** Maximum number of requests that are followed until their response. */
const maxOpen = 1_000;

function requestedMessageId({ kind, decoded }: TrafficRecord): string | undefined {
  const model = kind === 'request' || kind === 'message' ? decoded?.model : undefined;
  const message = isJsonObject(model) ? model.message : undefined;
  const id = isJsonObject(message) ? message.messageId : undefined;
  return typeof id === 'string' ? id : undefined;
}
