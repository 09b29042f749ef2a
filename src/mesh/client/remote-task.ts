import { readCompat, withoutCompat } from '../../dialects/compat-metadata.ts';
import type { Dialect, EventReader } from '../../dialects/dialect.ts';
import type { WireObject } from '../../dialects/field-readers.ts';
import { lenientMode } from '../../dialects/translation-loss.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { diffTask } from '../../protocol/diff-task.ts';
import { TaskReducer } from '../../protocol/reduce.ts';
import { isInterrupted, isTask, isTerminal, type Task, type TaskStatus } from '../../protocol/task.ts';
import { readError } from '../rpc-envelope.ts';
import { readProgress, readTextArtifact } from '../progress-updates.ts';
import { EventQueue } from './event-queue.ts';

/** A task as it is seen from here: what came of it, and who waits for more. */
export class RemoteTask {
  /** Its name on the mesh; whoever asks may have another one for it. */
  readonly wireId: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly owner: string;
  readonly #dialect: Dialect;
  readonly #buffer: number;
  readonly #followers = new Set<EventQueue>();
  readonly #ends = new Set<(end: Task | Message | A2AError) => void>();
  #fold: TaskReducer;
  #reader: EventReader;
  /** True between a request and its answer. */
  #isOpen = false;
  /** False until the agent said anything. */
  #hasSpoken = false;
  /** A status that ends the story is told together with the task that follows it. */
  #last: TaskStatus | undefined;

  constructor(message: Message, ids: RemoteTaskIds, how: RemoteTaskOptions) {
    this.wireId = ids.wireId;
    this.taskId = ids.taskId;
    this.contextId = ids.contextId;
    this.owner = ids.owner;
    this.#dialect = how.dialect;
    this.#buffer = how.buffer;
    const status: TaskStatus = { state: 'submitted', timestamp: how.timestamp };
    this.#fold = new TaskReducer({ id: ids.taskId, contextId: ids.contextId, status, history: [message] });
    this.#reader = how.dialect.eventReader({ taskId: ids.wireId, contextId: ids.contextId });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get task(): Task {
    return this.#fold.task();
  }

  /** A request goes out; its answer is waited for. */
  begin(message?: Message): void {
    this.#isOpen = true;
    this.#hasSpoken = false;
    this.#last = undefined;
    this.#reader = this.#dialect.eventReader({ taskId: this.wireId, contextId: this.contextId });
    if (message) this.#fold.apply({ kind: 'input', message });
  }

  /** Follows from now on. */
  follow(): EventQueue {
    const follower = new EventQueue(
      this.#buffer,
      () => this.task,
      (left) => this.#followers.delete(left),
    );
    this.#followers.add(follower);
    return follower;
  }

  /** Waits for the answer. */
  ended(): Promise<Task | Message> {
    return new Promise((resolve, reject) => {
      this.#ends.add((end) => (end instanceof A2AError ? reject(end) : resolve(end)));
    });
  }

  /** Takes what came, on whichever topic. */
  take(body: WireObject, place: 'status' | 'response'): void {
    if (!this.#isOpen) return;
    if (body.error !== undefined && body.error !== null) {
      this.fail(readError(this.#dialect, body.error));
      return;
    }
    if (place === 'response') this.#answer(body.result);
    else for (const event of this.#reader.read(body.result, lenientMode())) this.#update(event);
  }

  /** The request is over without an answer. */
  fail(error: A2AError): void {
    this.#close(error, error);
  }

  #update(event: StreamEvent): void {
    if (event.kind === 'message') return;
    if (event.kind === 'task') {
      // A reader puts a task before the first update; what counts is its state.
      if (!this.#hasSpoken) this.#spoken();
      return;
    }
    const read = event.kind === 'status' ? (readTextArtifact(event) ?? readProgress(event)) : event;
    this.#spoken();
    if (read.kind === 'status' && isResting(read.status)) {
      this.#last = read.status;
      return;
    }
    const { taskId, contextId } = this;
    if (read.kind === 'artifact') this.#tell({ ...read, taskId, contextId });
    else this.#tell({ ...read, taskId, contextId, status: this.#named(read.status) });
  }

  /** A status in the names that whoever asked knows. */
  #named(status: TaskStatus): TaskStatus {
    const { taskId, contextId } = this;
    return status.message ? { ...status, message: { ...status.message, taskId, contextId } } : status;
  }

  #answer(result: unknown): void {
    const answer = this.#dialect.results.send.read(result, lenientMode());
    const message = isTask(answer) ? wrapped(answer) : answer;
    if (message) {
      if (!this.#hasSpoken) this.#each((follower) => follower.push({ kind: 'message', message }));
      this.#fold.apply({
        kind: 'status',
        taskId: this.taskId,
        contextId: this.contextId,
        status: { state: 'completed', message },
      });
      this.#close(message);
      return;
    }
    const said = answer as Task;
    const task = { ...said, id: this.taskId, contextId: this.contextId, status: this.#named(said.status) };
    const known = this.task;
    if (!task.history && known.history) task.history = known.history;
    const hadSpoken = this.#hasSpoken;
    if (!hadSpoken) {
      this.#fold = new TaskReducer(task);
      this.#each((follower) => follower.push({ kind: 'task', task }));
    } else {
      for (const event of diffTask(known, task)) this.#tell(event);
      this.#fold = new TaskReducer(task);
    }
    this.#hasSpoken = true;
    this.#close(task);
  }

  /** The model begins with the task. */
  #spoken(): void {
    if (this.#hasSpoken) return;
    this.#hasSpoken = true;
    this.#each((follower) => follower.push({ kind: 'task', task: this.task }));
  }

  #tell(event: StreamEvent): void {
    this.#fold.apply(event);
    this.#each((follower) => follower.push(event));
  }

  #close(end: Task | Message | A2AError, error?: A2AError): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // An agent that said the end but never gave the task has ended all the same.
    if (error && this.#last && isTerminal(this.#last.state)) {
      const { taskId, contextId } = this;
      this.#tell({ kind: 'status', taskId, contextId, status: this.#last });
      this.#finish(this.task, undefined);
      return;
    }
    this.#finish(end, error);
  }

  #finish(end: Task | Message | A2AError, error: A2AError | undefined): void {
    this.#each((follower) => follower.end(error));
    this.#followers.clear();
    for (const ended of this.#ends) ended(end);
    this.#ends.clear();
  }

  #each(use: (follower: EventQueue) => void): void {
    for (const follower of this.#followers) use(follower);
  }
}

/** What a conversation is called. */
export interface RemoteTaskIds {
  readonly wireId: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly owner: string;
}

/** How a conversation is listened to. */
export interface RemoteTaskOptions {
  readonly dialect: Dialect;
  readonly buffer: number;
  readonly timestamp: string;
}

function isResting({ state }: TaskStatus): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** The direct answer that a task stands for. */
function wrapped({ metadata, status, contextId }: Task): Message | undefined {
  if (readCompat(metadata)?.wrappedMessage !== true || !status.message) return undefined;
  const { taskId: _none, ...message } = status.message;
  const rest = withoutCompat(metadata, ['wrappedMessage']);
  return { ...message, contextId, metadata: { ...rest, ...message.metadata } };
}
