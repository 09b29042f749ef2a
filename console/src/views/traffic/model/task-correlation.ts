import { testClients } from '../../../../../src/tap/participants.ts';
import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';

interface Exchange {
  records: number;
  readonly isTest: boolean;
  readonly tasks: Set<string>;
}

interface Task {
  /** Index of the task in order of appearance, from 0. */
  readonly number: number;
  /** True if a conformance test has used it. */
  isTest: boolean;
  readonly exchanges: Set<string>;
}

/**
 * Maps exchanges to tasks. A request that starts a task does not contain its id; its response does, and so do the
 * requests of a gateway to the upstream. The task joins both sides of a translation.
 */
export class TaskCorrelation {
  readonly #exchanges = new Map<string, Exchange>();
  readonly #tasks = new Map<string, Task>();
  #seen = 0;

  /** Adds a record. @returns true if the task of its exchange changed */
  add({ exchangeId: id, decoded, from, to }: TrafficRecord): boolean {
    let exchange = this.#exchanges.get(id);
    const isTest = testClients.has(from) || testClients.has(to);
    if (!exchange) this.#exchanges.set(id, (exchange = { records: 0, isTest, tasks: new Set() }));
    exchange.records++;
    const taskId = decoded?.taskId;
    if (taskId === undefined || exchange.tasks.has(taskId)) return false;
    exchange.tasks.add(taskId);
    let task = this.#tasks.get(taskId);
    if (!task)
      this.#tasks.set(taskId, (task = { number: this.#seen++, isTest: false, exchanges: new Set() }));
    task.exchanges.add(id);
    if (exchange.isTest) task.isTest = true;
    return true;
  }

  /** Removes a record, and its exchange with the last one. */
  remove({ exchangeId: id }: TrafficRecord): void {
    const exchange = this.#exchanges.get(id);
    if (!exchange || --exchange.records > 0) return;
    this.#exchanges.delete(id);
    for (const taskId of exchange.tasks) {
      const task = this.#tasks.get(taskId);
      task?.exchanges.delete(id);
      if (task?.exchanges.size === 0) this.#tasks.delete(taskId);
    }
  }

  /** The first task that an exchange referred to. */
  taskOf(exchangeId: string): string | undefined {
    return this.#exchanges.get(exchangeId)?.tasks.values().next().value;
  }

  /** Returns true if an exchange refers to a task. */
  isAbout(exchangeId: string, taskId: string): boolean {
    return this.#exchanges.get(exchangeId)?.tasks.has(taskId) ?? false;
  }

  /** Returns true for an exchange of a conformance test or load run, or about one of its tasks. */
  isTest(exchangeId: string): boolean {
    const exchange = this.#exchanges.get(exchangeId);
    if (!exchange || exchange.isTest) return exchange?.isTest ?? false;
    for (const taskId of exchange.tasks) if (this.#tasks.get(taskId)?.isTest) return true;
    return false;
  }

  /** A small number per task, for its color; consecutive tasks have different ones. */
  hueOf(exchangeId: string, hues: number): number | undefined {
    const taskId = this.taskOf(exchangeId);
    const number = taskId === undefined ? undefined : this.#tasks.get(taskId)?.number;
    return number === undefined ? undefined : number % hues;
  }
}
