import type { Message } from './message.ts';
import type { Metadata } from './part.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/** Where an event stands among the events of its task; the `id:` of a server-sent event. */
interface Sequenced {
  /** Grows by at least one with each event of a task. Absent where the source does not count. */
  sequence?: number;
}

/** The whole task as it stands: the first event of every task stream. */
export interface TaskSnapshotEvent extends Sequenced {
  kind: 'task';
  task: Task;
}

/** A direct answer without a task: the only event of its stream. */
export interface DirectMessageEvent extends Sequenced {
  kind: 'message';
  message: Message;
}

/** A task changed its state or said something. */
export interface TaskStatusUpdateEvent extends Sequenced {
  kind: 'status';
  taskId: string;
  contextId: string;
  status: TaskStatus;
  metadata?: Metadata;
}

/** A task made an artifact, or a chunk of one. */
export interface TaskArtifactUpdateEvent extends Sequenced {
  kind: 'artifact';
  taskId: string;
  contextId: string;
  artifact: Artifact;
  /** Adds the parts to the artifact of that id instead of replacing it. */
  append?: boolean;
  /** Closes the artifact. */
  lastChunk?: boolean;
  metadata?: Metadata;
}

/** What a stream carries. */
export type StreamEvent =
  | TaskSnapshotEvent
  | DirectMessageEvent
  | TaskStatusUpdateEvent
  | TaskArtifactUpdateEvent;
