import type { Metadata, Part } from './part.ts';

/** Who speaks. */
export type Role = 'user' | 'agent';

/** One turn of a conversation. */
export interface Message {
  /** Made by the sender and unique for it; a repeated id is the same message sent again. */
  messageId: string;
  role: Role;
  parts: Part[];
  /** The conversation it belongs to. */
  contextId?: string;
  /** The task it continues. */
  taskId?: string;
  /** URIs of the extensions it uses. */
  extensions?: string[];
  /** Other tasks it speaks of. */
  referenceTaskIds?: string[];
  metadata?: Metadata;
}
