/**
 * Replaces the ids of the agent by those of the mesh, which are the only ones that clients on the mesh know.
 *
 * @module
 */
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { Metadata } from '../../protocol/part.ts';
import type { Task, TaskStatus } from '../../protocol/task.ts';

/** Ids of a task on the mesh, and the name of its agent. */
export interface MeshIds {
  readonly taskId: string;
  readonly contextId: string;
  readonly agent: string;
}

function withAgentName(metadata: Metadata | undefined, { agent }: MeshIds): Metadata {
  return { ...metadata, agent_name: agent };
}

/** Replaces the ids of a message. */
export function mapMessageIds(message: Message, { taskId, contextId }: MeshIds): Message {
  return { ...message, taskId, contextId };
}

function mapStatusIds(status: TaskStatus, ids: MeshIds): TaskStatus {
  return status.message ? { ...status, message: mapMessageIds(status.message, ids) } : status;
}

/** Replaces the ids of a task. */
export function mapTaskIds(task: Task, ids: MeshIds): Task {
  const { originVersion: _version, trace: _trace, ...rest } = task;
  const mapped: Task = {
    ...rest,
    id: ids.taskId,
    contextId: ids.contextId,
    status: mapStatusIds(task.status, ids),
    metadata: withAgentName(task.metadata, ids),
  };
  if (task.history) mapped.history = task.history.map((each) => mapMessageIds(each, ids));
  return mapped;
}

/** Replaces the ids of an update. */
export function mapUpdateIds(
  event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent,
  ids: MeshIds,
): TaskStatusUpdateEvent | TaskArtifactUpdateEvent {
  const { taskId, contextId } = ids;
  const metadata = withAgentName(event.metadata, ids);
  return event.kind === 'artifact'
    ? { ...event, taskId, contextId, metadata }
    : { ...event, taskId, contextId, metadata, status: mapStatusIds(event.status, ids) };
}

/** Wraps a direct message in a completed task, because early receivers on the mesh support only tasks. */
export function wrapMessageAsTask(message: Message, ids: MeshIds, timestamp: string): Task {
  const { taskId, contextId } = ids;
  const produced = message.metadata?.produced_artifacts;
  return {
    id: taskId,
    contextId,
    status: { state: 'completed', message: mapMessageIds(message, ids), timestamp },
    metadata: withAgentName(produced === undefined ? undefined : { produced_artifacts: produced }, ids),
  };
}
