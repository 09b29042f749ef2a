import { invalidField } from '../../protocol/errors.ts';
import type { Message, Role } from '../../protocol/message.ts';
import { readMetadata, readName, readObject, readStrings, readText, under } from '../field-readers.ts';
import type { Reading } from '../translation-loss.ts';
import { readParts, writeParts } from './part.ts';

/** Reads a message as 1.0 has it; names in snake case are understood too. */
export function readMessage(value: unknown, at: string, reading: Reading): Message {
  const wire = readObject(value, at);
  const messageId = wire.messageId ?? wire.message_id;
  const message: Message = {
    messageId: readName(messageId, under(at, 'messageId')),
    role: readRole(wire.role, under(at, 'role'), reading),
    parts: readParts(wire.parts, under(at, 'parts'), reading),
  };
  const contextId = readText(wire.contextId ?? wire.context_id, under(at, 'contextId'));
  if (contextId !== undefined) message.contextId = contextId;
  const taskId = readText(wire.taskId ?? wire.task_id, under(at, 'taskId'));
  if (taskId !== undefined) message.taskId = taskId;
  const extensions = readStrings(wire.extensions, under(at, 'extensions'));
  if (extensions !== undefined) message.extensions = extensions;
  const references = readStrings(
    wire.referenceTaskIds ?? wire.reference_task_ids,
    under(at, 'referenceTaskIds'),
  );
  if (references !== undefined) message.referenceTaskIds = references;
  const metadata = readMetadata(wire.metadata, under(at, 'metadata'));
  if (metadata !== undefined) message.metadata = metadata;
  return message;
}

function readRole(value: unknown, at: string, reading: Reading): Role {
  if (value === 'ROLE_USER' || value === 1 || value === 'user') return 'user';
  if (value === 'ROLE_AGENT' || value === 2 || value === 'agent') return 'agent';
  if (!reading.lenient) throw invalidField(at, 'must be ROLE_USER or ROLE_AGENT');
  reading.losses?.push({ path: at, kind: 'guessed', note: `took ${JSON.stringify(value)} for ROLE_AGENT` });
  return 'agent';
}

/** Writes a message as 1.0 has it. */
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
