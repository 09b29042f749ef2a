import type { Message } from '../../protocol/message.ts';
import { compatKey, readCompat } from '../compat-metadata.ts';
import { readMetadata, readObject, fieldPath, type WireObject } from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { readMessage, writeMessage } from './message.ts';

/** Writes a direct answer as the completed task that 0.1 has instead; the message says which task, if any. */
export function writeMessageAsTask(message: Message, losses: LossList): WireObject {
  losses?.push({
    path: 'message',
    kind: 'guessed',
    note: '0.1 answers with tasks only; a completed task stands for the message',
  });
  return {
    id: message.taskId ?? message.messageId,
    sessionId: message.contextId,
    status: { state: 'completed', message: writeMessage(message, 'message', losses) },
    metadata: { [compatKey]: { wrappedMessage: true } },
  };
}

/** The direct answer inside a task or status event that stands for one. */
export function readMessageFromTask(wire: WireObject, at: string, reading: DecodeMode): Message | undefined {
  if (readCompat(readMetadata(wire.metadata, fieldPath(at, 'metadata')))?.wrappedMessage !== true)
    return undefined;
  const { message } = readObject(wire.status, fieldPath(at, 'status'));
  if (message === undefined || message === null) return undefined;
  return readMessage(message, fieldPath(at, 'status.message'), reading);
}
