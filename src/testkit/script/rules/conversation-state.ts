import type { ReceivedMessage } from '../../agent/response-plan.ts';

/** What the rules of a script remember of a conversation, by name. */
export type ConversationState = ReadonlyMap<string, unknown>;

/** One conversation, as far as a script has something to remember of it. */
export interface ScriptConversation {
  readonly state: Map<string, unknown>;
  /** How often each rule with a sequence has matched in it. */
  readonly matched: Map<object, number>;
}

/** A conversation of which nothing is known. */
export function createConversation(): ScriptConversation {
  return { state: new Map(), matched: new Map() };
}

/** What a conversation is known by. Two callers may use the same id and mean different conversations. */
export function conversationKey({ principal }: ReceivedMessage, contextId: string): string {
  return principal ? JSON.stringify([contextId, principal.id, principal.issuer]) : contextId;
}
