import type { Metadata, Part } from './part.ts';

/** Sender of a message. */
export type Role = 'user' | 'agent';

/** One turn of a conversation. */
export interface Message {
  /** Chosen by the sender and unique for it. A message with a repeated id is a retransmission. */
  messageId: string;
  role: Role;
  parts: Part[];
  /** Conversation of the message. */
  contextId?: string;
  /** Existing task that the message continues. */
  taskId?: string;
  /** URIs of the extensions that the message uses. */
  extensions?: string[];
  /** Related tasks. */
  referenceTaskIds?: string[];
  metadata?: Metadata;
}
