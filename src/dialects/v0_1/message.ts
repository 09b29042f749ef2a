import { invalidField } from '../../protocol/errors.ts';
import type { Message, Role } from '../../protocol/message.ts';
import type { Metadata } from '../../protocol/part.ts';
import { type CompatRecord, compatKey, readCompat, withoutCompat } from '../compat-metadata.ts';
import { readMetadata, readObject, fieldPath } from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { isDerivedMessageId, deriveMessageId } from './message-id.ts';
import { readParts, writeParts } from './part.ts';

/** Ids of the task that contains a message; the message omits them. */
export interface MessageScope {
  taskId: string;
  contextId: string;
}

const ids = ['messageId', 'taskId', 'contextId'] as const;
const lists = ['extensions', 'referenceTaskIds'] as const;
const carriedNames = [...ids, ...lists];

/**
 * Reads a 0.1 message. Fields that 0.1 lacks are read from the metadata.
 *
 * @param newMessageId - generates a missing id. Without it, the id is derived from the content and `taskId`, so that a
 * message of a task has the same id each time the task is read.
 */
export function readMessage(
  value: unknown,
  at: string,
  mode: DecodeMode,
  { taskId = '', newMessageId }: { taskId?: string; newMessageId?: () => string } = {},
): Message {
  const wire = readObject(value, at);
  const message: Message = {
    messageId: '',
    role: readRole(wire.role, fieldPath(at, 'role'), mode),
    parts: readParts(wire.parts, fieldPath(at, 'parts'), mode),
  };
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const carried = readCompat(metadata);
  const ownMetadata = carried ? withoutCompat(metadata, carriedNames) : metadata;
  if (ownMetadata !== undefined) message.metadata = ownMetadata;
  if (carried) restore(message, carried);
  if (message.messageId === '') message.messageId = newMessageId?.() ?? deriveMessageId(taskId, message);
  return message;
}

/** Restores carried fields of the right type: the record is untrusted input. */
function restore(message: Message, carried: CompatRecord): void {
  for (const name of ids) {
    const id = carried[name];
    if (typeof id === 'string' && id !== '') message[name] = id;
  }
  for (const name of lists) {
    const list = carried[name];
    if (Array.isArray(list) && list.every((each) => typeof each === 'string')) message[name] = list;
  }
}

/** Reads a message of a task. */
export function readTaskMessage(value: unknown, at: string, mode: DecodeMode, within: MessageScope): Message {
  const message = readMessage(value, at, mode, { taskId: within.taskId });
  message.taskId ??= within.taskId;
  if (within.contextId !== '') message.contextId ??= within.contextId;
  return message;
}

function readRole(value: unknown, at: string, mode: DecodeMode): Role {
  if (value === 'user' || value === 'agent') return value;
  if (!mode.lenient) throw invalidField(at, 'must be user or agent');
  mode.losses?.push({ path: at, kind: 'guessed', note: `read ${JSON.stringify(value)} as agent` });
  return 'agent';
}

/** Writes a 0.1 message, on its own or within a task. */
export function writeMessage(
  message: Message,
  at: string,
  losses: LossList,
  within: MessageScope = { taskId: '', contextId: '' },
): unknown {
  return {
    role: message.role,
    parts: writeParts(message.parts, losses ? fieldPath(at, 'parts') : at, losses),
    metadata: carry(message, at, losses, within),
  };
}

/** Returns the metadata of a message with the fields that 0.1 lacks. */
function carry(message: Message, at: string, losses: LossList, within: MessageScope): Metadata | undefined {
  const { messageId, taskId, contextId, extensions, referenceTaskIds } = message;
  const carried: CompatRecord = {};
  let any = false;
  if (!isDerivedMessageId(within.taskId, message)) any = put(carried, 'messageId', messageId, at, losses);
  if (taskId && taskId !== within.taskId) any = put(carried, 'taskId', taskId, at, losses);
  if (contextId && contextId !== within.contextId) any = put(carried, 'contextId', contextId, at, losses);
  if (extensions) any = put(carried, 'extensions', extensions, at, losses);
  if (referenceTaskIds) any = put(carried, 'referenceTaskIds', referenceTaskIds, at, losses);
  if (!any) return message.metadata;
  return { ...message.metadata, [compatKey]: { ...readCompat(message.metadata), ...carried } };
}

function put(carried: CompatRecord, name: string, value: unknown, at: string, losses: LossList): true {
  carried[name] = value;
  losses?.push({
    path: fieldPath(at, name),
    kind: 'dropped',
    note: `0.1 messages have no ${name}; stored in the metadata`,
  });
  return true;
}
