import type { Clock } from '../../primitives/clock.ts';
import { mapResolved } from '../../primitives/maybe-promise.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { isTerminal, limitHistory, type Task } from '../../protocol/task.ts';
import type { TaskLog, TaskStore } from '../../store/task-store.ts';
import { found } from '../runs/found-log.ts';

/** Milliseconds after which a waiting request is answered with the state as it is; shorter than the timeouts of proxies. */
const maxWait = 25_000;

/** Maximum number of waiting requests of one agent. Further ones are answered at once. */
const maxWaiting = 10_000;

/** Reads tasks. A request that knows a generation waits for a greater one, for a limited time (long polling). */
export class TaskReads {
  readonly #taskStore: TaskStore;
  readonly #clock: Pick<Clock, 'every'>;
  #waiting = 0;

  constructor(taskStore: TaskStore, clock: Pick<Clock, 'every'>) {
    this.#taskStore = taskStore;
    this.#clock = clock;
  }

  readonly getTask: Agent['getTask'] = ({ id, historyLength, currentGeneration: known }, call = {}) => {
    try {
      const log = this.#taskStore.open(call.owner ?? '', id);
      // Task stores in memory respond synchronously.
      const task = mapResolved(log, (opened) => this.#read(found(opened, id), known, call));
      return Promise.resolve(mapResolved(task, (each) => limitHistory(each, historyLength)));
    } catch (error) {
      return Promise.reject(error);
    }
  };

  #read(log: TaskLog, known: number | undefined, call: CallContext): Promise<Task> | Task {
    const task = log.task();
    const { generation } = task;
    if (known === undefined || generation === undefined || generation > known) return task;
    return isTerminal(log.state) || this.#waiting >= maxWaiting ? task : this.#wait(log, known, call);
  }

  async #wait(log: TaskLog, known: number, call: CallContext): Promise<Task> {
    const events = log.subscribe('now');
    const stop = (): void => void events.return?.();
    const stopTimer = this.#clock.every(maxWait, stop);
    const { signal } = call;
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    this.#waiting++;
    try {
      for await (const event of events) if ((generationOf(event) ?? 0) > known) break;
    } finally {
      this.#waiting--;
      stopTimer();
      signal?.removeEventListener('abort', stop);
    }
    return log.task();
  }
}

function generationOf(event: StreamEvent): number | undefined {
  if (event.kind === 'task') return event.task.generation;
  return event.kind === 'message' ? undefined : event.generation;
}
