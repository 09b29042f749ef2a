/**
 * Identity of requests. A broker may deliver a message several times; equal messages, in contrast, may be different
 * turns of a conversation.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { uuidV5 } from '../../dialects/v0_1/message-id.ts';
import { compositeKey } from '../../primitives/composite-key.ts';
import type { MeshMessage } from '../brokers/broker-connection.ts';
import type { RequestIdentity } from './response-cache.ts';

/** Returns a UUID that is the same for all deliveries of a message, in all processes, if its publisher gave it an id. */
export function deliveryUuid({ id }: MeshMessage, purpose: string): string {
  return id === undefined ? crypto.randomUUID() : uuidV5(`${purpose}\n${id}`);
}

/**
 * Identifies a send request. The message id in it is the same in a retransmission, so that equal requests with one are
 * duplicates. A request without a message id is a duplicate only if the broker delivers it again.
 */
export function identifySend(
  user: string,
  { id, payload, redelivered }: MeshMessage,
  hasMessageId: boolean,
): RequestIdentity {
  if (!hasMessageId && id !== undefined)
    return { key: compositeKey('request', user, 'delivery', id), isNew: false };
  const hash = createHash('sha256').update(payload).digest('base64');
  return { key: compositeKey('request', user, 'content', hash), isNew: !hasMessageId && !redelivered };
}
