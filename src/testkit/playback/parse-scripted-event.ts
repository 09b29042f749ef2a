import {
  readBoolean,
  readArray,
  readMetadata,
  readObject,
  fieldPath,
  type WireObject,
} from '../../dialects/field-readers.ts';
import { strictMode } from '../../dialects/translation-loss.ts';
import { readMessage as readMessage0_3 } from '../../dialects/v0_3/message.ts';
import { readArtifact as readArtifact0_3, readStatus as readStatus0_3 } from '../../dialects/v0_3/task.ts';
import { readMessage as readMessage1_0 } from '../../dialects/v1_0/message.ts';
import { readArtifact as readArtifact1_0 } from '../../dialects/v1_0/task.ts';
import { isJsonObject } from '../../primitives/json.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { Artifact, TaskStatus } from '../../protocol/task.ts';
import type { ScriptedEvent } from '../agent/response-plan.ts';

/** Placeholder for an id that is assigned during playback; the model represents it as an empty string. */
const idPlaceholder = 'assigned-during-playback';

/** Event kinds by wrapper key of the 1.0 format. */
const wrappers: { readonly [key: string]: string } = {
  statusUpdate: 'status-update',
  status_update: 'status-update',
  artifactUpdate: 'artifact-update',
  artifact_update: 'artifact-update',
  task: 'task',
  message: 'message',
};

/**
 * Parses an event in the 0.3 format (`kind: status-update`) or the 1.0 format (`statusUpdate: {…}`), in camel or snake
 * case. Ids are optional; task and context ids are ignored, because they are assigned during playback.
 *
 * @param at - path of the event, such as `responses[2]`, for error messages.
 * @throws A2AError `INVALID_PARAMS` with the field.
 */
export function parseScriptedEvent(value: unknown, at: string): ScriptedEvent {
  const wire = readObject(value, at);
  if (wire.kind !== undefined) return readKind(wire.kind, wire, at, fieldPath(at, 'kind'));
  const key = Object.keys(wrappers).find((name) => isJsonObject(wire[name]));
  if (key === undefined || wire.status !== undefined)
    throw invalidField(at, 'must have a kind: task, status-update, artifact-update or message');
  return readKind(wrappers[key], readObject(wire[key], fieldPath(at, key)), fieldPath(at, key), at);
}

function readKind(kind: unknown, wire: WireObject, at: string, kindPath: string): ScriptedEvent {
  switch (kind) {
    case 'task':
      return readTask(wire, at);
    case 'status-update':
      return readStatusUpdate(wire, at);
    case 'artifact-update':
      return readArtifactUpdate(wire, at);
    case 'message':
      return { kind: 'message', message: readMessage(wire, at) };
    default:
      throw invalidField(kindPath, 'must be task, status-update, artifact-update or message');
  }
}

function readTask(wire: WireObject, at: string): ScriptedEvent {
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const path = fieldPath(at, 'artifacts');
  const artifacts =
    (wire.artifacts ?? undefined) &&
    readArray(wire.artifacts, path).map((each, i) => readArtifact(each, `${path}[${i}]`));
  return { kind: 'task', status: readStatus(wire.status, fieldPath(at, 'status')), artifacts, metadata };
}

function readStatusUpdate(wire: WireObject, at: string): ScriptedEvent {
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const final = readBoolean(wire.final, fieldPath(at, 'final'));
  return { kind: 'status', status: readStatus(wire.status, fieldPath(at, 'status')), final, metadata };
}

function readArtifactUpdate(wire: WireObject, at: string): ScriptedEvent {
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const append = readBoolean(wire.append, fieldPath(at, 'append'));
  const lastChunk = readBoolean(wire.lastChunk ?? wire.last_chunk, fieldPath(at, 'lastChunk'));
  const artifact = readArtifact(wire.artifact, fieldPath(at, 'artifact'));
  return { kind: 'artifact', artifact, append, lastChunk, metadata };
}

function readStatus(value: unknown, at: string): TaskStatus {
  const { message, update, ...bare } = readObject(value, at);
  const status = readStatus0_3(bare, at, strictMode);
  const statusMessage = message ?? update ?? undefined;
  if (statusMessage !== undefined) status.message = readMessage(statusMessage, fieldPath(at, 'message'));
  return status;
}

function readMessage(value: unknown, at: string): Message {
  const input = readObject(value, at);
  const messageId = input.messageId ?? input.message_id ?? undefined;
  const parts = withKindTag(input.parts ?? input.content);
  const wire = { ...input, messageId: messageId ?? idPlaceholder, role: input.role ?? 'agent', parts };
  const message = hasParts1_0(parts)
    ? readMessage1_0(wire, at, strictMode)
    : readMessage0_3(wire, at, strictMode);
  const { taskId: _task, contextId: _context, ...withoutIds } = message;
  return { ...withoutIds, messageId: messageId === undefined ? '' : message.messageId };
}

function readArtifact(value: unknown, at: string): Artifact {
  const input = readObject(value, at);
  const artifactId = input.artifactId ?? input.artifact_id ?? undefined;
  const parts = withKindTag(input.parts);
  const wire = { ...input, artifactId: artifactId ?? idPlaceholder, parts };
  const artifact = hasParts1_0(parts)
    ? readArtifact1_0(wire, at, strictMode)
    : readArtifact0_3(wire, at, strictMode);
  return artifactId === undefined ? { ...artifact, artifactId: '' } : artifact;
}

/** Renames the tag of parts from `type` (0.1) to `kind` (0.3). */
function withKindTag(parts: unknown): unknown {
  if (!Array.isArray(parts)) return parts;
  return parts.map((part: unknown) =>
    isJsonObject(part) && part.kind === undefined && typeof part.type === 'string'
      ? { ...part, kind: part.type }
      : part,
  );
}

/** Returns true if no part has `kind` or `file`, which means the 1.0 format. */
function hasParts1_0(parts: unknown): boolean {
  if (!Array.isArray(parts)) return false;
  return parts.every(
    (part: unknown) => isJsonObject(part) && part.kind === undefined && part.file === undefined,
  );
}
