/** Milliseconds between two lines about the progress. */
const printInterval = 5_000;

/** Milliseconds without a finished task, fault or delivery after which a test is given up. */
const maxSilence = 60_000;

/** What a chaos test has to do, and what of it is done. */
export class ChaosProgress {
  readonly #tasks: number;
  readonly #faults: number;
  readonly #since = performance.now();
  readonly #stalled = new AbortController();
  readonly #timer = setInterval(() => this.#print(), printInterval);
  #changedAt = performance.now();
  #finishedTasks = 0;
  #endedFaults = 0;

  constructor(tasks: number, faults: number) {
    this.#tasks = tasks;
    this.#faults = faults;
  }

  /** Aborted if nothing happens any more. */
  get stalled(): AbortSignal {
    return this.#stalled.signal;
  }

  get isEnough(): boolean {
    return this.#finishedTasks >= this.#tasks && this.#endedFaults >= this.#faults;
  }

  /** The share of the tasks that have finished, from 0 to 1. */
  get share(): number {
    return this.#finishedTasks / this.#tasks;
  }

  get milliseconds(): number {
    return Math.round(performance.now() - this.#since);
  }

  readonly finishTask = (): void => {
    this.#finishedTasks++;
    this.note();
  };

  readonly endFault = (): void => {
    this.#endedFaults++;
    this.note();
  };

  /** Notes that something has happened. */
  note(): void {
    this.#changedAt = performance.now();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #print(): void {
    const seconds = Math.round(this.milliseconds / 1_000);
    const tasks = `${this.#finishedTasks} of ${this.#tasks} tasks`;
    console.log(`${seconds} s: ${tasks}, ${this.#endedFaults} of ${this.#faults} faults`);
    if (performance.now() - this.#changedAt > maxSilence) this.#stalled.abort();
  }
}
