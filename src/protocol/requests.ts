import type { Message } from './message.ts';
import type { Metadata } from './part.ts';
import type { PushConfig } from './push.ts';
import type { Task, TaskState } from './task.ts';

/** Options of a send request. */
export interface SendConfiguration {
  acceptedOutputModes?: string[];
  /** Webhook to register for the task; the server sets its `taskId`. */
  pushConfig?: Omit<PushConfig, 'taskId' | 'id'> & { id?: string };
  /** Maximum number of history messages in the response. @defaultValue decided by the agent */
  historyLength?: number;
  /** Responds when the task exists, without waiting for a terminal or interrupted state. */
  returnImmediately?: boolean;
  /** Rejects the message if the task has another generation. Preview of 1.1. */
  ifGenerationMatch?: number;
}

/** Request of `send` and `stream`. */
export interface SendRequest {
  message: Message;
  configuration?: SendConfiguration;
  metadata?: Metadata;
  /**
   * Task id chosen by the client, as in 0.1: continues the task if it exists, else creates it. `message.taskId`, in
   * contrast, must exist.
   */
  clientTaskId?: string;
  /** Streams only: resumes after this sequence number. */
  afterSequence?: number;
  /** Marks repeats: an agent whose card lists `idempotencyExtension` returns the task of the first request with the same key. */
  idempotencyKey?: string;
}

/** Returns the skills that a client names in the metadata of the message or request, as `skillId` or `skill`. */
export function namedSkillIds({ message, metadata }: SendRequest): string[] {
  return [message.metadata, metadata].flatMap((each) =>
    ['skillId', 'skill']
      .map((name) => (each && Object.hasOwn(each, name) ? each[name] : undefined))
      .filter((value) => typeof value === 'string'),
  );
}

/** Request of `getTask`. */
export interface GetTaskRequest {
  id: string;
  historyLength?: number;
  /** Waits until the task has a greater generation, for a limited time. Preview of 1.1. */
  currentGeneration?: number;
}

/** Request of `listTasks`. A task must match all filters. Tasks are ordered by status time, newest first. */
export interface ListTasksRequest {
  contextId?: string;
  status?: TaskState;
  /** 1 to 100. @defaultValue 50 */
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
  /** Number of matching tasks on all pages. */
  totalSize: number;
}

/** Request of `cancelTask`. */
export interface CancelTaskRequest {
  id: string;
  metadata?: Metadata;
}

/** Request of `subscribe`. */
export interface SubscribeRequest {
  id: string;
  /** Resumes after this sequence number instead of starting with a snapshot of the task. */
  afterSequence?: number;
}

/** Reference to a push configuration; without an id, to the first one of the task. */
export interface PushConfigRef {
  taskId: string;
  id?: string;
}

/** Request of `listPushConfigs`. */
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

/** Request type of each operation in the model. */
export interface RequestOf {
  send: SendRequest;
  stream: SendRequest;
  getTask: GetTaskRequest;
  listTasks: ListTasksRequest;
  cancelTask: CancelTaskRequest;
  subscribe: SubscribeRequest;
  createPushConfig: PushConfig;
  getPushConfig: PushConfigRef;
  listPushConfigs: ListPushConfigsRequest;
  deletePushConfig: PushConfigRef;
  extendedCard: Record<never, never>;
}
