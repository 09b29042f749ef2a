import type { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { isInterrupted, isTerminalOrInterrupted, type Task } from '../../protocol/task.ts';
import type { TaskLog, TaskStore } from '../../store/task-store.ts';
import type { TestClock } from '../clock/test-clock.ts';
import type { PhaseStep, TaskTimeline, TaskPhase } from './task-timeline.ts';
import type { RecordedExchange } from '../../tap/recording.ts';
import type { ReplayedIds } from './replayed-ids.ts';
import { ReplayReader } from './replay-reader.ts';

/** Delays between the events of a replay: those of the recording, or none. */
export type ReplayTiming = 'recorded' | 'none';

/** Collaborators and ids of {@link ReplayedTask}. */
export interface ReplayedTaskOptions {
  readonly id: string;
  readonly contextId: string;
  readonly owner: string;
  readonly originVersion: Task['originVersion'];
  readonly ids: ReplayedIds;
  readonly clock: TestClock;
  readonly timing: ReplayTiming;
  readonly store: TaskStore;
}

/** What lets a step happen that waits: the operation of a client, or a client that waits for the end. */
type Permission = 'get' | 'subscribe' | 'all';

/** Milliseconds after which a reader gets events that other clients asked for in the recording. */
const readerPatience = 2_000;

/** A task of a replay: plays the steps of a recorded task, phase by phase, into a task log. */
export class ReplayedTask {
  readonly recorded: TaskTimeline;
  readonly id: string;
  readonly ids: ReplayedIds;
  readonly contextId: string;
  /** Exchanges of the task, other than messages, that were replayed. */
  readonly replayed = new Set<RecordedExchange>();
  /** Number of the last exchange that was replayed. */
  position = 0;
  readonly #options: ReplayedTaskOptions;
  readonly #listeners = new Set<() => void>();
  readonly #played = new Set<RecordedExchange>();
  #log: TaskLog | undefined = undefined;
  #phase = -1;
  #next = 0;
  #startedAt = 0;
  #isOver = false;
  #readers = 0;
  #cancelTimer: (() => void) | undefined = undefined;

  constructor(recorded: TaskTimeline, options: ReplayedTaskOptions) {
    this.recorded = recorded;
    this.id = options.id;
    this.contextId = options.contextId;
    this.ids = options.ids;
    this.#options = options;
  }

  /** Starts the phase of a request. Steps of earlier phases that have not happened yet happen now. */
  start(phase: TaskPhase, message?: Message): void {
    const index = this.recorded.phases.indexOf(phase);
    this.#stopTimer();
    for (; this.#phase < index; this.#phase++, this.#next = 0) while (this.#step) this.#play(this.#step);
    this.#isOver = false;
    this.#startedAt = this.#options.clock.now();
    if (message && this.#log) this.#continueWith(message, this.#log);
    // The client may cancel a task about which nothing is known yet.
    if (phase.steps.length === 0 && !this.#log) this.#create({ status: { state: 'working' } });
    this.#advance();
  }

  /** The newest state; undefined if the task does not exist yet. */
  get task(): Task | undefined {
    return this.#log?.task();
  }

  /** Position in the task log. */
  get sequence(): number {
    return this.#log?.sequence ?? 0;
  }

  /** True if nothing more happens before the next request. */
  get isIdle(): boolean {
    if (this.#step) return false;
    return this.recorded.phases[this.#phase + 1]?.request?.operation !== 'cancelTask';
  }

  /** Returns the task, as a client learns that asks for it. */
  async poll(): Promise<Task> {
    await this.until(() => this.#log !== undefined);
    if (this.#step?.waitsFor === 'get') this.#advance('get');
    const { task } = this;
    this.#advance(this.#step?.waitsFor === 'subscribe' ? 'all' : undefined);
    return task as Task;
  }

  /** Returns the task when a send request is answered. @param exchange - the recorded exchange */
  async sent(exchange: RecordedExchange, isImmediate: boolean, wasImmediate: boolean): Promise<Task> {
    if (isImmediate) await this.until(() => this.#log !== undefined);
    else if (!wasImmediate && this.#hasAnswer(exchange)) await this.until(() => this.#played.has(exchange));
    else {
      this.#readers++;
      this.#advance('all');
      await this.until(() => this.#isOver || this.isIdle);
      this.#readers--;
    }
    return this.task as Task;
  }

  /** Returns the events after a position. @param after - `now` starts with a snapshot. */
  read(after: number | 'now', error?: A2AError): AsyncIterableIterator<StreamEvent> {
    const log = this.#log as TaskLog;
    const isLast = (event: StreamEvent): boolean =>
      isInterruptedEvent(event) && event.sequence === log.sequence && !this.#step;
    this.#readers++;
    const reader = new ReplayReader(log.subscribe(after, isLast), {
      isIdle: () => this.isIdle,
      onNextChange: (listener) => this.#onNextChange(listener),
      onClose: () => this.#readers--,
      error,
    });
    // A reader of earlier events waits for those that its client asked for.
    this.#advance(after === 'now' ? 'subscribe' : undefined);
    return reader;
  }

  /** Cancels the task, although the recording does not say what the agent would do. */
  cancel(): Task {
    this.#stopTimer();
    this.#phase = this.recorded.phases.length;
    const { id: taskId, contextId, clock } = this.#options;
    const status = { state: 'canceled' as const, timestamp: new Date(clock.now()).toISOString() };
    this.#log?.append({ kind: 'status', taskId, contextId, status });
    this.#isOver = true;
    this.#notify();
    return this.task as Task;
  }

  /** Stops the playback. */
  close(): void {
    this.#stopTimer();
    this.#phase = this.recorded.phases.length;
    this.#notify();
  }

  /** Resolves when a condition is met. */
  async until(isMet: () => boolean): Promise<void> {
    while (!isMet()) await new Promise<void>((resolve) => void this.#onNextChange(resolve));
  }

  get #step(): PhaseStep | undefined {
    return this.recorded.phases[this.#phase]?.steps[this.#next];
  }

  #continueWith(message: Message, log: TaskLog): void {
    const { id: taskId, contextId } = this.#options;
    log.append({ kind: 'input', message: { ...message, taskId, contextId } });
    // An artifact does not tell that the task waits no longer.
    if (this.#step?.event?.kind === 'artifact')
      log.append({ kind: 'status', taskId, contextId, status: { state: 'working' } });
  }

  /** Returns true if a step is the answer to a request. Streams have no single answer. */
  #hasAnswer(exchange: RecordedExchange): boolean {
    if (exchange.answer.events) return false;
    return this.recorded.phases.some(({ steps }) => steps.some((step) => step.exchange === exchange));
  }

  /** Plays all steps that can happen now. @param permission - lets one step happen that waits for it */
  #advance(permission?: Permission): void {
    this.#stopTimer();
    const { timing, clock } = this.#options;
    let granted = permission;
    for (let step = this.#step; step; step = this.#step) {
      if (timing === 'recorded') {
        const delay = this.#startedAt + step.delay - clock.now();
        if (delay > 0) {
          this.#cancelTimer = clock.after(delay, () => this.#advance());
          return;
        }
      } else if (step.waitsFor) {
        if (!this.#isGranted(step.waitsFor, granted)) {
          if (this.#readers > 0) this.#cancelTimer = clock.after(readerPatience, () => this.#advance('all'));
          return;
        }
        if (granted === step.waitsFor) granted = undefined;
      }
      this.#play(step);
    }
    this.#notify();
  }

  #isGranted(waitsFor: 'get' | 'subscribe', granted: Permission | undefined): boolean {
    if (waitsFor === 'get') return granted !== undefined || this.#readers > 0;
    return granted === 'subscribe' || granted === 'all';
  }

  #play({ event, exchange }: PhaseStep): void {
    this.#next++;
    if (event) this.#append(event);
    this.#played.add(exchange);
    this.#notify();
  }

  #append(recorded: StreamEvent): void {
    const { id: taskId, contextId } = this.#options;
    const { sequence: _recorded, ...event } = this.ids.apply(recorded);
    if (event.kind === 'message') return;
    if (event.kind === 'task') {
      if (this.#log) this.#log.append({ kind: 'task', task: this.#toReplayed(event.task) });
      else this.#create(event.task);
    } else {
      if (!this.#log) this.#create({ status: { state: 'submitted' } });
      this.#log?.append({ ...event, taskId, contextId });
    }
    this.#isOver = isTerminalOrInterrupted((this.#log as TaskLog).state);
  }

  #create(task: Pick<Task, 'status'>): void {
    const { store, owner } = this.#options;
    // The memory task store answers synchronously.
    this.#log = store.create(owner, this.#toReplayed(task)) as TaskLog;
  }

  #toReplayed(task: Pick<Task, 'status'>): Task {
    const { id, contextId, originVersion } = this.#options;
    return { ...task, id, contextId, ...(originVersion && { originVersion }) };
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #notify(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }

  #onNextChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function isInterruptedEvent(event: StreamEvent): boolean {
  if (event.kind === 'status') return isInterrupted(event.status.state);
  return event.kind === 'task' && isInterrupted(event.task.status.state);
}
