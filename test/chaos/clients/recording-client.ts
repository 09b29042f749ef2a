import { setTimeout as delay } from 'node:timers/promises';
import type { ChaosHistory, ShownStream } from '../history/history.ts';
import { isTerminalState } from '../history/log-view.ts';
import {
  type ChaosClient,
  type ChaosMessage,
  ChaosRequestError,
  type SeenEvent,
  type SeenTask,
} from './chaos-client.ts';

/** Milliseconds before the second attempt, and between later ones at most: clients that wait for a fault leave it the processor. */
const [minRetryDelay, maxRetryDelay] = [100, 800];

/** Counts the errors that clients received, by text. */
export type ErrorCounts = Map<string, number>;

/** Repeats requests until they succeed, as a careful client does, and writes down everything that it was shown. */
export class RecordingClient {
  readonly #client: ChaosClient;
  readonly #history: ChaosHistory;
  readonly #errors: ErrorCounts;
  /** Aborted when the test has waited too long. */
  readonly #signal: AbortSignal;
  #streams = 0;

  constructor(client: ChaosClient, history: ChaosHistory, errors: ErrorCounts, signal: AbortSignal) {
    this.#client = client;
    this.#history = history;
    this.#errors = errors;
    this.#signal = signal;
  }

  get name(): string {
    return this.#client.name;
  }

  /** True if messages have no id, so that the client must look whether a failed attempt was accepted. */
  get isWithoutIds(): boolean {
    return this.#client.version === '0.1';
  }

  /**
   * Sends a message until it is accepted.
   *
   * @param mayBeRefused - the task may have ended, which counts as accepted.
   */
  async send(
    message: ChaosMessage,
    { isFirst = true, mayBeRefused = false } = {},
  ): Promise<SeenTask & { failures: number }> {
    const since = performance.now();
    let attempts = 0;
    const task = await this.#repeat(async () => {
      if (attempts++ === 0 || !this.isWithoutIds) return this.#client.send(message);
      const accepted = await this.#findAccepted(message, isFirst);
      return accepted ?? this.#client.send(message);
    }, mayBeRefused);
    this.#accept(message, task.id);
    this.#show(task, since);
    return { ...task, failures: attempts - 1 };
  }

  /** Sends a message and follows the events of its task until the end of the turn. */
  async stream(message: ChaosMessage): Promise<SeenTask> {
    let stream: ShownStream | undefined;
    let failures = -1;
    let cursor = 0;
    let last: SeenEvent | undefined;
    await this.#repeat(async () => {
      failures++;
      if (stream === undefined && failures > 0 && this.isWithoutIds) {
        const accepted = await this.#findAccepted(message, true);
        if (accepted) stream = this.#open(accepted.id, 0);
      }
      const events = stream ? this.#client.subscribe(stream.taskId, cursor) : this.#client.stream(message);
      for await (const event of events) {
        stream ??= this.#open(event.taskId, 0);
        last = this.#record(stream, event, last);
        cursor = event.sequence;
        if (endsTurn(event)) stream.isComplete = true;
      }
      if (!stream?.isComplete) throw new ChaosRequestError('The stream ended early', { isTemporary: true });
    });
    const { taskId = '' } = stream ?? {};
    this.#accept(message, taskId);
    return { id: taskId, state: last?.state ?? '', text: '' };
  }

  /** Follows a task until the end of the turn. */
  async follow(taskId: string, after: number): Promise<void> {
    const stream = this.#open(taskId, after);
    let cursor = after;
    let last: SeenEvent | undefined;
    await this.#repeat(async () => {
      for await (const event of this.#client.subscribe(taskId, cursor)) {
        last = this.#record(stream, event, last);
        cursor = event.sequence;
        if (endsTurn(event)) stream.isComplete = true;
      }
      if (!stream.isComplete) throw new ChaosRequestError('The stream ended early', { isTemporary: true });
    });
  }

  /** Reads a task. */
  async get(taskId: string): Promise<SeenTask> {
    let since = 0;
    const task = await this.#repeat(async () => {
      since = performance.now();
      try {
        return await this.#client.get(taskId);
      } catch (error) {
        if ((error as ChaosRequestError).isNotFound)
          this.#history.tasks.push({ taskId, snapshot: undefined, since });
        throw error;
      }
    });
    this.#show(task, since);
    return task;
  }

  /** Cancels a task. A repeated cancellation of a canceled task succeeds. */
  async cancel(taskId: string): Promise<SeenTask> {
    const since = performance.now();
    const task = await this.#repeat(() => this.#client.cancel(taskId));
    this.#show(task, since);
    return task;
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #open(taskId: string, after: number): ShownStream {
    const name = `${this.name} ${taskId} ${this.#streams++}`;
    const stream = { name, taskId, after, isComplete: false };
    this.#history.streams.push(stream);
    return stream;
  }

  #record(stream: ShownStream, event: SeenEvent, last: SeenEvent | undefined): SeenEvent {
    const { taskId, sequence, digest } = event;
    this.#history.events.push({ stream: stream.name, taskId, sequence, digest, at: performance.now() });
    return event.state === undefined && last ? { ...event, state: last.state } : event;
  }

  #show({ id, state, text }: SeenTask, since: number): void {
    this.#history.tasks.push({ taskId: id, snapshot: `${state} ${text}`, since });
  }

  #accept({ messageId }: ChaosMessage, taskId: string): void {
    this.#history.messages.push({ messageId: this.isWithoutIds ? undefined : messageId, taskId });
  }

  /** Returns the task if an earlier attempt was accepted. */
  async #findAccepted({ taskId = '' }: ChaosMessage, isFirst: boolean): Promise<SeenTask | undefined> {
    try {
      const task = await this.#client.get(taskId);
      return isFirst || task.state !== 'input-required' ? task : undefined;
    } catch (error) {
      if ((error as ChaosRequestError).isNotFound && isFirst) return undefined;
      throw error;
    }
  }

  async #repeat<T>(attempt: () => Promise<T>, mayBeRefused = false): Promise<T> {
    for (let failures = 0; ; failures++) {
      if (this.#signal.aborted) throw new Error(`${this.name} waits for ever`);
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof ChaosRequestError)) throw error;
        const text = `${this.name}: ${error.message}`;
        this.#errors.set(text, (this.#errors.get(text) ?? 0) + 1);
        // Without message ids, an attempt is also refused if an earlier one was accepted meanwhile.
        if (!error.isTemporary && !mayBeRefused && !(this.isWithoutIds && failures > 0))
          throw new Error(text, { cause: error });
        await delay(Math.min(minRetryDelay * 2 ** failures, maxRetryDelay));
      }
    }
  }
}

const endsTurn = ({ state }: SeenEvent): boolean =>
  state !== undefined && (isTerminalState(state) || state === 'input-required');
