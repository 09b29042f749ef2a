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
import { invalidField } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { Artifact, TaskStatus } from '../../protocol/task.ts';
import type { ScriptedEvent } from '../agent/response-plan.ts';

/** What stands for an id that is made when the event is played. The model writes it as an empty text. */
const toBeMade = 'made-when-played';

/** The one-key wrappers of 1.0, and what they hold. */
const wrappers: { readonly [key: string]: string } = {
  statusUpdate: 'status-update',
  status_update: 'status-update',
  artifactUpdate: 'artifact-update',
  artifact_update: 'artifact-update',
  task: 'task',
  message: 'message',
};

/**
 * Reads an event as people write it into a test: in the words of 0.3 (`kind: status-update`) or of 1.0
 * (`statusUpdate: {…}`), in camel or snake case. Ids may be left out; those of task and context are not looked at,
 * because they are filled in when the event is played.
 *
 * @param at - where it stands, such as `responses[2]`, for the complaint.
 * @throws A2AError `INVALID_PARAMS` that names the field.
 */
export function parseScriptedEvent(value: unknown, at: string): ScriptedEvent {
  const whole = readObject(value, at);
  if (whole.kind !== undefined) return readKind(whole.kind, whole, at, fieldPath(at, 'kind'));
  const key = Object.keys(wrappers).find((name) => isObject(whole[name]));
  if (key === undefined || whole.status !== undefined)
    throw invalidField(at, 'must have a kind: task, status-update, artifact-update or message');
  return readKind(wrappers[key], readObject(whole[key], fieldPath(at, key)), fieldPath(at, key), at);
}

function readKind(kind: unknown, wire: WireObject, at: string, named: string): ScriptedEvent {
  switch (kind) {
    case 'task':
      return readTask(wire, at);
    case 'status-update':
      return readStatusUpdate(wire, at);
    case 'artifact-update':
      return readArtifactUpdate(wire, at);
    case 'message':
      return { kind: 'message', message: readSaid(wire, at) };
    default:
      throw invalidField(named, 'must be task, status-update, artifact-update or message');
  }
}

function readTask(wire: WireObject, at: string): ScriptedEvent {
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const artifacts = wire.artifacts ?? undefined;
  return {
    kind: 'task',
    status: readStatus(wire.status, fieldPath(at, 'status')),
    ...(artifacts !== undefined && {
      artifacts: readArray(artifacts, fieldPath(at, 'artifacts')).map((each, i) =>
        readArtifact(each, `${fieldPath(at, 'artifacts')}[${i}]`),
      ),
    }),
    ...(metadata && { metadata }),
  };
}

function readStatusUpdate(wire: WireObject, at: string): ScriptedEvent {
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const final = readBoolean(wire.final, fieldPath(at, 'final'));
  return {
    kind: 'status',
    status: readStatus(wire.status, fieldPath(at, 'status')),
    ...(final !== undefined && { final }),
    ...(metadata && { metadata }),
  };
}

function readArtifactUpdate(wire: WireObject, at: string): ScriptedEvent {
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const append = readBoolean(wire.append, fieldPath(at, 'append'));
  const lastChunk = readBoolean(wire.lastChunk ?? wire.last_chunk, fieldPath(at, 'lastChunk'));
  return {
    kind: 'artifact',
    artifact: readArtifact(wire.artifact, fieldPath(at, 'artifact')),
    ...(append !== undefined && { append }),
    ...(lastChunk !== undefined && { lastChunk }),
    ...(metadata && { metadata }),
  };
}

function readStatus(value: unknown, at: string): TaskStatus {
  const { message, update, ...bare } = readObject(value, at);
  const status = readStatus0_3(bare, at, strictMode);
  const said = message ?? update ?? undefined;
  if (said !== undefined) status.message = readSaid(said, fieldPath(at, 'message'));
  return status;
}

function readSaid(value: unknown, at: string): Message {
  const wire = readObject(value, at);
  const given = wire.messageId ?? wire.message_id ?? undefined;
  const parts = tagged(wire.parts ?? wire.content);
  const whole = { ...wire, messageId: given ?? toBeMade, role: wire.role ?? 'agent', parts };
  const message = isOf1_0(parts)
    ? readMessage1_0(whole, at, strictMode)
    : readMessage0_3(whole, at, strictMode);
  const { taskId: _task, contextId: _context, ...said } = message;
  return { ...said, messageId: given === undefined ? '' : message.messageId };
}

function readArtifact(value: unknown, at: string): Artifact {
  const wire = readObject(value, at);
  const given = wire.artifactId ?? wire.artifact_id ?? undefined;
  const parts = tagged(wire.parts);
  const whole = { ...wire, artifactId: given ?? toBeMade, parts };
  const artifact = isOf1_0(parts)
    ? readArtifact1_0(whole, at, strictMode)
    : readArtifact0_3(whole, at, strictMode);
  return given === undefined ? { ...artifact, artifactId: '' } : artifact;
}

/** Parts whose tag is called `kind`; 0.1 calls it `type`. */
function tagged(parts: unknown): unknown {
  if (!Array.isArray(parts)) return parts;
  return parts.map((part: unknown) =>
    isObject(part) && part.kind === undefined && typeof part.type === 'string'
      ? { ...part, kind: part.type }
      : part,
  );
}

/** True when no part has a tag or a `file`: then the member tells what it is, as in 1.0. */
function isOf1_0(parts: unknown): boolean {
  if (!Array.isArray(parts)) return false;
  return parts.every((part: unknown) => isObject(part) && part.kind === undefined && part.file === undefined);
}

function isObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
