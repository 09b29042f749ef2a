import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';

interface Trip {
  passages: number;
  readonly tasks: Set<string>;
}

interface Task {
  /** Counted from 0 in the order in which tasks were first seen. */
  readonly number: number;
  readonly trips: Set<string>;
}

/**
 * Knows which trips are about which task. A request that begins a task does not name it; its answer does, and so does
 * what a gateway says to the agent behind it. The task is what joins the two sides of a translation.
 */
export class TaskCorrelation {
  readonly #trips = new Map<string, Trip>();
  readonly #tasks = new Map<string, Task>();
  #seen = 0;

  /** Takes note of a passage. @returns whether its trip turned out to be about another task. */
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

  /** Forgets a passage, and with the last one of a trip the trip. */
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

  /** The task that a trip is about: the first that it named. */
  taskOf(trip: string): string | undefined {
    return this.#trips.get(trip)?.tasks.values().next().value;
  }

  /** Whether a trip has to do with a task. */
  isAbout(trip: string, taskId: string): boolean {
    return this.#trips.get(trip)?.tasks.has(taskId) ?? false;
  }

  /** A small number for the task of a trip, to choose a colour by; tasks that follow each other have different ones. */
  hueOf(trip: string, hues: number): number | undefined {
    const taskId = this.taskOf(trip);
    const number = taskId === undefined ? undefined : this.#tasks.get(taskId)?.number;
    return number === undefined ? undefined : number % hues;
  }
}
