import type { JsonEventStream } from './json-event-stream.ts';

/** Events of the newest run. They are kept until the next run, so that a page that is opened later receives all of them. */
export class RunEvents<Event> {
  readonly #wakers = new Set<() => void>();
  #events: readonly Event[] = [];
  #runs = 0;

  /** Starts a run with its first event, and forgets the run before. */
  startRun(first: Event): void {
    this.#events = [];
    this.#runs++;
    this.add(first);
  }

  add(event: Event): void {
    this.#events = [...this.#events, event];
    for (const wake of this.#wakers) wake();
  }

  /** Sends the events of the newest run, and those of each further run, until the page disconnects. */
  async sendTo(stream: JsonEventStream): Promise<void> {
    let [run, sent] = [this.#runs, 0];
    while (!stream.signal.aborted) {
      if (this.#runs !== run) [run, sent] = [this.#runs, 0];
      const unsent = this.#events.slice(sent);
      sent += unsent.length;
      if (unsent.length > 0) await stream.send(...unsent);
      else
        await stream.waitFor((wake) => {
          this.#wakers.add(wake);
          return () => this.#wakers.delete(wake);
        });
    }
  }
}
