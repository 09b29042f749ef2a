import { batch, computed, effect, signal } from '@preact/signals';
import type {
  ChatEvent,
  ChatInput,
  ConversationSummary,
  KeptConversation,
} from '../../../../src/console/console-api.ts';
import { backoffDelay } from '../../../../src/primitives/backoff.ts';
import { sleep, systemClock } from '../../../../src/primitives/clock.ts';
import { newestResult } from '../../../../src/primitives/newest-result.ts';
import { formatVariant, type ProtocolVariant } from '../../../../src/protocol/card.ts';
import type { Part } from '../../../../src/protocol/part.ts';
import type { Task } from '../../../../src/protocol/task.ts';
import { type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { startTurn, applyEvents, type ChatTurn } from '../../components/task/chat-turn.ts';
import { selectedAgent } from '../../session/agents.ts';
import { ApiError, requestJson, streamJson } from '../../session/api-client.ts';
import { FrameBatcher } from '../../session/frame-batcher.ts';
import { type ChatConversation, readConversation, withTurn } from './conversation.ts';

/** Maximum number of conversations of all agents; the server keeps as many. */
const maxConversations = 100;

/** All conversations, newest first. The server keeps them. */
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

/** Abort controllers of the turns that the page follows. */
const followed = new Map<string, AbortController>();

/** Sends a message in the open conversation and follows its events. */
export async function sendMessage(parts: readonly Part[]): Promise<void> {
  const agent = selectedAgent.peek();
  if (!agent) return;
  const { id: openId, isUnread } = currentConversation.peek() ?? {};
  if (openId !== undefined && isUnread) await readTurns(openId);
  const conversation = currentConversation.peek() ?? {
    id: crypto.randomUUID(),
    agentId: agent.id,
    turns: [],
  };
  const turn = startTurn(crypto.randomUUID(), parts, Date.now(), conversation.waiting?.status);
  const saying: ChatInput = {
    parts,
    stream: isStreamingPreferred.peek() && agent.isStreaming,
    ...(conversation.waiting && { taskId: conversation.waiting.id }),
    ...(conversation.contextId !== undefined && { contextId: conversation.contextId }),
    ...(selectedVariant.peek() && { variant: selectedVariant.peek() }),
    conversation: { id: conversation.id, turn: turn.id },
  };
  batch(() => {
    keep(withTurn(conversation, turn));
    openConversation(agent.id, conversation.id);
  });
  // The stream of the question may still be open; events of the reply belong to this turn only.
  if (conversation.waiting) followed.get(conversation.turns.at(-1)?.id ?? '')?.abort();
  const path = `agents/${encodeURIComponent(agent.id)}/messages`;
  await followTurn(conversation.id, turn, (signal) =>
    streamJson<ChatEvent>(path, { method: 'POST', body: saying, signal }),
  );
}

/** Follows a turn that already runs on the server, from its first event. */
function attachToTurn(conversationId: string, turn: ChatTurn): Promise<void> {
  return followTurn(conversationId, turn, undefined);
}

/** Reads the events of a turn. After an interruption it attaches again, because the server continues the turn. */
async function followTurn(
  conversationId: string,
  { id, input, at, question }: ChatTurn,
  send: ((signal: AbortSignal) => AsyncGenerator<ChatEvent>) | undefined,
): Promise<void> {
  const batcher = new FrameBatcher<ChatEvent>((events) => applyToTurn(conversationId, id, events));
  const abort = new AbortController();
  const { signal } = abort;
  followed.set(id, abort);
  const path = `${pathOf(conversationId)}/turns/${encodeURIComponent(id)}/events`;
  try {
    for (let attempts = 0; ; attempts++) {
      const isFirst = attempts === 0 && send !== undefined;
      // Another stream has all events from the start.
      let mustRestart = !isFirst;
      try {
        for await (const event of isFirst ? send(signal) : streamJson<ChatEvent>(path, { signal })) {
          if (mustRestart) replaceTurn(conversationId, startTurn(id, input, at, question));
          mustRestart = false;
          batcher.add(event);
          if (event.kind === 'done' || event.kind === 'error') return;
        }
      } catch (error) {
        if (signal.aborted) {
          batcher.add({ kind: 'done' });
          return;
        }
        if (error instanceof ApiError && (isFirst || error.status !== 0)) {
          batcher.add({ kind: 'error', ...toDisplayError(error) });
          return;
        }
      }
      batcher.flush();
      await sleep(systemClock, backoffDelay(attempts, reattachBackoff), signal).catch(() => {});
    }
  } finally {
    followed.delete(id);
    batcher.flush();
  }
}

const reattachBackoff = { minDelay: 300, maxDelay: 10_000, jitter: 'none' } as const;

const pathOf = (conversationId: string): string => `conversations/${encodeURIComponent(conversationId)}`;

/** Stops waiting for an answer, on the server too. */
async function stopTurn(conversation: ChatConversation, turn: ChatTurn): Promise<void> {
  const path = `${pathOf(conversation.id)}/turns/${encodeURIComponent(turn.id)}`;
  await requestJson(path, { method: 'DELETE' }).catch(() => followed.get(turn.id)?.abort());
}

/** Cancels the task of a turn; without a task, aborts the request. */
export async function cancelTurn(conversation: ChatConversation, turn: ChatTurn): Promise<void> {
  if (!turn.task) return stopTurn(conversation, turn);
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
  return undefined;
}

function replaceTurn(conversationId: string, turn: ChatTurn): void {
  update(conversationId, (before) => withTurn(before, turn));
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

/** Error of reading, renaming or deleting conversations. */
export const conversationError = signal<DisplayError | undefined>(undefined);

async function attempt(work: () => Promise<void>): Promise<void> {
  conversationError.value = undefined;
  try {
    await work();
  } catch (error) {
    conversationError.value = toDisplayError(error);
  }
}

const requestConversations = newestResult(() => requestJson<ConversationSummary[]>('conversations'));

/** Loads the list of conversations. Those that the page already shows stay as they are. */
export function loadConversations(): Promise<void> {
  return attempt(async () => {
    const summaries = await requestConversations();
    const known = new Map(conversations.peek().map((each) => [each.id, each]));
    const listed = summaries.map((kept): ChatConversation => {
      const before = known.get(kept.id);
      known.delete(kept.id);
      const { id, agentId } = kept;
      return before ? { ...before, kept } : { id, agentId, turns: [], kept, isUnread: true };
    });
    // A conversation that the server lost is not shown any more, except one that just starts.
    const starting = [...known.values()].filter(({ kept }) => !kept);
    conversations.value = [...starting, ...listed].slice(0, maxConversations);
  });
}

/** Loads the turns of a conversation and attaches to those that still run. */
function readTurns(id: string): Promise<void> {
  return attempt(async () => {
    const kept = await requestJson<KeptConversation>(pathOf(id));
    const before = conversations.peek().find((each) => each.id === id);
    if (!before?.isUnread || !before.kept) return;
    keep(readConversation(kept, before.kept));
    for (const { id: turnId, isRunning } of kept.turns) {
      const turn = conversations
        .peek()
        .find((each) => each.id === id)
        ?.turns.find((each) => each.id === turnId);
      if (isRunning && turn) void attachToTurn(id, turn);
    }
  });
}

// The open conversation needs its turns.
effect(() => {
  const { id, isUnread } = currentConversation.value ?? {};
  if (id !== undefined && isUnread) void readTurns(id);
});

/** Renames a conversation. */
export function renameConversation(id: string, name: string): Promise<void> {
  return attempt(async () => {
    await requestJson(pathOf(id), { method: 'POST', body: { name } });
    await loadConversations();
  });
}

/** Deletes a conversation; its tasks continue. */
export function deleteConversation(id: string): Promise<void> {
  return attempt(async () => {
    await requestJson(pathOf(id), { method: 'DELETE' });
    forget(({ id: each }) => each === id);
    await loadConversations();
  });
}

/** Deletes all conversations with all agents. */
export function clearConversations(): Promise<void> {
  return attempt(async () => {
    await requestJson('conversations', { method: 'DELETE' });
    forget(() => true);
    await loadConversations();
  });
}

function forget(isGone: (conversation: ChatConversation) => boolean): void {
  for (const { turns } of conversations.peek().filter(isGone))
    for (const { id } of turns) followed.get(id)?.abort();
  conversations.value = conversations.peek().filter((each) => !isGone(each));
}
