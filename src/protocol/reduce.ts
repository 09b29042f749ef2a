import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from './event.ts';
import type { Message } from './message.ts';
import { compatKey, continuesText, type Metadata, type Part, type TextPart } from './part.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/** A message of the user that reached a task. Becomes history; subscribers do not receive it. */
export interface UserMessageEvent {
  kind: 'input';
  message: Message;
  sequence?: number;
}

/** A change of a task. */
export type TaskChange = StreamEvent | UserMessageEvent;

/** An artifact under construction. Its parts may be modified only while it is not part of a snapshot. */
interface MutableArtifact {
  artifact: Artifact;
  isOwned: boolean;
  /** Text that continues the last part. It is added for a snapshot: V8 concatenates strings without copying them. */
  continuation: string;
}

function release(entry: MutableArtifact): Artifact {
  joinContinuation(entry);
  entry.isOwned = false;
  return entry.artifact;
}

/** Up to this number of artifacts a linear search is faster than a map. */
const maxLinearSearch = 8;

/**
 * Folds events into a task. The cost of an event does not depend on earlier events: parts are appended in place
 * (copy-on-write), and {@link TaskReducer.task} copies only what changes after the snapshot.
 */
export class TaskReducer {
  #base: Task;
  #status: TaskStatus;
  #history: Message[] | undefined;
  #ownsHistory = false;
  #artifacts: MutableArtifact[] | undefined;
  /** Index by artifact id, if there are too many artifacts for a linear search. */
  #indexes: Map<string, number> | undefined;
  #snapshot: Task | undefined;
  #generation: number | undefined;

  constructor(task: Task) {
    this.#base = task;
    this.#status = task.status;
    this.#snapshot = task;
    this.#generation = task.generation;
    this.#reset(task);
  }

  get id(): string {
    return this.#base.id;
  }

  get status(): TaskStatus {
    return this.#status;
  }

  /** Applies one change. Direct messages have no task and change nothing. */
  apply(change: TaskChange): void {
    switch (change.kind) {
      case 'status':
        this.#snapshot = undefined;
        this.#generation = change.generation ?? this.#generation;
        this.#applyStatus(change);
        break;
      case 'artifact':
        this.#snapshot = undefined;
        this.#generation = change.generation ?? this.#generation;
        this.#applyArtifact(change);
        break;
      case 'input':
        this.#snapshot = undefined;
        this.#archiveStatusMessage();
        this.#addToHistory(change.message);
        break;
      case 'task':
        this.#base = change.task;
        this.#status = change.task.status;
        this.#snapshot = change.task;
        this.#generation = change.task.generation;
        this.#reset(change.task);
        break;
      case 'message':
        break;
    }
  }

  /** Returns an immutable snapshot of the task. */
  task(): Task {
    if (this.#snapshot) return this.#snapshot;
    const { id, contextId, metadata, originVersion, trace } = this.#base;
    const status = this.#status;
    const artifacts = this.#artifacts?.map(release);
    const history = this.#history;
    this.#ownsHistory = false;
    // Most tasks have both. V8 stores members that are added later outside of the object, which takes more memory.
    const task: Task =
      artifacts && history ? { id, contextId, status, artifacts, history } : { id, contextId, status };
    if (artifacts) task.artifacts = artifacts;
    if (history) task.history = history;
    if (metadata) task.metadata = metadata;
    if (originVersion) task.originVersion = originVersion;
    if (trace) task.trace = trace;
    if (this.#generation !== undefined) task.generation = this.#generation;
    this.#snapshot = task;
    return task;
  }

  #reset(task: Task): void {
    this.#history = task.history;
    this.#ownsHistory = false;
    this.#artifacts = undefined;
    this.#indexes = undefined;
    if (task.artifacts) for (const artifact of task.artifacts) this.#put(artifact);
  }

  #put(artifact: Artifact): void {
    const entry = this.#find(artifact.artifactId);
    if (entry) {
      entry.artifact = artifact;
      entry.isOwned = false;
      entry.continuation = '';
      return;
    }
    this.#indexes?.set(artifact.artifactId, this.#artifacts?.length ?? 0);
    if (this.#artifacts) this.#artifacts.push({ artifact, isOwned: false, continuation: '' });
    else this.#artifacts = [{ artifact, isOwned: false, continuation: '' }];
  }

  #find(artifactId: string): MutableArtifact | undefined {
    const artifacts = this.#artifacts;
    if (!artifacts) return undefined;
    if (artifacts.length > maxLinearSearch) {
      this.#indexes ??= new Map(artifacts.map(({ artifact }, index) => [artifact.artifactId, index]));
      return artifacts[this.#indexes.get(artifactId) ?? -1];
    }
    for (const entry of artifacts) if (entry.artifact.artifactId === artifactId) return entry;
    return undefined;
  }

  #applyStatus({ status, metadata }: TaskStatusUpdateEvent): void {
    this.#archiveStatusMessage();
    this.#status = status;
    if (metadata) this.#mergeMetadata(metadata);
  }

  /** Compatibility metadata describes the event, such as the end of its stream, not the task. */
  #mergeMetadata({ [compatKey]: _compat, ...metadata }: Metadata): void {
    if (Object.keys(metadata).length === 0) return;
    this.#base = { ...this.#base, metadata: { ...this.#base.metadata, ...metadata } };
  }

  /** Moves the message of the previous status to the history. */
  #archiveStatusMessage(): void {
    const { message } = this.#status;
    if (!message) return;
    this.#addToHistory(message);
    const { message: _message, ...status } = this.#status;
    this.#status = status;
  }

  #addToHistory(message: Message): void {
    if (!this.#ownsHistory) {
      this.#history = this.#history ? [...this.#history] : [];
      this.#ownsHistory = true;
    }
    this.#history?.push(message);
  }

  #applyArtifact({ artifact, append }: TaskArtifactUpdateEvent): void {
    const entry = append ? this.#find(artifact.artifactId) : undefined;
    if (!entry) {
      this.#put(artifact);
      return;
    }
    if (!entry.isOwned) {
      entry.artifact = { ...entry.artifact, parts: [...entry.artifact.parts] };
      entry.isOwned = true;
    }
    const target = entry.artifact;
    appendParts(entry, artifact.parts);
    if (artifact.metadata) target.metadata = { ...target.metadata, ...artifact.metadata };
    if (artifact.extensions)
      target.extensions = [...new Set([...(target.extensions ?? []), ...artifact.extensions])];
    if (artifact.name !== undefined) target.name ??= artifact.name;
    if (artifact.description !== undefined) target.description ??= artifact.description;
  }
}

/** Appends the parts of a chunk. A text continues the text before it, so that a streamed text is one part. */
function appendParts(entry: MutableArtifact, chunk: readonly Part[]): void {
  const { parts } = entry.artifact;
  const first = chunk[0];
  const isContinued = continuesText(parts[parts.length - 1], first);
  if (isContinued) {
    entry.continuation += (first as TextPart).text;
  }
  for (let at = isContinued ? 1 : 0; at < chunk.length; at++) {
    joinContinuation(entry);
    parts.push(chunk[at] as Part);
  }
}

function joinContinuation(entry: MutableArtifact): void {
  const { continuation } = entry;
  if (continuation === '') return;
  const { parts } = entry.artifact;
  const last = parts[parts.length - 1] as TextPart;
  parts[parts.length - 1] = { ...last, text: last.text + continuation };
  entry.continuation = '';
}

/**
 * Reduces the events of a stream to a task or direct message. Updates without a preceding task event start a task,
 * because some agents omit the first event.
 *
 * @returns undefined for a stream without events
 */
export function reduce(events: Iterable<TaskChange>): Task | Message | undefined {
  let reducer: TaskReducer | undefined;
  for (const event of events) {
    if (event.kind === 'message' && !reducer) return event.message;
    reducer ??= startReducer(event);
    reducer?.apply(event);
  }
  return reducer?.task();
}

/** Creates a reducer from the first event of a stream. @returns undefined if the event has no task */
export function startReducer(event: TaskChange): TaskReducer | undefined {
  if (event.kind === 'task') return new TaskReducer(event.task);
  if (event.kind !== 'status' && event.kind !== 'artifact') return undefined;
  return new TaskReducer({ id: event.taskId, contextId: event.contextId, status: { state: 'submitted' } });
}
