import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from './event.ts';
import type { Message } from './message.ts';
import { compatKey, type Metadata } from './part.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/** A message of the caller that reached a task. It becomes history; followers of the task do not see it. */
export interface UserMessageEvent {
  kind: 'input';
  message: Message;
  sequence?: number;
}

/** Everything that can change a task. */
export type TaskChange = StreamEvent | UserMessageEvent;

/** An artifact under construction. Its parts may be pushed to only while nobody else holds them. */
interface Growing {
  artifact: Artifact;
  mine: boolean;
}

/** The artifact, which is not changed from now on. */
function handedOut(growing: Growing): Artifact {
  growing.mine = false;
  return growing.artifact;
}

/** Up to how many artifacts it is quicker to look through them than to keep a map. */
const maxLookedThrough = 8;

/**
 * A task being made out of its events.
 *
 * Each event costs the same however many came before: parts are pushed, not copied, and {@link TaskReducer.task} hands
 * out what is there and copies only if another event follows.
 */
export class TaskReducer {
  #base: Task;
  #status: TaskStatus;
  #history: Message[] | undefined;
  #historyIsMine = false;
  #artifacts: Growing[] | undefined;
  /** Where each artifact stands, once there are too many to look through. */
  #places: Map<string, number> | undefined;
  #snapshot: Task | undefined;

  constructor(task: Task) {
    this.#base = task;
    this.#status = task.status;
    this.#snapshot = task;
    this.#take(task);
  }

  get id(): string {
    return this.#base.id;
  }

  /** The newest status. */
  get status(): TaskStatus {
    return this.#status;
  }

  /** Applies one change. A direct message changes nothing: it has no task. */
  apply(change: TaskChange): void {
    switch (change.kind) {
      case 'status':
        this.#snapshot = undefined;
        this.#applyStatus(change);
        break;
      case 'artifact':
        this.#snapshot = undefined;
        this.#applyArtifact(change);
        break;
      case 'input':
        this.#snapshot = undefined;
        this.#keepStatusMessage();
        this.#remember(change.message);
        break;
      case 'task':
        this.#base = change.task;
        this.#status = change.task.status;
        this.#snapshot = change.task;
        this.#take(change.task);
        break;
      case 'message':
        break;
    }
  }

  /** The task as it stands. What is returned is never changed afterwards. */
  task(): Task {
    if (this.#snapshot) return this.#snapshot;
    const { id, contextId, metadata, originVersion: origin } = this.#base;
    const status = this.#status;
    const artifacts = this.#artifacts?.map(handedOut);
    const history = this.#history;
    this.#historyIsMine = false;
    // Most tasks have both. Members that are added one by one are kept apart from their object, which takes more room.
    const task: Task =
      artifacts && history ? { id, contextId, status, artifacts, history } : { id, contextId, status };
    if (artifacts) task.artifacts = artifacts;
    if (history) task.history = history;
    if (metadata) task.metadata = metadata;
    if (origin) task.originVersion = origin;
    this.#snapshot = task;
    return task;
  }

  #take(task: Task): void {
    this.#history = task.history;
    this.#historyIsMine = false;
    this.#artifacts = undefined;
    this.#places = undefined;
    if (task.artifacts) for (const artifact of task.artifacts) this.#put(artifact);
  }

  /** Puts an artifact where the one of its id stood, or at the end. */
  #put(artifact: Artifact): void {
    const growing = this.#find(artifact.artifactId);
    if (growing) {
      growing.artifact = artifact;
      growing.mine = false;
      return;
    }
    this.#places?.set(artifact.artifactId, this.#artifacts?.length ?? 0);
    if (this.#artifacts) this.#artifacts.push({ artifact, mine: false });
    else this.#artifacts = [{ artifact, mine: false }];
  }

  #find(artifactId: string): Growing | undefined {
    const artifacts = this.#artifacts;
    if (!artifacts) return undefined;
    if (artifacts.length > maxLookedThrough) {
      this.#places ??= new Map(artifacts.map(({ artifact }, place) => [artifact.artifactId, place]));
      return artifacts[this.#places.get(artifactId) ?? -1];
    }
    for (const growing of artifacts) if (growing.artifact.artifactId === artifactId) return growing;
    return undefined;
  }

  #applyStatus({ status, metadata }: TaskStatusUpdateEvent): void {
    this.#keepStatusMessage();
    this.#status = status;
    if (metadata) this.#mergeMetadata(metadata);
  }

  /** What a status says of itself, such as that a stream ended with it, is not true of the task. */
  #mergeMetadata(said: Metadata): void {
    const { [compatKey]: _ofTheEvent, ...metadata } = said;
    if (Object.keys(metadata).length === 0) return;
    this.#base = { ...this.#base, metadata: { ...this.#base.metadata, ...metadata } };
  }

  /** What the agent said with the status before becomes history when the next one comes. */
  #keepStatusMessage(): void {
    const { message } = this.#status;
    if (!message) return;
    this.#remember(message);
    const { message: _said, ...status } = this.#status;
    this.#status = status;
  }

  #remember(message: Message): void {
    if (!this.#historyIsMine) {
      this.#history = this.#history ? [...this.#history] : [];
      this.#historyIsMine = true;
    }
    this.#history?.push(message);
  }

  #applyArtifact({ artifact, append }: TaskArtifactUpdateEvent): void {
    const growing = append ? this.#find(artifact.artifactId) : undefined;
    if (!growing) {
      this.#put(artifact);
      return;
    }
    if (!growing.mine) {
      growing.artifact = { ...growing.artifact, parts: [...growing.artifact.parts] };
      growing.mine = true;
    }
    const whole = growing.artifact;
    for (const part of artifact.parts) whole.parts.push(part);
    if (artifact.metadata) whole.metadata = { ...whole.metadata, ...artifact.metadata };
    if (artifact.extensions)
      whole.extensions = [...new Set([...(whole.extensions ?? []), ...artifact.extensions])];
    if (artifact.name !== undefined) whole.name ??= artifact.name;
    if (artifact.description !== undefined) whole.description ??= artifact.description;
  }
}

/**
 * Makes the task, or the direct message, that a stream of events amounts to.
 *
 * Updates that come before any task event begin a task of their own, so that a peer that forgets the first event
 * loses nothing.
 *
 * @returns undefined for a stream without events.
 */
export function reduce(events: Iterable<TaskChange>): Task | Message | undefined {
  let fold: TaskReducer | undefined;
  for (const event of events) {
    if (event.kind === 'message' && !fold) return event.message;
    fold ??= startReducer(event);
    fold?.apply(event);
  }
  return fold?.task();
}

/** Begins a task with whatever event comes first; an event without a task in it begins none. */
export function startReducer(event: TaskChange): TaskReducer | undefined {
  if (event.kind === 'task') return new TaskReducer(event.task);
  if (event.kind !== 'status' && event.kind !== 'artifact') return undefined;
  return new TaskReducer({ id: event.taskId, contextId: event.contextId, status: { state: 'submitted' } });
}
