import type { Message } from './message.ts';
import type { Metadata } from './part.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/** Position of an event in the log of its task; `id:` of the server-sent event. */
interface Sequenced {
  /** Increases with each event of a task. Absent if the agent does not number events. */
  sequence?: number;
}

/** Generation of the task after an event. */
interface Generated {
  /** Absent unless the server previews 1.1; see {@link Task.generation}. */
  generation?: number;
}

/** Snapshot of the task: the first event of a task stream. */
export interface TaskSnapshotEvent extends Sequenced {
  kind: 'task';
  task: Task;
}

/** Response without a task: the only event of its stream. */
export interface DirectMessageEvent extends Sequenced {
  kind: 'message';
  message: Message;
}

/** Change of the state or message of a task. */
export interface TaskStatusUpdateEvent extends Sequenced, Generated {
  kind: 'status';
  taskId: string;
  contextId: string;
  status: TaskStatus;
  metadata?: Metadata;
}

/** A new artifact, or a chunk of one. */
export interface TaskArtifactUpdateEvent extends Sequenced, Generated {
  kind: 'artifact';
  taskId: string;
  contextId: string;
  artifact: Artifact;
  /** Appends the parts to the artifact with this id instead of replacing it. */
  append?: boolean;
  /** Completes the artifact. */
  lastChunk?: boolean;
  metadata?: Metadata;
}

/** Event of a stream. */
export type StreamEvent =
  | TaskSnapshotEvent
  | DirectMessageEvent
  | TaskStatusUpdateEvent
  | TaskArtifactUpdateEvent;
