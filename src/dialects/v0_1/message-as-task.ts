import type { Message } from '../../protocol/message.ts';
import { compatKey, readCompat } from '../compat-metadata.ts';
import { readMetadata, readObject, fieldPath, type WireObject } from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { readMessage, writeMessage } from './message.ts';

/** Writes a direct message as a completed task, because 0.1 has no direct messages. */
export function writeMessageAsTask(message: Message, losses: LossList): WireObject {
  losses?.push({
    path: 'message',
    kind: 'guessed',
    note: '0.1 has no direct messages; written as a completed task',
  });
  return {
    id: message.taskId ?? message.messageId,
    sessionId: message.contextId,
    status: { state: 'completed', message: writeMessage(message, 'message', losses) },
    metadata: { [compatKey]: { wrappedMessage: true } },
  };
}

/** Returns the direct message of a task or status event written by {@link writeMessageAsTask}. */
export function readMessageFromTask(wire: WireObject, at: string, mode: DecodeMode): Message | undefined {
  if (readCompat(readMetadata(wire.metadata, fieldPath(at, 'metadata')))?.wrappedMessage !== true)
    return undefined;
  const { message } = readObject(wire.status, fieldPath(at, 'status'));
  if (message === undefined || message === null) return undefined;
  return readMessage(message, fieldPath(at, 'status.message'), mode);
}
