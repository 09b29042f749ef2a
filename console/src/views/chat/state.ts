import { batch, computed, signal } from '@preact/signals';
import type { ChatEvent, ChatInput } from '../../../../src/console/console-api.ts';
import { formatVariant, type ProtocolVariant } from '../../../../src/protocol/card.ts';
import type { Part } from '../../../../src/protocol/part.ts';
import type { Task } from '../../../../src/protocol/task.ts';
import { toDisplayError } from '../../components/error-note.tsx';
import { startTurn, applyEvents, type ChatTurn } from '../../components/task/chat-turn.ts';
import { selectedAgent } from '../../session/agents.ts';
import { requestJson, streamJson } from '../../session/api-client.ts';
import { FrameBatcher } from '../../session/frame-batcher.ts';
import { type ChatConversation, withTurn } from './conversation.ts';

/** Maximum number of conversations of all agents. */
const maxConversations = 50;

/** All conversations, newest first, kept while the page is open. */
const conversations = signal<readonly ChatConversation[]>([]);

/** The open conversation of each agent. */
const open = signal<Readonly<Record<string, string>>>({});

/** The conversations with the selected agent. */
export const agentConversations = computed(() =>
  conversations.value.filter(({ agentId }) => agentId === selectedAgent.value?.id),
);

/** The open conversation; undefined before the first message. */
export const currentConversation = computed(() => {
  const id = open.value[selectedAgent.value?.id ?? ''];
  return id === undefined
    ? agentConversations.value[0]
    : agentConversations.value.find((each) => each.id === id);
});

/** The selected variant, as `1.0/JSONRPC`; the first variant of the agent if it does not offer it. */
export const variantPreference = signal('');
export const isStreamingPreferred = signal(true);

/** The variant of the next message. */
export const selectedVariant = computed<ProtocolVariant | undefined>(() => {
  const variants = selectedAgent.value?.variants ?? [];
  return variants.find((each) => formatVariant(each) === variantPreference.value) ?? variants[0];
});

export function openConversation(agentId: string, id: string): void {
  open.value = { ...open.peek(), [agentId]: id };
}

/** Opens an empty page; the conversation starts with the first message. */
export function startConversation(agentId: string): void {
  openConversation(agentId, '');
}

function keep(conversation: ChatConversation): void {
  const others = conversations.peek();
  const at = others.findIndex(({ id }) => id === conversation.id);
  conversations.value =
    at < 0 ? [conversation, ...others].slice(0, maxConversations) : others.with(at, conversation);
}

function update(id: string, change: (conversation: ChatConversation) => ChatConversation): void {
  const conversation = conversations.peek().find((each) => each.id === id);
  if (conversation) keep(change(conversation));
}

/** Abort controllers of the running turns. */
const followed = new Map<string, AbortController>();

/** Sends a message in the open conversation and subscribes to its events. */
export async function sendMessage(parts: readonly Part[]): Promise<void> {
  const agent = selectedAgent.peek();
  if (!agent) return;
  const conversation = currentConversation.peek() ?? {
    id: crypto.randomUUID(),
    agentId: agent.id,
    turns: [],
  };
  const saying: ChatInput = {
    parts,
    stream: isStreamingPreferred.peek() && agent.isStreaming,
    ...(conversation.waiting && { taskId: conversation.waiting.id }),
    ...(conversation.contextId !== undefined && { contextId: conversation.contextId }),
    ...(selectedVariant.peek() && { variant: selectedVariant.peek() }),
  };
  const turn = startTurn(crypto.randomUUID(), parts, Date.now(), conversation.waiting?.status);
  batch(() => {
    keep(withTurn(conversation, turn));
    openConversation(agent.id, conversation.id);
  });
  // The stream of the question may still be open; events of the reply belong to this turn only.
  if (conversation.waiting) followed.get(conversation.turns.at(-1)?.id ?? '')?.abort();
  const batcher = new FrameBatcher<ChatEvent>((events) => applyToTurn(conversation.id, turn.id, events));
  const abort = new AbortController();
  followed.set(turn.id, abort);
  try {
    const path = `agents/${encodeURIComponent(agent.id)}/messages`;
    let last: ChatEvent | undefined;
    for await (const event of streamJson<ChatEvent>(path, {
      method: 'POST',
      body: saying,
      signal: abort.signal,
    })) {
      batcher.add(event);
      last = event;
    }
    // An interrupted stream has no final event.
    if (last?.kind !== 'done' && last?.kind !== 'error') {
      batcher.add({
        kind: 'error',
        reason: 'INTERRUPTED',
        message: 'The stream ended without a final event.',
      });
    }
  } catch (error) {
    batcher.add(abort.signal.aborted ? { kind: 'done' } : { kind: 'error', ...toDisplayError(error) });
  } finally {
    followed.delete(turn.id);
    batcher.flush();
  }
}

/** Cancels the task of a turn; without a task, aborts the request. */
export async function cancelTurn(conversation: ChatConversation, turn: ChatTurn): Promise<void> {
  if (!turn.task) {
    followed.get(turn.id)?.abort();
    return;
  }
  const query = selectedVariant.peek()
    ? `?variant=${encodeURIComponent(formatVariant(selectedVariant.peek() as ProtocolVariant))}`
    : '';
  const path = `agents/${encodeURIComponent(conversation.agentId)}/tasks/${encodeURIComponent(turn.task.id)}/cancel${query}`;
  try {
    const task = await requestJson<Task>(path, { method: 'POST' });
    // Streaming clients receive the canceled state from the stream; others do not.
    if (!followed.has(turn.id)) applyToTurn(conversation.id, turn.id, [{ kind: 'result', result: task }]);
  } catch (error) {
    const { reason, message } = toDisplayError(error);
    update(conversation.id, (before) => {
      const now = before.turns.find(({ id }) => id === turn.id);
      return now ? withTurn(before, { ...now, error: { reason, message } }) : before;
    });
  }
}

function applyToTurn(conversationId: string, turnId: string, events: readonly ChatEvent[]): void {
  update(conversationId, (before) => {
    const turn = before.turns.find(({ id }) => id === turnId);
    return turn ? withTurn(before, applyEvents(turn, events)) : before;
  });
}

/** Leaves a question unanswered and starts a new task in the same conversation. */
export function abandonQuestion(conversation: ChatConversation): void {
  update(conversation.id, ({ waiting: _left, ...rest }) => rest);
}
