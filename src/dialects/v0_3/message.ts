import { invalidField } from '../../protocol/errors.ts';
import type { Message, Role } from '../../protocol/message.ts';
import { compatOf, withoutCompat } from '../compat-metadata.ts';
import { readMetadata, readName, readObject, readStrings, readText, under } from '../field-readers.ts';
import type { Reading } from '../translation-loss.ts';
import { readParts, writePart } from './part.ts';

/**
 * Reads a message in either form of 0.3. Nobody insists on `kind`, and the list of parts may be called `content`, as
 * the protocol buffers call it.
 */
export function readMessage(value: unknown, at: string, reading: Reading): Message {
  const wire = readObject(value, at);
  const message: Message = {
    messageId: readName(wire.messageId ?? wire.message_id, under(at, 'messageId')),
    role: readRole(wire.role, at, reading),
    parts: readParts(wire.parts ?? wire.content, under(at, 'parts'), reading),
  };
  const contextId = readText(wire.contextId ?? wire.context_id, under(at, 'contextId'));
  if (contextId !== undefined) message.contextId = contextId;
  const taskId = readText(wire.taskId ?? wire.task_id, under(at, 'taskId'));
  if (taskId !== undefined) message.taskId = taskId;
  const extensions = readStrings(wire.extensions, under(at, 'extensions'));
  if (extensions !== undefined) message.extensions = extensions;
  const metadata = readMetadata(wire.metadata, under(at, 'metadata'));
  const carried = compatOf(metadata)?.referenceTaskIds;
  const references = readStrings(
    wire.referenceTaskIds ?? wire.reference_task_ids ?? carried,
    under(at, 'referenceTaskIds'),
  );
  if (references !== undefined) message.referenceTaskIds = references;
  const own = carried === undefined ? metadata : withoutCompat(metadata, ['referenceTaskIds']);
  if (own !== undefined) message.metadata = own;
  return message;
}

function readRole(value: unknown, at: string, reading: Reading): Role {
  if (value === 'user' || value === 'ROLE_USER' || value === 1) return 'user';
  if (value === 'agent' || value === 'ROLE_AGENT' || value === 2) return 'agent';
  if (!reading.lenient) throw invalidField(under(at, 'role'), 'must be user or agent');
  reading.losses?.push({
    path: under(at, 'role'),
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
