/**
 * Streams the events of a task until it ends. Resumes interrupted connections with Last-Event-ID, fills gaps from task
 * snapshots, and polls agents that cannot resume.
 *
 * @module
 */
import { readCompat } from '../../dialects/compat-metadata.ts';
import { A2AError, canceledError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import { isInterrupted, isTerminal, isTerminalOrInterrupted, type Task } from '../../protocol/task.ts';
import type { StreamFrame, FrameStream } from '../transports/transport-binding.ts';
import { backoffDelay } from '../../primitives/backoff.ts';
import { sleep } from '../../primitives/clock.ts';
import type { ClientSettings } from '../connect-options.ts';
import { diffTask, isReflectedIn } from '../../protocol/diff-task.ts';
import { HttpTransportError } from '../http/http-client.ts';
import { retryBackoff } from '../http/retry.ts';
import { StreamConnection } from './stream-connection.ts';
import { haveSameContent, parseSequence } from './event-ids.ts';
import { fingerprintPart, fingerprintEvent } from './fingerprint.ts';
import { earlyEndError, resumeFailedError } from './resume-errors.ts';

/** Operations of the agent that a {@link ResumableStream} uses. */
export interface StreamSource {
  /** Opens the first connection. */
  open(signal: AbortSignal, lastEventId: string | undefined): Promise<FrameStream>;
  /** Opens a further connection. */
  reopen(taskId: string, lastEventId: string | undefined, signal: AbortSignal): Promise<FrameStream>;
  getTask(taskId: string, signal: AbortSignal): Promise<Task>;
  /** Returns true if the first frame of a resumed stream is a snapshot of the task, according to the protocol version. */
  startsWithSnapshot(frame: StreamFrame): boolean;
  /** Id of the task, if it is known before the first event. */
  taskId?: string;
  /** True if the first connection may be opened again: the agent recognizes a repeated request. */
  isRepeatable?: boolean;
  /** Finds the task that the first connection started, if it was interrupted before its first event. */
  findTask?(signal: AbortSignal): Promise<string | undefined>;
  /** Skips events up to this sequence number, which the caller already has. */
  afterSequence?: number;
}

/** Errors of agents that do not support resuming; the task is polled then. */
const cannotResume: ReadonlySet<string> = new Set([
  'METHOD_NOT_FOUND',
  'UNSUPPORTED_OPERATION',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
]);

/** Temporary errors. */
const transientReasons: ReadonlySet<string> = new Set(['UNAVAILABLE', 'TIMEOUT', 'RESOURCE_EXHAUSTED']);

/** Milliseconds that an agent has to close the stream of an ended task. */
const closeTimeout = 2000;

/**
 * Maximum number of resumed streams that end without an error and without a new event: the agent is reachable and does not
 * process the task.
 */
const maxEarlyEnds = 5;

/** Maximum reconnection delay that an agent may request with `retry:`, in milliseconds. */
const maxRetryDelay = 30_000;

/** Batches of events that arrived together, which saves a pass through all layers for each event. */
export type EventBatches = AsyncGenerator<readonly StreamEvent[]>;

/** Event stream of one task. */
export class ResumableStream {
  readonly #settings: ClientSettings;
  readonly #source: StreamSource;
  readonly #signal: AbortSignal;
  #reducer: TaskReducer | undefined;
  /** Last `id:`, which is sent as Last-Event-ID. */
  #lastEventId: string | undefined;
  /** Last sequence number of an agent whose event ids are sequence numbers. */
  #sequence: number | undefined;
  #idsAreSequences = true;
  /** Events of the last frame. */
  #lastEvents: readonly StreamEvent[] = [];
  /** The task has ended; later events of the agent do not revive it. */
  #hasEnded = false;
  /** True at the start of a connection, where an agent may repeat known events. */
  #mayRepeat: boolean;
  #isDirectMessage = false;
  /** The agent marked the last event as final. */
  #isFinal = false;
  /** Attempts to resume since the last event. */
  #failedResumes = 0;
  /** Connections since the last event that ended without an error. */
  #earlyEnds = 0;
  /** Time of the first interruption since the last event. */
  #interruptedAt: number | undefined;
  /** Reconnection delay that the agent requested, in milliseconds. */
  #retryDelay = 0;

  constructor(settings: ClientSettings, source: StreamSource, signal: AbortSignal) {
    this.#settings = settings;
    this.#source = source;
    this.#signal = signal;
    this.#sequence = source.afterSequence;
    this.#mayRepeat = source.afterSequence !== undefined;
    if (source.afterSequence !== undefined) this.#lastEventId = String(source.afterSequence);
  }

  /** Opens the stream. Each event is returned once and in order, until the task reaches a terminal or interrupted state. */
  async start(): Promise<EventBatches> {
    for (;;) {
      const connection = new StreamConnection(this.#signal);
      try {
        return this.#run(await this.#source.open(connection.signal, this.#lastEventId), connection);
      } catch (thrown) {
        connection.release();
        const error = A2AError.from(thrown);
        if (!wasInterrupted(error) || this.#signal.aborted) throw thrown;
        // The agent may have started the task before the connection was interrupted.
        if (!this.#source.isRepeatable) return this.#continue(await this.#findTask(error), error);
        await this.#waitForResume(error);
      }
    }
  }

  async *#run(opened: FrameStream, first: StreamConnection): EventBatches {
    const interruption = yield* this.#read(opened, first, false);
    if (this.#isOver(interruption)) return;
    const error = interruption ?? this.#earlyEnd();
    if (!this.#reducer && this.#source.isRepeatable) {
      await this.#waitForResume(error);
      yield* await this.start();
    } else yield* this.#continue(this.#reducer?.id ?? (await this.#findTask(error)), error);
  }

  /** Resumes the stream of a task until it ends. */
  async *#continue(taskId: string, interruption: A2AError): EventBatches {
    let error = interruption;
    for (;;) {
      const connection = new StreamConnection(this.#signal);
      const frames = yield* this.#resume(taskId, error, connection.signal);
      if (!frames) return;
      this.#mayRepeat = true;
      const next = yield* this.#read(frames, connection, true);
      if (this.#isOver(next)) return;
      error = next ?? this.#earlyEnd();
    }
  }

  /** Returns the id of a task whose stream was interrupted before its first event. @throws the interruption if unknown */
  async #findTask(interruption: A2AError): Promise<string> {
    if (this.#source.taskId !== undefined) return this.#source.taskId;
    if (!this.#source.findTask) throw interruption;
    let error = interruption;
    for (;;) {
      await this.#waitForResume(error);
      try {
        const found = await this.#source.findTask(this.#signal);
        if (found !== undefined) return found;
        throw interruption;
      } catch (thrown) {
        if (this.#signal.aborted) throw canceledError(this.#signal);
        error = A2AError.from(thrown);
        // An agent that cannot list tasks does not know what the client looks for.
        if (error === interruption || !transientReasons.has(error.reason)) throw interruption;
      }
    }
  }

  /** Counts an end of the stream before the end of the task. */
  #earlyEnd(): A2AError {
    this.#earlyEnds++;
    return earlyEndError();
  }

  /** Waits before the next attempt. @throws the error of the last attempt if the time or the number is exhausted */
  async #waitForResume(error: A2AError, taskId?: string): Promise<void> {
    const { clock, maxResumes, timeouts, random, warn } = this.#settings;
    const remaining = (this.#interruptedAt ??= clock.monotonic()) + timeouts.resume - clock.monotonic();
    const isExhausted = this.#failedResumes >= maxResumes || this.#earlyEnds > maxEarlyEnds;
    if (isExhausted || remaining <= 0) throw resumeFailedError(error, this.#failedResumes);
    const stream = taskId === undefined ? 'The stream' : `The stream of task ${taskId}`;
    warn({
      kind: 'resume',
      ...(taskId !== undefined && { taskId }),
      error,
      message: `${stream} was interrupted and is being resumed`,
    });
    // The requested delay is the minimum; jitter keeps clients from reconnecting at the same time.
    const delay = this.#retryDelay + backoffDelay(this.#failedResumes, retryBackoff, random);
    // The last attempt is made when the time is over.
    await sleep(clock, Math.min(delay, remaining), this.#signal, canceledError);
    this.#failedResumes++;
  }

  /** Polls the task until it reaches a terminal or interrupted state. The delay doubles while nothing changes. */
  async *poll(task: Task): EventBatches {
    yield this.#applyAll(this.#changesTo(task));
    const { initialDelay, maxDelay } = this.#settings.polling;
    let delay = Math.min(initialDelay, maxDelay);
    while (!this.#isTerminalOrInterrupted()) {
      await sleep(this.#settings.clock, delay, this.#signal, canceledError);
      const changes = this.#changesTo(await this.#source.getTask(task.id, this.#signal));
      yield this.#applyAll(changes);
      // The first short delays are for tasks that end immediately; an active task is polled less often.
      delay = Math.min(delay * 2, changes.length > 0 ? initialDelay * 4 : maxDelay, maxDelay);
    }
  }

  #isTerminalOrInterrupted(): boolean {
    const state = this.#reducer?.status.state;
    return state !== undefined && isTerminalOrInterrupted(state);
  }

  /** A closed connection ends the stream if the task has ended, waits for input, or the last event was final. */
  #isOver(interruption: A2AError | undefined): boolean {
    if (this.#isDirectMessage || this.#isFinal || this.#hasEnded) return true;
    const state = this.#reducer?.status.state;
    if (state === undefined) return false;
    if (state === 'input-required') return true;
    return interruption === undefined && isInterrupted(state);
  }

  /** Returns the events of one connection, and finally the error that interrupted it. Errors of the agent are thrown. */
  async *#read(
    frames: FrameStream,
    connection: StreamConnection,
    isResumed: boolean,
  ): AsyncGenerator<readonly StreamEvent[], A2AError | undefined> {
    let mayHaveGap = isResumed;
    let cancelClose: (() => void) | undefined;
    try {
      for await (const batch of frames) {
        const ready: StreamEvent[] = [];
        let agentError: A2AError | undefined;
        for (const frame of batch) {
          agentError = frame.error;
          if (agentError) break;
          if (frame.retry !== undefined) this.#retryDelay = Math.min(frame.retry, maxRetryDelay);
          if (frame.events.length === 0 || !this.#isNew(frame)) continue;
          const events = mayHaveGap ? await this.#fillGap(frame) : frame.events;
          mayHaveGap = false;
          const last = events.at(-1);
          if (last && this.#idsAreSequences && this.#sequence !== undefined) last.sequence = this.#sequence;
          for (const event of events) ready.push(this.#apply(event));
          this.#lastEvents = frame.events;
          if (frame.id !== undefined && frame.id !== '') this.#lastEventId = frame.id;
        }
        if (ready.length > 0) yield ready;
        if (agentError) throw new AgentStreamError(agentError);
        if (cancelClose === undefined && this.#hasEnded)
          cancelClose = this.#settings.clock.after(closeTimeout, () => connection.close());
      }
      return undefined;
    } catch (thrown) {
      if (thrown instanceof AgentStreamError) throw thrown.error;
      if (this.#signal.aborted) throw canceledError(this.#signal);
      const error = A2AError.from(thrown);
      if (connection.signal.aborted || transientReasons.has(error.reason)) return error;
      throw error;
    } finally {
      cancelClose?.();
      connection.release();
    }
  }

  /** Deduplicates frames by sequence number. Ids that do not increase are not sequence numbers. */
  #isNew(frame: StreamFrame): boolean {
    if (!this.#idsAreSequences || frame.id === undefined || frame.id === '') return true;
    const sequence = parseSequence(frame.id);
    const increases = sequence !== undefined && (this.#sequence === undefined || sequence > this.#sequence);
    if (increases) {
      this.#hasGap = this.#sequence === undefined || sequence > this.#sequence + 1;
      this.#sequence = sequence;
      this.#mayRepeat = false;
      return true;
    }
    if (sequence !== undefined && this.#mayRepeat) return false;
    // The same content with the same id is a repeated event; other content shows that ids are not sequence numbers.
    if (sequence === this.#sequence && haveSameContent(this.#lastEvents, frame.events)) return false;
    this.#idsAreSequences = false;
    return true;
  }

  /** True if sequence numbers are missing between the last two frames. */
  #hasGap = true;

  /**
   * Adds the events that were missed before the first frame of a resumed connection: from the snapshot that it starts
   * with, none if it continues exactly after the last event, or else from the task.
   */
  async #fillGap(frame: StreamFrame): Promise<readonly StreamEvent[]> {
    const reducer = this.#reducer;
    const [head] = frame.events;
    if (!reducer || !head) return frame.events;
    if (head.kind === 'task' && this.#source.startsWithSnapshot(frame))
      return [...diffTask(reducer.task(), head.task, fingerprintPart), ...frame.events.slice(1)];
    const updates = frame.events.flatMap((event) => toUpdates(event, frame.events.length));
    if (this.#idsAreSequences && this.#sequence !== undefined && frame.id !== undefined && !this.#hasGap)
      return updates;
    const current = await this.#source.getTask(reducer.id, this.#signal);
    const changes = diffTask(reducer.task(), current, fingerprintPart);
    // The fetched task may already contain these updates.
    return [...changes, ...updates.filter((event) => !isReflectedIn(event, current))];
  }

  #changesTo(task: Task): StreamEvent[] {
    return this.#reducer ? diffTask(this.#reducer.task(), task, fingerprintPart) : [{ kind: 'task', task }];
  }

  #applyAll(events: readonly StreamEvent[]): readonly StreamEvent[] {
    for (const event of events) this.#apply(event);
    return events;
  }

  #apply(event: StreamEvent): StreamEvent {
    this.#failedResumes = 0;
    this.#earlyEnds = 0;
    this.#interruptedAt = undefined;
    if (event.kind === 'message') this.#isDirectMessage = this.#reducer === undefined;
    else {
      const fingerprint = fingerprintEvent(event);
      (this.#reducer ??= startReducer(fingerprint))?.apply(fingerprint);
    }
    if (this.#reducer && isTerminal(this.#reducer.status.state)) this.#hasEnded = true;
    if (event.kind === 'status') this.#isFinal = readCompat(event.metadata)?.final === true;
    return event;
  }

  /** Opens a further connection. Returns undefined if the stream was completed from the task instead. */
  async *#resume(
    taskId: string,
    interruption: A2AError,
    connection: AbortSignal,
  ): AsyncGenerator<readonly StreamEvent[], FrameStream | undefined> {
    let error = interruption;
    for (;;) {
      await this.#waitForResume(error, taskId);
      try {
        return await this.#source.reopen(taskId, this.#lastEventId, connection);
      } catch (thrown) {
        if (this.#signal.aborted) throw canceledError(this.#signal);
        error = A2AError.from(thrown);
      }
      if (transientReasons.has(error.reason)) continue;
      if (error.reason !== 'TASK_NOT_FOUND' && !cannotResume.has(error.reason)) throw error;
      yield* this.#completeFromTask(taskId, error);
      return undefined;
    }
  }

  /** Completes the stream of a task that cannot be subscribed to, because it has ended or the agent cannot resume. */
  async *#completeFromTask(taskId: string, error: A2AError): EventBatches {
    const task = await this.#source.getTask(taskId, this.#signal);
    yield this.#applyAll(this.#changesTo(task));
    if (this.#isTerminalOrInterrupted()) return;
    if (!cannotResume.has(error.reason)) throw error;
    this.#settings.warn({
      kind: 'poll',
      taskId,
      error,
      message: `Polling task ${taskId}, because the agent cannot resume its stream`,
    });
    yield* this.poll(task);
  }
}

/** Returns true if the request may have reached the agent and no response was received. */
function wasInterrupted({ reason, cause }: A2AError): boolean {
  return transientReasons.has(reason) && cause instanceof HttpTransportError && cause.sent;
}

/** Distinguishes an error that the agent sent from an error of the connection. */
class AgentStreamError extends Error {
  readonly error: A2AError;

  constructor(error: A2AError) {
    super(error.message);
    this.error = error;
  }
}

/** A task that the decoder inserted in front of an update contains nothing but the state of that update. */
function toUpdates(event: StreamEvent, length: number): StreamEvent[] {
  if (event.kind !== 'task') return [event];
  if (length > 1) return [];
  const { id: taskId, contextId, status } = event.task;
  return [{ kind: 'status', taskId, contextId, status }];
}
