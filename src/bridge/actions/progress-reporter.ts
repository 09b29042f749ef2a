import type { Clock } from '../../client/abortable-sleep.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { textOf } from '../../protocol/part.ts';
import { isInterrupted, isTerminal, type TaskState } from '../../protocol/task.ts';
import type { ActionProgress } from '../action-types.ts';

/** Tells a caller what happens to its call: all of it, or the first at once and then the newest of each interval. */
export class ProgressReporter {
  readonly #tell: (progress: ActionProgress) => void;
  readonly #interval: number;
  readonly #clock: Clock;
  #state: TaskState = 'submitted';
  #taskId: string | undefined = undefined;
  #count = 0;
  #pending: string | undefined = undefined;
  #stop: (() => void) | undefined = undefined;

  /** @param interval - milliseconds; 0 tells everything */
  constructor(tell: (progress: ActionProgress) => void, interval: number, clock: Clock) {
    this.#tell = tell;
    this.#interval = interval;
    this.#clock = clock;
  }

  /** Something happened. That a task rests is told by the response. */
  report(event: StreamEvent): void {
    if (event.kind === 'message') return;
    if (event.kind === 'artifact') {
      this.#taskId = event.taskId;
      this.#say(textOf(event.artifact.parts));
      return;
    }
    const status = event.kind === 'task' ? event.task.status : event.status;
    this.#taskId = event.kind === 'task' ? event.task.id : event.taskId;
    if (isTerminal(status.state) || isInterrupted(status.state)) return;
    this.#state = status.state;
    this.#say(textOf(status.message?.parts ?? []));
  }

  /** Tells what waits; nothing comes after that. */
  end(): void {
    this.#stop?.();
    this.#stop = undefined;
    if (this.#pending !== undefined) this.#call(this.#pending);
    this.#pending = undefined;
  }

  #say(message: string): void {
    if (this.#stop) {
      this.#pending = message;
      return;
    }
    this.#call(message);
    if (this.#interval > 0) this.#pause();
  }

  #pause(): void {
    this.#stop = this.#clock.after(this.#interval, () => {
      this.#stop = undefined;
      const message = this.#pending;
      this.#pending = undefined;
      if (message !== undefined) this.#say(message);
    });
  }

  #call(message: string): void {
    try {
      this.#tell({ taskId: this.#taskId, state: this.#state, message, count: ++this.#count });
    } catch {
      // What a listener does wrong is no fault of the call.
    }
  }
}
