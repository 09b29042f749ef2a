import { invalidField } from '../../protocol/errors.ts';
import type { Message, Role } from '../../protocol/message.ts';
import { readMetadata, readObject, fieldPath, readId, readOptionalId, readNames } from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readParts, writeParts } from './part.ts';

/** Reads a 1.0 message; snake_case names are accepted. */
export function readMessage(value: unknown, at: string, mode: DecodeMode): Message {
  const wire = readObject(value, at);
  const messageId = wire.messageId ?? wire.message_id;
  const message: Message = {
    messageId: readId(messageId, fieldPath(at, 'messageId'), mode),
    role: readRole(wire.role, fieldPath(at, 'role'), mode),
    parts: readParts(wire.parts, fieldPath(at, 'parts'), mode),
  };
  const contextId = readOptionalId(wire.contextId ?? wire.context_id, fieldPath(at, 'contextId'), mode);
  if (contextId !== undefined) message.contextId = contextId;
  const taskId = readOptionalId(wire.taskId ?? wire.task_id, fieldPath(at, 'taskId'), mode);
  if (taskId !== undefined) message.taskId = taskId;
  const extensions = readNames(wire.extensions, fieldPath(at, 'extensions'), mode);
  if (extensions !== undefined) message.extensions = extensions;
  const references = readNames(
    wire.referenceTaskIds ?? wire.reference_task_ids,
    fieldPath(at, 'referenceTaskIds'),
    mode,
  );
  if (references !== undefined) message.referenceTaskIds = references;
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  if (metadata !== undefined) message.metadata = metadata;
  return message;
}

function readRole(value: unknown, at: string, mode: DecodeMode): Role {
  if (value === 'ROLE_USER' || value === 1 || value === 'user') return 'user';
  if (value === 'ROLE_AGENT' || value === 2 || value === 'agent') return 'agent';
  if (!mode.lenient) throw invalidField(at, 'must be ROLE_USER or ROLE_AGENT');
  mode.losses?.push({ path: at, kind: 'guessed', note: `read ${JSON.stringify(value)} as ROLE_AGENT` });
  return 'agent';
}

/** Writes a 1.0 message. */
export function writeMessage(message: Message): unknown {
  return {
    messageId: message.messageId,
    contextId: message.contextId,
    taskId: message.taskId,
    role: message.role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT',
    parts: writeParts(message.parts),
    metadata: message.metadata,
    extensions: message.extensions,
    referenceTaskIds: message.referenceTaskIds,
  };
}
