import type { Message } from '../../protocol/message.ts';
import { compatKey, compatOf } from '../compat-metadata.ts';
import { readMetadata, readObject, under, type Wire } from '../field-readers.ts';
import type { Losses, Reading } from '../translation-loss.ts';
import { readMessage, writeMessage } from './message.ts';

/** Writes a direct answer as the completed task that 0.1 has instead; the message says which task, if any. */
export function writeWrapped(message: Message, losses: Losses): Wire {
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
export function readWrapped(wire: Wire, at: string, reading: Reading): Message | undefined {
  if (compatOf(readMetadata(wire.metadata, under(at, 'metadata')))?.wrappedMessage !== true) return undefined;
  const { message } = readObject(wire.status, under(at, 'status'));
  if (message === undefined || message === null) return undefined;
  return readMessage(message, under(at, 'status.message'), reading);
}
