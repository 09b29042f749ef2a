import { invalidField } from '../../protocol/errors.ts';
import type { Message, Role } from '../../protocol/message.ts';
import { readCompat, withoutCompat } from '../compat-metadata.ts';
import { readMetadata, readObject, fieldPath, readId, readOptionalId, readNames } from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readParts, writePart } from './part.ts';

/**
 * Reads a message in the JSON or protocol buffer format of 0.3. `kind` is optional, and parts may be named `content`, as
 * in the protocol buffers.
 */
export function readMessage(value: unknown, at: string, mode: DecodeMode): Message {
  const wire = readObject(value, at);
  const message: Message = {
    messageId: readId(wire.messageId ?? wire.message_id, fieldPath(at, 'messageId'), mode),
    role: readRole(wire.role, at, mode),
    parts: readParts(wire.parts ?? wire.content, fieldPath(at, 'parts'), mode),
  };
  const contextId = readOptionalId(wire.contextId ?? wire.context_id, fieldPath(at, 'contextId'), mode);
  if (contextId !== undefined) message.contextId = contextId;
  const taskId = readOptionalId(wire.taskId ?? wire.task_id, fieldPath(at, 'taskId'), mode);
  if (taskId !== undefined) message.taskId = taskId;
  const extensions = readNames(wire.extensions, fieldPath(at, 'extensions'), mode);
  if (extensions !== undefined) message.extensions = extensions;
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const carried = readCompat(metadata)?.referenceTaskIds;
  const references = readNames(
    wire.referenceTaskIds ?? wire.reference_task_ids ?? carried,
    fieldPath(at, 'referenceTaskIds'),
    mode,
  );
  if (references !== undefined) message.referenceTaskIds = references;
  const ownMetadata = carried === undefined ? metadata : withoutCompat(metadata, ['referenceTaskIds']);
  if (ownMetadata !== undefined) message.metadata = ownMetadata;
  return message;
}

function readRole(value: unknown, at: string, mode: DecodeMode): Role {
  if (value === 'user' || value === 'ROLE_USER' || value === 1) return 'user';
  if (value === 'agent' || value === 'ROLE_AGENT' || value === 2) return 'agent';
  if (!mode.lenient) throw invalidField(fieldPath(at, 'role'), 'must be user or agent');
  mode.losses?.push({
    path: fieldPath(at, 'role'),
    kind: 'guessed',
    note: `read ${JSON.stringify(value)} as agent`,
  });
  return 'agent';
}

/** Writes a 0.3 JSON-RPC message. */
export function writeMessage(message: Message): unknown {
  return {
    kind: 'message',
    messageId: message.messageId,
    contextId: message.contextId,
    taskId: message.taskId,
    role: message.role,
    parts: message.parts.map(writePart),
    metadata: message.metadata,
    extensions: message.extensions,
    referenceTaskIds: message.referenceTaskIds,
  };
}
