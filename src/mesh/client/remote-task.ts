import { readCompat, withoutCompat } from '../../dialects/compat-metadata.ts';
import type { Dialect, EventReader } from '../../dialects/dialect.ts';
import type { WireObject } from '../../dialects/field-readers.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import { lenientMode } from '../../dialects/translation-loss.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { diffTask } from '../../protocol/diff-task.ts';
import { TaskReducer } from '../../protocol/reduce.ts';
import {
  isTask,
  isTerminal,
  isTerminalOrInterrupted,
  type Task,
  type TaskStatus,
} from '../../protocol/task.ts';
import { readError } from '../rpc-envelope.ts';
import { readProgress, readTextArtifact } from '../progress-updates.ts';
import { EventQueue } from './event-queue.ts';

/** A task of an agent on the mesh, as this client knows it. */
export class RemoteTask {
  /** Id on the mesh; the client may use another one. */
  readonly wireId: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly owner: string;
  readonly dialect: Dialect;
  readonly #maxBufferedEvents: number;
  readonly #subscribers = new Set<EventQueue>();
  readonly #resultCallbacks = new Set<(result: Task | Message | A2AError) => void>();
  /** Called when the response has been received, before those who wait for it continue. */
  onClosed: (() => void) | undefined = undefined;
  #reducer: TaskReducer;
  #reader: EventReader;
  /** True between a request and its response. */
  #isOpen = false;
  /** True once the agent has sent a message. */
  #hasStarted = false;
  /** Last terminal or interrupted status. It is reported together with the task that follows it. */
  #finalStatus: TaskStatus | undefined;

  /** @param task - the task as far as it is known, with the ids of the client. */
  constructor(task: Task, ids: RemoteTaskIds, options: RemoteTaskOptions) {
    this.wireId = ids.wireId;
    this.taskId = ids.taskId;
    this.contextId = ids.contextId;
    this.owner = ids.owner;
    this.dialect = options.dialect;
    this.#maxBufferedEvents = options.maxBufferedEvents;
    this.#reducer = new TaskReducer(task);
    this.#reader = options.dialect.eventReader({ taskId: ids.wireId, contextId: ids.contextId });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get task(): Task {
    return this.#reducer.task();
  }

  /** Starts waiting for the response to a request. */
  open(message?: Message): void {
    this.#isOpen = true;
    this.#hasStarted = false;
    this.#finalStatus = undefined;
    this.#reader = this.dialect.eventReader({ taskId: this.wireId, contextId: this.contextId });
    if (message) this.#reducer.apply({ kind: 'input', message });
  }

  /** Subscribes to further events. */
  subscribe(): EventQueue {
    const queue = new EventQueue(
      this.#maxBufferedEvents,
      () => this.task,
      (closed) => this.#subscribers.delete(closed),
    );
    this.#subscribers.add(queue);
    return queue;
  }

  /** Waits for the response. */
  result(): Promise<Task | Message> {
    return new Promise((resolve, reject) => {
      this.#resultCallbacks.add((result) => (result instanceof A2AError ? reject(result) : resolve(result)));
    });
  }

  /** Processes a message from the status or the response topic. */
  receive(body: WireObject, kind: 'status' | 'response'): void {
    if (!this.#isOpen) return;
    if (body.error !== undefined && body.error !== null) {
      this.fail(readError(this.dialect, body.error));
      return;
    }
    if (kind === 'response') this.#receiveResponse(body.result);
    else for (const event of this.#reader.read(body.result, lenientMode())) this.#receiveUpdate(event);
  }

  /** Ends the request with an error. */
  fail(error: A2AError): void {
    this.#close(error, error);
  }

  #receiveUpdate(event: StreamEvent): void {
    if (event.kind === 'message') return;
    if (event.kind === 'task') {
      // The decoder inserts a task in front of the first update; it carries no information.
      this.#start();
      return;
    }
    const update = event.kind === 'status' ? (readTextArtifact(event) ?? readProgress(event)) : event;
    this.#start();
    if (update.kind === 'status' && isTerminalOrInterrupted(update.status.state)) {
      this.#finalStatus = update.status;
      return;
    }
    const { taskId, contextId } = this;
    if (update.kind === 'artifact') this.#publish({ ...update, taskId, contextId });
    else this.#publish({ ...update, taskId, contextId, status: this.#withClientIds(update.status) });
  }

  #withClientIds(status: TaskStatus): TaskStatus {
    const { taskId, contextId } = this;
    return status.message ? { ...status, message: { ...status.message, taskId, contextId } } : status;
  }

  #receiveResponse(wireResult: unknown): void {
    const result = this.#readResult(wireResult);
    const message = isTask(result) ? unwrapMessage(result) : result;
    if (message) {
      if (!this.#hasStarted) for (const queue of this.#subscribers) queue.push({ kind: 'message', message });
      this.#reducer.apply({
        kind: 'status',
        taskId: this.taskId,
        contextId: this.contextId,
        status: { state: 'completed', message },
      });
      this.#close(message);
      return;
    }
    const received = result as Task;
    const task = {
      ...received,
      id: this.taskId,
      contextId: this.contextId,
      status: this.#withClientIds(received.status),
    };
    const known = this.task;
    if (!task.history && known.history) task.history = known.history;
    if (!this.#hasStarted) {
      this.#reducer = new TaskReducer(task);
      for (const queue of this.#subscribers) queue.push({ kind: 'task', task });
    } else {
      for (const event of diffTask(known, task)) this.#publish(event);
      this.#reducer = new TaskReducer(task);
    }
    this.#hasStarted = true;
    this.#close(task);
  }

  /** The response to a cancel request of 1.0 is a task; the one to a send contains it. */
  #readResult(wireResult: unknown): Task | Message {
    const isCanceled =
      this.dialect === v1_0 && (wireResult as { status?: unknown } | null)?.status !== undefined;
    const { task, results } = this.dialect;
    return isCanceled ? task.read(wireResult, lenientMode()) : results.send.read(wireResult, lenientMode());
  }

  /** A stream starts with the task. */
  #start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    for (const queue of this.#subscribers) queue.push({ kind: 'task', task: this.task });
  }

  #publish(event: StreamEvent): void {
    this.#reducer.apply(event);
    for (const queue of this.#subscribers) queue.push(event);
  }

  #close(result: Task | Message | A2AError, error?: A2AError): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // An agent that sent a terminal status but not the task has ended the task.
    if (error && this.#finalStatus && isTerminal(this.#finalStatus.state)) {
      const { taskId, contextId } = this;
      this.#publish({ kind: 'status', taskId, contextId, status: this.#finalStatus });
      this.#finish(this.task, undefined);
      return;
    }
    this.#finish(result, error);
  }

  #finish(result: Task | Message | A2AError, error: A2AError | undefined): void {
    this.onClosed?.();
    for (const queue of this.#subscribers) queue.end(error);
    this.#subscribers.clear();
    for (const callback of this.#resultCallbacks) callback(result);
    this.#resultCallbacks.clear();
  }
}

/** Ids of a {@link RemoteTask}. */
export interface RemoteTaskIds {
  readonly wireId: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly owner: string;
}

/** Options of {@link RemoteTask}. */
export interface RemoteTaskOptions {
  readonly dialect: Dialect;
  readonly maxBufferedEvents: number;
}

/** Returns the direct message that a task wraps; undefined for other tasks. */
function unwrapMessage({ metadata, status, contextId }: Task): Message | undefined {
  if (readCompat(metadata)?.wrappedMessage !== true || !status.message) return undefined;
  const { taskId: _wrapped, ...message } = status.message;
  const rest = withoutCompat(metadata, ['wrappedMessage']);
  return { ...message, contextId, metadata: { ...rest, ...message.metadata } };
}
