/**
 * What an agent says, in the names that the mesh knows: names of the agent that went out would be lost there.
 *
 * @module
 */
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { Metadata } from '../../protocol/part.ts';
import type { Task, TaskStatus } from '../../protocol/task.ts';

/** How a task is called on the mesh, and who works on it there. */
export interface MeshIds {
  readonly taskId: string;
  readonly contextId: string;
  readonly agent: string;
}

/** Says on everything who said it. */
function signed(metadata: Metadata | undefined, { agent }: MeshIds): Metadata {
  return { ...metadata, agent_name: agent };
}

/** A message in the names of the mesh. */
export function mapMessageIds(message: Message, { taskId, contextId }: MeshIds): Message {
  return { ...message, taskId, contextId };
}

function renamedStatus(status: TaskStatus, names: MeshIds): TaskStatus {
  return status.message ? { ...status, message: mapMessageIds(status.message, names) } : status;
}

/** A task in the names of the mesh. */
export function mapTaskIds(task: Task, names: MeshIds): Task {
  const { originVersion: _ofAnother, ...rest } = task;
  const renamed: Task = {
    ...rest,
    id: names.taskId,
    contextId: names.contextId,
    status: renamedStatus(task.status, names),
    metadata: signed(task.metadata, names),
  };
  if (task.history) renamed.history = task.history.map((each) => mapMessageIds(each, names));
  return renamed;
}

/** An update in the names of the mesh. */
export function mapUpdateIds(
  event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent,
  names: MeshIds,
): TaskStatusUpdateEvent | TaskArtifactUpdateEvent {
  const { taskId, contextId } = names;
  const metadata = signed(event.metadata, names);
  return event.kind === 'artifact'
    ? { ...event, taskId, contextId, metadata }
    : { ...event, taskId, contextId, metadata, status: renamedStatus(event.status, names) };
}

/** A direct answer as the completed task that receivers on the mesh know instead. */
export function wrapMessageAsTask(message: Message, names: MeshIds, timestamp: string): Task {
  const { taskId, contextId } = names;
  const produced = message.metadata?.produced_artifacts;
  return {
    id: taskId,
    contextId,
    status: { state: 'completed', message: mapMessageIds(message, names), timestamp },
    metadata: signed(produced === undefined ? undefined : { produced_artifacts: produced }, names),
  };
}
