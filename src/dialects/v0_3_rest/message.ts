import type { Message } from '../../protocol/message.ts';
import { withCompat } from '../compat-metadata.ts';
import { writePart } from './part.ts';

/**
 * Writes a message in the 0.3 protocol buffer format: parts are named `content`, and `referenceTaskIds`, which it lacks,
 * are stored in the metadata.
 */
export function writeMessage(message: Message): unknown {
  const { referenceTaskIds } = message;
  return {
    messageId: message.messageId,
    contextId: message.contextId,
    taskId: message.taskId,
    role: message.role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT',
    content: message.parts.map(writePart),
    metadata:
      referenceTaskIds === undefined ? message.metadata : withCompat(message.metadata, { referenceTaskIds }),
    extensions: message.extensions,
  };
}
