import type { ReceivedMessage } from '../../agent/response-plan.ts';

/** Values that the rules of a script have set in a conversation. */
export type ConversationState = ReadonlyMap<string, unknown>;

/** State of one conversation. */
export interface ScriptConversation {
  readonly state: Map<string, unknown>;
  /** Number of matches per rule with a sequence. */
  readonly matched: Map<object, number>;
}

export function createConversation(): ScriptConversation {
  return { state: new Map(), matched: new Map() };
}

/** Returns the map key of a conversation. Principals are part of it: two clients may use the same context id. */
export function conversationKey({ principal }: ReceivedMessage, contextId: string): string {
  return principal ? JSON.stringify([contextId, principal.id, principal.issuer]) : contextId;
}
