import type { Message } from '../../protocol/message.ts';
import { withCompat } from '../compat-metadata.ts';
import { writePart } from './part.ts';

/**
 * Writes a message as the protocol buffers of 0.3 have it: the parts are its `content`, and `referenceTaskIds`, which
 * they lack, are carried in the metadata.
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
