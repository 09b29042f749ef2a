import type { TaskArtifactUpdateEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { TaskPage } from '../protocol/requests.ts';
import type { Artifact, Task, TaskStatus } from '../protocol/task.ts';
import { withCompat } from './compat-metadata.ts';
import {
  fieldPath,
  isSet,
  readArray,
  readBoolean,
  readId,
  readInteger,
  readMetadata,
  readObject,
  readToken,
  type WireObject,
} from './field-readers.ts';
import type { DecodeMode } from './translation-loss.ts';

type Reader<T> = (value: unknown, at: string, mode: DecodeMode) => T;

/** Readers of the objects in a task, in which the versions since 0.2 differ. */
export interface TaskReaders {
  contextId(wire: WireObject, at: string, mode: DecodeMode): string;
  status: Reader<TaskStatus>;
  artifact: Reader<Artifact>;
  message: Reader<Message>;
  /** Returns the name of a state that the version does not define. */
  unknownState(status: TaskStatus, wire: unknown): string | undefined;
}

/** Reads a task in the format of all versions since 0.2. The name of an unknown state is stored under the compat key. */
export function readTaskWith(readers: TaskReaders, value: unknown, at: string, mode: DecodeMode): Task {
  const wire = readObject(value, at);
  const task: Task = {
    id: readId(wire.id, fieldPath(at, 'id'), mode),
    contextId: readers.contextId(wire, at, mode),
    status: readers.status(wire.status, fieldPath(at, 'status'), mode),
  };
  const { artifacts, history } = wire;
  if (artifacts !== undefined && artifacts !== null)
    task.artifacts = readList(readers.artifact, artifacts, fieldPath(at, 'artifacts'), mode);
  if (history !== undefined && history !== null)
    task.history = readList(readers.message, history, fieldPath(at, 'history'), mode);
  let metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const stateName = readers.unknownState(task.status, wire.status);
  if (stateName !== undefined) metadata = withCompat(metadata, { state: stateName });
  if (metadata !== undefined) task.metadata = metadata;
  return task;
}

function readList<T>(read: Reader<T>, value: unknown, at: string, mode: DecodeMode): T[] {
  return readArray(value, at).map((each, i) => read(each, `${at}[${i}]`, mode));
}

/** Reads an artifact update in the format of all versions since 0.2. */
export function readArtifactEventWith(
  { contextId, artifact }: Pick<TaskReaders, 'contextId' | 'artifact'>,
  wire: WireObject,
  at: string,
  mode: DecodeMode,
): TaskArtifactUpdateEvent {
  const event: TaskArtifactUpdateEvent = {
    kind: 'artifact',
    taskId: readId(wire.taskId ?? wire.task_id, fieldPath(at, 'taskId'), mode),
    contextId: contextId(wire, at, mode),
    artifact: artifact(wire.artifact, fieldPath(at, 'artifact'), mode),
  };
  const append = readBoolean(wire.append, fieldPath(at, 'append'));
  if (append !== undefined) event.append = append;
  const last = wire.lastChunk ?? wire.last_chunk;
  const lastChunk = isSet(last) ? readBoolean(last, fieldPath(at, 'lastChunk')) : undefined;
  if (lastChunk !== undefined) event.lastChunk = lastChunk;
  if (isSet(wire.metadata)) event.metadata = readObject(wire.metadata, fieldPath(at, 'metadata'));
  return event;
}

/** Reads a page of tasks in the format of all versions since 0.2. */
export function readTaskPageWith(readTask: Reader<Task>, page: WireObject, mode: DecodeMode): TaskPage {
  const tasks = readList(readTask, page.tasks ?? [], 'tasks', mode);
  return {
    tasks,
    nextPageToken: readToken(page.nextPageToken ?? page.next_page_token, 'nextPageToken', mode) ?? '',
    pageSize: readInteger(page.pageSize ?? page.page_size, 'pageSize') ?? tasks.length,
    totalSize: readInteger(page.totalSize ?? page.total_size, 'totalSize') ?? tasks.length,
  };
}
