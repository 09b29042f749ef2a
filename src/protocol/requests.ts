import type { Message } from './message.ts';
import type { Metadata } from './part.ts';
import type { PushConfig } from './push.ts';
import type { Task, TaskState } from './task.ts';

/** How a send wants to be answered. */
export interface SendConfiguration {
  acceptedOutputModes?: string[];
  /** A webhook to register with the task; its `taskId` is filled in by the receiver. */
  pushConfig?: Omit<PushConfig, 'taskId' | 'id'> & { id?: string };
  /** How many messages of history the answer may hold; undefined leaves it to the agent. */
  historyLength?: number;
  /** Answers as soon as the task exists instead of when it ends or needs something. */
  returnImmediately?: boolean;
}

/** A message to an agent. */
export interface SendRequest {
  message: Message;
  configuration?: SendConfiguration;
  metadata?: Metadata;
  /**
   * The id under which the caller wants its task, made by the caller as 0.1 does it: the task is continued if
   * it exists and created if not. `message.taskId`, in contrast, must exist.
   */
  clientTaskId?: string;
  /** Streams only: skip what the caller has seen already, up to and including this sequence number. */
  afterSequence?: number;
}

/** Asks for one task. */
export interface GetTaskRequest {
  id: string;
  historyLength?: number;
}

/** Asks for tasks, newest status first. All filters must hold. */
export interface ListTasksRequest {
  contextId?: string;
  status?: TaskState;
  /** 1 to 100; 50 when absent. */
  pageSize?: number;
  pageToken?: string;
  historyLength?: number;
  /** Inclusive, RFC 3339. */
  statusTimestampAfter?: string;
  includeArtifacts?: boolean;
}

/** One page of tasks. */
export interface TaskPage {
  tasks: Task[];
  /** Empty on the last page. */
  nextPageToken: string;
  pageSize: number;
  /** All tasks that match, on whatever page. */
  totalSize: number;
}

/** Asks for an end to a task. */
export interface CancelTaskRequest {
  id: string;
  metadata?: Metadata;
}

/** Follows a task. */
export interface SubscribeRequest {
  id: string;
  /** Go on after this sequence number instead of beginning with the task as it stands. */
  afterSequence?: number;
}

/** Names one push configuration; without an id, the first one of the task. */
export interface PushConfigRef {
  taskId: string;
  id?: string;
}

/** Asks for the push configurations of a task. */
export interface ListPushConfigsRequest {
  taskId: string;
  pageSize?: number;
  pageToken?: string;
}

/** One page of push configurations. */
export interface PushConfigPage {
  configs: PushConfig[];
  nextPageToken: string;
}
