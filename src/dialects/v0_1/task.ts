import { invalidField } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { Metadata } from '../../protocol/part.ts';
import type { Artifact, Task, TaskState, TaskStatus } from '../../protocol/task.ts';
import { type CompatRecord, readCompat, withCompat, withoutCompat } from '../compat-metadata.ts';
import {
  readInteger,
  readArray,
  readMetadata,
  readObject,
  readStrings,
  readOptionalText,
  readTimestamp,
  fieldPath,
  type WireObject,
  readId,
  readOptionalId,
  readName,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { ArtifactIndex, artifactIdForIndex } from './artifact-index.ts';
import { readTaskMessage, type MessageScope, writeMessage } from './message.ts';
import { deriveMessageId } from './message-id.ts';
import { readParts, writeParts } from './part.ts';

/** State in the model → state in 0.1, which lacks two of them. */
const wireStates: { readonly [state in TaskState]: string } = {
  unknown: 'unknown',
  submitted: 'submitted',
  working: 'working',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
  'input-required': 'input-required',
  rejected: 'failed',
  'auth-required': 'input-required',
};

const modelStates: ReadonlyMap<unknown, TaskState> = new Map(
  (Object.keys(wireStates) as TaskState[])
    .filter((state) => wireStates[state] === state)
    .map((state) => [state, state]),
);

/** Reads a state; the compat record `carried` may contain a state that 0.1 lacks. */
function readState(
  value: unknown,
  at: string,
  mode: DecodeMode,
  carried: CompatRecord | undefined,
): TaskState {
  const state = modelStates.get(value);
  if (state === 'failed' && carried?.state === 'rejected') return 'rejected';
  if (state === 'input-required' && carried?.state === 'auth-required') return 'auth-required';
  if (state !== undefined) return state;
  if (!mode.lenient) throw invalidField(at, 'must be a task state such as working');
  mode.losses?.push({
    path: at,
    kind: 'guessed',
    note: `read ${JSON.stringify(value)} as an unknown state`,
  });
  return 'unknown';
}

/** Reads a 0.1 status. */
export function readStatus(
  value: unknown,
  at: string,
  mode: DecodeMode,
  within: MessageScope & { carried: CompatRecord | undefined },
): TaskStatus {
  const wire = readObject(value, at);
  const status: TaskStatus = {
    state: readState(wire.state, fieldPath(at, 'state'), mode, within.carried),
  };
  if (wire.message !== undefined && wire.message !== null) {
    status.message = readTaskMessage(wire.message, fieldPath(at, 'message'), mode, within);
  }
  const timestamp = readTimestamp(wire.timestamp, fieldPath(at, 'timestamp'), mode);
  if (timestamp !== undefined) status.timestamp = timestamp;
  return status;
}

/** Writes a 0.1 status without an {@link unsupportedState}. */
export function writeStatus(status: TaskStatus, at: string, losses: LossList, within: MessageScope): unknown {
  return {
    state: wireStates[status.state],
    message: status.message && writeMessage(status.message, fieldPath(at, 'message'), losses, within),
    timestamp: status.timestamp,
  };
}

/** Returns a state that 0.1 lacks; its name is stored in the metadata. */
export function unsupportedState(state: TaskState, at: string, losses: LossList): TaskState | undefined {
  if (wireStates[state] === state) return undefined;
  losses?.push({
    path: fieldPath(at, 'state'),
    kind: 'guessed',
    note: `0.1 has no state ${state}; ${wireStates[state]} is used instead`,
  });
  return state;
}

const artifactNames = ['artifactId', 'extensions', 'appendInline', 'lastChunkInline'];

/** Reads a 0.1 artifact. It is identified by its index, unless an id was carried or `idOf` returns one. */
export function readArtifact(
  wire: WireObject,
  at: string,
  mode: DecodeMode,
  idOf: (index: number, carried: string | undefined) => string,
): Artifact {
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const carried = readCompat(metadata);
  const named = typeof carried?.artifactId === 'string' ? carried.artifactId : undefined;
  const artifact: Artifact = {
    artifactId: idOf(readInteger(wire.index, fieldPath(at, 'index')) ?? 0, named),
    parts: readParts(wire.parts, fieldPath(at, 'parts'), mode),
  };
  const name = readName(wire.name, fieldPath(at, 'name'), mode);
  if (name !== undefined) artifact.name = name;
  const description = readOptionalText(wire.description, fieldPath(at, 'description'));
  if (description !== undefined) artifact.description = description;
  const extensions = carried && readStrings(carried.extensions, fieldPath(at, 'extensions'));
  if (extensions !== undefined) artifact.extensions = extensions;
  const ownMetadata = carried ? withoutCompat(metadata, artifactNames) : metadata;
  if (ownMetadata !== undefined) artifact.metadata = ownMetadata;
  return artifact;
}

/** Reads the artifacts of a task; several with one index are different artifacts. */
function readArtifacts(list: unknown[], at: string, mode: DecodeMode): Artifact[] {
  const seen = new Set<string>();
  return list.map((each, i) => {
    const path = `${at}[${i}]`;
    const wire = readObject(each, path);
    const artifact = readArtifact(wire, path, mode, (index, carried) => {
      const id = carried ?? artifactIdForIndex(index);
      if (!seen.has(id)) return id;
      const other = `${id}-${i}`;
      mode.losses?.push({ path, kind: 'guessed', note: `${id} is used twice; renamed to ${other}` });
      return other;
    });
    seen.add(artifact.artifactId);
    const inline: CompatRecord = {};
    if (wire.append === true) inline.appendInline = true;
    if (wire.lastChunk === true) inline.lastChunkInline = true;
    const metadata = withCompat(artifact.metadata, inline);
    if (metadata !== undefined) artifact.metadata = metadata;
    return artifact;
  });
}

/** Writes an artifact with its index. The id is stored in the metadata if a reader would derive another one. */
export function writeArtifact(
  artifact: Artifact,
  at: string,
  losses: LossList,
  { index, carriesId }: { index: number; carriesId: boolean },
): WireObject {
  const { artifactId, extensions } = artifact;
  let { metadata } = artifact;
  if (carriesId) {
    losses?.push({
      path: fieldPath(at, 'artifactId'),
      kind: 'guessed',
      note: `0.1 artifacts have an index; ${index} is used for ${artifactId}, which is stored in the metadata`,
    });
  }
  if (extensions) {
    losses?.push({
      path: fieldPath(at, 'extensions'),
      kind: 'dropped',
      note: '0.1 artifacts have no extensions; stored in the metadata',
    });
  }
  if (carriesId || extensions) {
    metadata = withCompat(metadata, { artifactId: carriesId ? artifactId : undefined, extensions });
  }
  return {
    name: artifact.name,
    description: artifact.description,
    parts: writeParts(artifact.parts, losses ? fieldPath(at, 'parts') : at, losses),
    index,
    metadata,
  };
}

/** Writes the artifacts of a task. */
function writeArtifacts(artifacts: readonly Artifact[], at: string, losses: LossList): unknown[] {
  const table = new ArtifactIndex();
  return artifacts.map((artifact, i) => {
    const index = table.of(artifact.artifactId);
    const carriesId = artifact.artifactId !== artifactIdForIndex(index);
    const wire = writeArtifact(artifact, `${at}[${i}]`, losses, { index, carriesId });
    const inline = readCompat(artifact.metadata);
    if (inline?.appendInline !== true && inline?.lastChunkInline !== true) return wire;
    if (inline.appendInline === true) wire.append = true;
    if (inline.lastChunkInline === true) wire.lastChunk = true;
    wire.metadata = withoutCompat(wire.metadata as Metadata, ['appendInline', 'lastChunkInline']);
    return wire;
  });
}

/** Reads the history; repeated texts are different messages. */
function readHistory(list: unknown[], at: string, mode: DecodeMode, within: MessageScope): Message[] {
  const seen = new Map<string, number>();
  return list.map((each, i) => {
    const message = readTaskMessage(each, `${at}[${i}]`, mode, within);
    const again = seen.get(message.messageId) ?? 0;
    seen.set(message.messageId, again + 1);
    if (again > 0) message.messageId = deriveMessageId(within.taskId, message, again);
    return message;
  });
}

/** Reads a 0.1 task. The context of a task without a session is its task id. */
export function readTask(value: unknown, at: string, mode: DecodeMode): Task {
  const wire = readObject(value, at);
  const id = readId(wire.id, fieldPath(at, 'id'), mode);
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const carried = readCompat(metadata);
  const contextId = readOptionalId(wire.sessionId, fieldPath(at, 'sessionId'), mode) ?? id;
  const within = { taskId: id, contextId, carried };
  const task: Task = {
    id,
    contextId,
    status: readStatus(wire.status, fieldPath(at, 'status'), mode, within),
  };
  const { artifacts, history } = wire;
  if (artifacts !== undefined && artifacts !== null) {
    const path = fieldPath(at, 'artifacts');
    task.artifacts = readArtifacts(readArray(artifacts, path), path, mode);
  }
  if (history !== undefined && history !== null) {
    const path = fieldPath(at, 'history');
    task.history = readHistory(readArray(history, path), path, mode, within);
  }
  const taskMetadata = ownMetadata(metadata, task.status.state, (wire.status as WireObject).state);
  if (taskMetadata !== undefined) task.metadata = taskMetadata;
  return task;
}

/** Returns the metadata without a carried state, or with the name of an unknown state. */
function ownMetadata(
  metadata: Metadata | undefined,
  state: TaskState,
  wireState: unknown,
): Metadata | undefined {
  if (state === 'unknown' && typeof wireState === 'string' && wireState !== 'unknown') {
    return withCompat(metadata, { state: wireState });
  }
  return wireStates[state] === state ? metadata : withoutCompat(metadata, ['state']);
}

/** Writes a 0.1 task. */
export function writeTask(task: Task, losses?: LossList, at = 'task'): unknown {
  const within = { taskId: task.id, contextId: task.contextId };
  const stateName = unsupportedState(task.status.state, fieldPath(at, 'status'), losses);
  return {
    id: task.id,
    // Readers use the task id as context by default.
    sessionId: task.contextId === '' || task.contextId === task.id ? undefined : task.contextId,
    status: writeStatus(task.status, fieldPath(at, 'status'), losses, within),
    artifacts: task.artifacts && writeArtifacts(task.artifacts, fieldPath(at, 'artifacts'), losses),
    history: task.history?.map((message, i) =>
      writeMessage(message, `${fieldPath(at, 'history')}[${i}]`, losses, within),
    ),
    metadata: stateName === undefined ? task.metadata : withCompat(task.metadata, { state: stateName }),
  };
}
