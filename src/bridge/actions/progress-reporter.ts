import type { Clock } from '../../primitives/clock.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { textOf } from '../../protocol/part.ts';
import { isTerminalOrInterrupted, type TaskState } from '../../protocol/task.ts';
import type { ActionProgress } from '../action-types.ts';

/** Reports the progress of a call. With an interval it is throttled: the first at once, then the newest per interval. */
export class ProgressReporter {
  readonly #onProgress: (progress: ActionProgress) => void;
  readonly #interval: number;
  readonly #clock: Clock;
  #state: TaskState = 'submitted';
  #taskId: string | undefined = undefined;
  #count = 0;
  #pending: string | undefined = undefined;
  #stop: (() => void) | undefined = undefined;

  /** @param interval - minimum milliseconds between two reports; 0 reports all */
  constructor(onProgress: (progress: ActionProgress) => void, interval: number, clock: Clock) {
    this.#onProgress = onProgress;
    this.#interval = interval;
    this.#clock = clock;
  }

  /** Terminal and interrupted states are not reported, because the response contains them. */
  report(event: StreamEvent): void {
    if (event.kind === 'message') return;
    if (event.kind === 'artifact') {
      this.#taskId = event.taskId;
      this.#send(textOf(event.artifact.parts));
      return;
    }
    const status = event.kind === 'task' ? event.task.status : event.status;
    this.#taskId = event.kind === 'task' ? event.task.id : event.taskId;
    if (isTerminalOrInterrupted(status.state)) return;
    this.#state = status.state;
    this.#send(textOf(status.message?.parts ?? []));
  }

  /** Sends the pending report. */
  end(): void {
    this.#stop?.();
    this.#stop = undefined;
    if (this.#pending !== undefined) this.#notify(this.#pending);
    this.#pending = undefined;
  }

  #send(message: string): void {
    if (this.#stop) {
      this.#pending = message;
      return;
    }
    this.#notify(message);
    if (this.#interval <= 0) return;
    this.#stop = this.#clock.after(this.#interval, () => {
      this.#stop = undefined;
      const message = this.#pending;
      this.#pending = undefined;
      if (message !== undefined) this.#send(message);
    });
  }

  #notify(message: string): void {
    try {
      this.#onProgress({ taskId: this.#taskId, state: this.#state, message, count: ++this.#count });
    } catch {
      // Errors in observers must not affect the call.
    }
  }
}
