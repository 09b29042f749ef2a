import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';

interface Trip {
  passages: number;
  readonly tasks: Set<string>;
}

interface Task {
  /** Index of the task in order of appearance, from 0. */
  readonly number: number;
  readonly trips: Set<string>;
}

/**
 * Maps exchanges to tasks. A request that starts a task does not contain its id; its response does, and so do the
 * requests of a gateway to the upstream. The task joins both sides of a translation.
 */
export class TaskCorrelation {
  readonly #trips = new Map<string, Trip>();
  readonly #tasks = new Map<string, Task>();
  #seen = 0;

  /** Adds a record. @returns true if the task of its exchange changed */
  add({ exchangeId: id, decoded: meaning }: TrafficRecord): boolean {
    let trip = this.#trips.get(id);
    if (!trip) this.#trips.set(id, (trip = { passages: 0, tasks: new Set() }));
    trip.passages++;
    const taskId = meaning?.taskId;
    if (taskId === undefined || trip.tasks.has(taskId)) return false;
    trip.tasks.add(taskId);
    let task = this.#tasks.get(taskId);
    if (!task) this.#tasks.set(taskId, (task = { number: this.#seen++, trips: new Set() }));
    task.trips.add(id);
    return true;
  }

  /** Removes a record, and its exchange with the last one. */
  remove({ exchangeId: id }: TrafficRecord): void {
    const trip = this.#trips.get(id);
    if (!trip || --trip.passages > 0) return;
    this.#trips.delete(id);
    for (const taskId of trip.tasks) {
      const task = this.#tasks.get(taskId);
      task?.trips.delete(id);
      if (task?.trips.size === 0) this.#tasks.delete(taskId);
    }
  }

  /** The first task that an exchange referred to. */
  taskOf(trip: string): string | undefined {
    return this.#trips.get(trip)?.tasks.values().next().value;
  }

  /** Returns true if an exchange refers to a task. */
  isAbout(trip: string, taskId: string): boolean {
    return this.#trips.get(trip)?.tasks.has(taskId) ?? false;
  }

  /** A small number per task, for its color; consecutive tasks have different ones. */
  hueOf(trip: string, hues: number): number | undefined {
    const taskId = this.taskOf(trip);
    const number = taskId === undefined ? undefined : this.#tasks.get(taskId)?.number;
    return number === undefined ? undefined : number % hues;
  }
}
