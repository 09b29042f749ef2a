/**
 * Following a task to its end: through broken connections, agents that cannot take a stream up again, and agents that
 * cannot stream at all.
 *
 * @module
 */
import { readCompat } from '../../dialects/compat-metadata.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import { isInterrupted, isTerminal, type Task } from '../../protocol/task.ts';
import type { StreamFrame, FrameStream } from '../transports/transport-binding.ts';
import { abortError, sleep } from '../abortable-sleep.ts';
import type { ClientSettings } from '../connect-options.ts';
import { diffTask, isReflectedIn } from '../../protocol/diff-task.ts';
import { fullJitterDelay } from '../http/retry.ts';
import { fingerprintPart, fingerprintEvent } from './fingerprint.ts';

/** What following needs from the agent that is followed. */
export interface StreamSource {
  /** Opens the stream for the first time. */
  open(signal: AbortSignal, lastEventId: string | undefined): Promise<FrameStream>;
  /** Opens it again. */
  reopen(taskId: string, lastEventId: string | undefined, signal: AbortSignal): Promise<FrameStream>;
  getTask(taskId: string, signal: AbortSignal): Promise<Task>;
  /** True when a stream that is opened again begins with the task as it stands, by the rules of the version. */
  beginsWithTask(frame: StreamFrame): boolean;
  /** The task, where it is known before the first event. */
  taskId?: string;
  /** Skip what the caller has seen already. */
  after?: number;
}

/** Ids that are larger are times and not numbers: an agent that counts does not get this far. */
const largestSequence = 1_000_000_000;

/** Reasons why a task cannot be followed, though it may be asked for. */
const cannotFollow: ReadonlySet<string> = new Set([
  'METHOD_NOT_FOUND',
  'UNSUPPORTED_OPERATION',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
]);

/** Reasons that may pass by themselves. */
const passing: ReadonlySet<string> = new Set(['UNAVAILABLE', 'TIMEOUT', 'RESOURCE_EXHAUSTED']);

/** How long an agent may take to close a stream that is over, in milliseconds. */
const grace = 2000;

/** The longest delay that an agent may ask for before its stream is opened again, in milliseconds. */
const longestRetry = 30_000;

/** Events that came together. Handing them on as one spares a walk through every layer for each. */
export type EventBatches = AsyncGenerator<readonly StreamEvent[]>;

/** Follows one task. */
export class ResumableStream {
  readonly #settings: ClientSettings;
  readonly #followed: StreamSource;
  readonly #signal: AbortSignal;
  #fold: TaskReducer | undefined;
  /** The newest `id:`, whatever it means to the agent. */
  #lastId: string | undefined;
  /** The newest sequence number of an agent that counts. */
  #sequence: number | undefined;
  #counts = true;
  /** What the newest frame said. */
  #newest: readonly StreamEvent[] = [];
  /** The task was over once; what an agent says afterwards does not bring it back. */
  #hasEnded = false;
  /** True at the beginning of a connection, where an agent may repeat what was seen. */
  #mayRepeat: boolean;
  #direct = false;
  /** The agent said that this was the last event. */
  #closed = false;
  #fruitless = 0;
  /** The delay that the agent asks for. */
  #retry = 0;

  constructor(settings: ClientSettings, followed: StreamSource, signal: AbortSignal) {
    this.#settings = settings;
    this.#followed = followed;
    this.#signal = signal;
    this.#sequence = followed.after;
    this.#mayRepeat = followed.after !== undefined;
    if (followed.after !== undefined) this.#lastId = String(followed.after);
  }

  /** Opens the stream and gives everything it says, in order and once, until the task ends or waits. */
  async start(): Promise<EventBatches> {
    const connection = new Connection(this.#signal);
    try {
      return this.#run(await this.#followed.open(connection.signal, this.#lastId), connection);
    } catch (thrown) {
      connection.release();
      throw thrown;
    }
  }

  async *#run(opened: FrameStream, first: Connection): EventBatches {
    let [source, connection] = [opened, first];
    for (let resumed = false; ; resumed = true) {
      const broken = yield* this.#listen(source, connection, resumed);
      if (this.#isOver(broken)) return;
      const taskId = this.#fold?.id ?? this.#followed.taskId;
      if (taskId === undefined) throw broken ?? silentEnd();
      connection = new Connection(this.#signal);
      const next = yield* this.#resume(taskId, broken ?? silentEnd(), connection.signal);
      if (!next) return;
      source = next;
      this.#mayRepeat = true;
    }
  }

  /** Asks for the task again and again until it ends or waits: soon at first, and less often while nothing happens. */
  async *poll(task: Task): EventBatches {
    yield this.#takeAll(this.#newsOf(task));
    const { initialDelay: first, maxDelay: longest } = this.#settings.polling;
    let wait = Math.min(first, longest);
    while (!this.#isSettled()) {
      await sleep(this.#settings.clock, wait, this.#signal);
      const news = this.#newsOf(await this.#followed.getTask(task.id, this.#signal));
      yield this.#takeAll(news);
      // The first looks are for tasks that end at once; one that has much to tell is not asked that often all the time.
      wait = Math.min(wait * 2, news.length > 0 ? first * 4 : longest, longest);
    }
  }

  #isSettled(): boolean {
    const state = this.#fold?.status.state;
    return state !== undefined && (isTerminal(state) || isInterrupted(state));
  }

  /** A close is an end when the task is over, waits for words, or the agent said so. */
  #isOver(broken: A2AError | undefined): boolean {
    if (this.#direct || this.#closed || this.#hasEnded) return true;
    const state = this.#fold?.status.state;
    if (state === undefined) return false;
    if (state === 'input-required') return true;
    return broken === undefined && isInterrupted(state);
  }

  /** Hands on what one connection brings. Returns what broke it; an error of the agent's own is thrown. */
  async *#listen(
    source: FrameStream,
    connection: Connection,
    resumed: boolean,
  ): AsyncGenerator<readonly StreamEvent[], A2AError | undefined> {
    let first = resumed;
    let stopWaiting: (() => void) | undefined;
    try {
      for await (const batch of source) {
        const ready: StreamEvent[] = [];
        let fault: A2AError | undefined;
        for (const frame of batch) {
          fault = frame.error;
          if (fault) break;
          if (frame.retry !== undefined) this.#retry = Math.min(frame.retry, longestRetry);
          if (frame.events.length === 0 || !this.#isNews(frame)) continue;
          const events = first ? await this.#bridge(frame) : frame.events;
          first = false;
          const last = events.at(-1);
          if (last && this.#counts && this.#sequence !== undefined) last.sequence = this.#sequence;
          for (const event of events) ready.push(this.#take(event));
          this.#newest = frame.events;
          if (frame.id !== undefined && frame.id !== '') this.#lastId = frame.id;
        }
        if (ready.length > 0) yield ready;
        if (fault) throw new AgentFault(fault);
        if (stopWaiting === undefined && this.#hasEnded)
          stopWaiting = this.#settings.clock.after(grace, () => connection.close());
      }
      return undefined;
    } catch (thrown) {
      if (thrown instanceof AgentFault) throw thrown.error;
      if (this.#signal.aborted) throw abortError(this.#signal);
      const error = A2AError.from(thrown);
      if (connection.signal.aborted || passing.has(error.reason)) return error;
      throw error;
    } finally {
      stopWaiting?.();
      connection.release();
    }
  }

  /** Drops what was seen before, by number where the agent counts. Numbers that do not grow are not counting. */
  #isNews(frame: StreamFrame): boolean {
    if (!this.#counts || frame.id === undefined || frame.id === '') return true;
    const sequence = sequenceOf(frame.id);
    const grows = sequence !== undefined && (this.#sequence === undefined || sequence > this.#sequence);
    if (grows) {
      this.#gap = this.#sequence === undefined || sequence > this.#sequence + 1;
      this.#sequence = sequence;
      this.#mayRepeat = false;
      return true;
    }
    if (sequence !== undefined && this.#mayRepeat) return false;
    // The same words under the same number are the same event once more; other words are none.
    if (sequence === this.#sequence && isRepeated(this.#newest, frame.events)) return false;
    this.#counts = false;
    return true;
  }

  /** True when numbers are missing between the last two frames. */
  #gap = true;

  /**
   * Closes the gap before the first event of a connection that was opened again: with the picture that it brings, with
   * nothing if it goes on exactly where the last one ended, and by asking otherwise.
   */
  async #bridge(frame: StreamFrame): Promise<readonly StreamEvent[]> {
    const fold = this.#fold;
    const [head] = frame.events;
    if (!fold || !head) return frame.events;
    if (head.kind === 'task' && this.#followed.beginsWithTask(frame))
      return [...diffTask(fold.task(), head.task, fingerprintPart), ...frame.events.slice(1)];
    const updates = frame.events.flatMap((event) => asUpdate(event, frame.events.length));
    if (this.#counts && this.#sequence !== undefined && frame.id !== undefined && !this.#gap) return updates;
    const now = await this.#followed.getTask(fold.id, this.#signal);
    const news = diffTask(fold.task(), now, fingerprintPart);
    // What was asked for just now may show what this event is about to say.
    return [...news, ...updates.filter((event) => !isReflectedIn(event, now))];
  }

  #newsOf(task: Task): StreamEvent[] {
    return this.#fold ? diffTask(this.#fold.task(), task, fingerprintPart) : [{ kind: 'task', task }];
  }

  #takeAll(events: readonly StreamEvent[]): readonly StreamEvent[] {
    for (const event of events) this.#take(event);
    return events;
  }

  #take(event: StreamEvent): StreamEvent {
    this.#fruitless = 0;
    if (event.kind === 'message') this.#direct = this.#fold === undefined;
    else {
      const kept = fingerprintEvent(event);
      (this.#fold ??= startReducer(kept))?.apply(kept);
    }
    if (this.#fold && isTerminal(this.#fold.status.state)) this.#hasEnded = true;
    if (event.kind === 'status') this.#closed = readCompat(event.metadata)?.final === true;
    return event;
  }

  /** Opens the stream again. Returns nothing when the task was followed to its end in another way. */
  async *#resume(
    taskId: string,
    broken: A2AError,
    connection: AbortSignal,
  ): AsyncGenerator<readonly StreamEvent[], FrameStream | undefined> {
    const settings = this.#settings;
    let reason = broken;
    for (;;) {
      if (this.#fruitless >= settings.resumes) throw gaveUp(reason, this.#fruitless);
      settings.report({
        kind: 'resume',
        taskId,
        error: reason,
        message: `The stream of task ${taskId} broke and is taken up again`,
      });
      // What the agent asks for is the least; a crowd of readers should still not come back all at once.
      const delay = this.#retry + fullJitterDelay(this.#fruitless, settings.random);
      await sleep(settings.clock, delay, this.#signal);
      this.#fruitless++;
      try {
        return await this.#followed.reopen(taskId, this.#lastId, connection);
      } catch (thrown) {
        if (this.#signal.aborted) throw abortError(this.#signal);
        reason = A2AError.from(thrown);
      }
      if (passing.has(reason.reason)) continue;
      if (reason.reason !== 'TASK_NOT_FOUND' && !cannotFollow.has(reason.reason)) throw reason;
      yield* this.#otherwise(taskId, reason);
      return undefined;
    }
  }

  /** The agent does not let the task be followed: because it is over, or because it never does. */
  async *#otherwise(taskId: string, refused: A2AError): EventBatches {
    const now = await this.#followed.getTask(taskId, this.#signal);
    yield this.#takeAll(this.#newsOf(now));
    if (this.#isSettled()) return;
    if (!cannotFollow.has(refused.reason)) throw refused;
    this.#settings.report({
      kind: 'poll',
      taskId,
      error: refused,
      message: `Task ${taskId} cannot be followed; it is asked for instead`,
    });
    yield* this.poll(now);
  }
}

/** One connection of several: ends with the whole, or alone. */
class Connection {
  readonly #stop = new AbortController();
  readonly #outer: AbortSignal;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    if (outer.aborted) this.#leave();
    outer.addEventListener('abort', this.#leave);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  close(): void {
    this.#stop.abort(new Error('The stream is over'));
  }

  release(): void {
    this.#outer.removeEventListener('abort', this.#leave);
  }

  #leave = (): void => {
    this.#stop.abort(this.#outer.reason);
  };
}

/** Tells an error that the agent sent from one of the connection. */
class AgentFault extends Error {
  readonly error: A2AError;

  constructor(error: A2AError) {
    super(error.message);
    this.error = error;
  }
}

/** True when events say what others said before; numbers are given to them while they are read. */
function isRepeated(before: readonly StreamEvent[], events: readonly StreamEvent[]): boolean {
  const words = (said: readonly StreamEvent[]): string =>
    JSON.stringify(said.map((event) => ({ ...event, sequence: undefined })));
  return words(before) === words(events);
}

function sequenceOf(id: string | undefined): number | undefined {
  if (id === undefined || !/^\d{1,9}$/.test(id)) return undefined;
  const sequence = Number(id);
  return sequence < largestSequence ? sequence : undefined;
}

/** A task that a reader put before the first update shows nothing but that update's state. */
function asUpdate(event: StreamEvent, length: number): StreamEvent[] {
  if (event.kind !== 'task') return [event];
  if (length > 1) return [];
  const { id: taskId, contextId, status } = event.task;
  return [{ kind: 'status', taskId, contextId, status }];
}

function silentEnd(): A2AError {
  return new A2AError('UNAVAILABLE', 'The stream ended before the task did', {
    hint: 'The agent, or a proxy before it, closed the connection early.',
  });
}

function gaveUp(reason: A2AError, attempts: number): A2AError {
  return new A2AError(
    'UNAVAILABLE',
    `The stream broke and could not be taken up again in ${attempts} attempts`,
    { cause: reason, hint: reason.hint ?? 'The task may still be running: ask for it with getTask.' },
  );
}
