import { invalidField } from '../../protocol/errors.ts';
import type { Message, Role } from '../../protocol/message.ts';
import { readCompat, withoutCompat } from '../compat-metadata.ts';
import {
  readMetadata,
  readNonEmptyString,
  readObject,
  readStrings,
  readOptionalText,
  fieldPath,
} from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readParts, writePart } from './part.ts';

/**
 * Reads a message in either form of 0.3. Nobody insists on `kind`, and the list of parts may be called `content`, as
 * the protocol buffers call it.
 */
export function readMessage(value: unknown, at: string, reading: DecodeMode): Message {
  const wire = readObject(value, at);
  const message: Message = {
    messageId: readNonEmptyString(wire.messageId ?? wire.message_id, fieldPath(at, 'messageId')),
    role: readRole(wire.role, at, reading),
    parts: readParts(wire.parts ?? wire.content, fieldPath(at, 'parts'), reading),
  };
  const contextId = readOptionalText(wire.contextId ?? wire.context_id, fieldPath(at, 'contextId'));
  if (contextId !== undefined) message.contextId = contextId;
  const taskId = readOptionalText(wire.taskId ?? wire.task_id, fieldPath(at, 'taskId'));
  if (taskId !== undefined) message.taskId = taskId;
  const extensions = readStrings(wire.extensions, fieldPath(at, 'extensions'));
  if (extensions !== undefined) message.extensions = extensions;
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const carried = readCompat(metadata)?.referenceTaskIds;
  const references = readStrings(
    wire.referenceTaskIds ?? wire.reference_task_ids ?? carried,
    fieldPath(at, 'referenceTaskIds'),
  );
  if (references !== undefined) message.referenceTaskIds = references;
  const own = carried === undefined ? metadata : withoutCompat(metadata, ['referenceTaskIds']);
  if (own !== undefined) message.metadata = own;
  return message;
}

function readRole(value: unknown, at: string, reading: DecodeMode): Role {
  if (value === 'user' || value === 'ROLE_USER' || value === 1) return 'user';
  if (value === 'agent' || value === 'ROLE_AGENT' || value === 2) return 'agent';
  if (!reading.lenient) throw invalidField(fieldPath(at, 'role'), 'must be user or agent');
  reading.losses?.push({
    path: fieldPath(at, 'role'),
    kind: 'guessed',
    note: `took ${JSON.stringify(value)} for agent`,
  });
  return 'agent';
}

/** Writes a message as 0.3 has it over JSON-RPC. */
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
