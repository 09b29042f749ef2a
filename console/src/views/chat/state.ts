import { batch, computed, signal } from '@preact/signals';
import type { ChatEvent, Saying, Way } from '../../../../src/console/console-api.ts';
import type { Part } from '../../../../src/protocol/part.ts';
import type { Task } from '../../../../src/protocol/task.ts';
import { troubleOf } from '../../components/error-note.tsx';
import { beginTurn, hear, type Turn } from '../../components/task/chat-turn.ts';
import { chosen } from '../../session/agents.ts';
import { call, follow } from '../../session/api-client.ts';
import { PerFrame } from '../../session/frame-batcher.ts';
import { type Conversation, withTurn } from './conversation.ts';

/** How many conversations are kept of all agents together. */
const maxConversations = 50;

/** All conversations, the newest first. They are kept as long as the page is open. */
const conversations = signal<readonly Conversation[]>([]);

/** The conversation that is open, of each agent. */
const open = signal<Readonly<Record<string, string>>>({});

/** The conversations with the chosen agent. */
export const ours = computed(() => conversations.value.filter(({ agentId }) => agentId === chosen.value?.id));

/** The conversation that is open; undefined before anything was said. */
export const current = computed(() => {
  const id = open.value[chosen.value?.id ?? ''];
  return id === undefined ? ours.value[0] : ours.value.find((each) => each.id === id);
});

/** The way that is taken, as `1.0/JSONRPC`; the first of the agent when it has no such way. */
export const wayWish = signal('');
export const isStreamWished = signal(true);

/** Writes a way as it stands in a query. */
export const wayText = ({ version, transport }: Way): string => `${version}/${transport}`;

/** The way that will be taken. */
export const way = computed<Way | undefined>(() => {
  const ways = chosen.value?.ways ?? [];
  return ways.find((each) => wayText(each) === wayWish.value) ?? ways[0];
});

/** Opens a conversation. */
export function openConversation(agentId: string, id: string): void {
  open.value = { ...open.peek(), [agentId]: id };
}

/** Opens an empty page; the conversation begins with what is said. */
export function startAnew(agentId: string): void {
  openConversation(agentId, '');
}

function keep(conversation: Conversation): void {
  const others = conversations.peek();
  const at = others.findIndex(({ id }) => id === conversation.id);
  conversations.value =
    at < 0 ? [conversation, ...others].slice(0, maxConversations) : others.with(at, conversation);
}

function update(id: string, change: (conversation: Conversation) => Conversation): void {
  const conversation = conversations.peek().find((each) => each.id === id);
  if (conversation) keep(change(conversation));
}

/** What ends the following of each turn that runs. */
const followed = new Map<string, AbortController>();

/** Says something to the chosen agent, in the conversation that is open, and follows what becomes of it. */
export async function say(parts: readonly Part[]): Promise<void> {
  const agent = chosen.peek();
  if (!agent) return;
  const conversation = current.peek() ?? { id: crypto.randomUUID(), agentId: agent.id, turns: [] };
  const saying: Saying = {
    parts,
    stream: isStreamWished.peek() && agent.isStreaming,
    ...(conversation.waiting && { taskId: conversation.waiting.id }),
    ...(conversation.contextId !== undefined && { contextId: conversation.contextId }),
    ...(way.peek() && { way: way.peek() }),
  };
  const turn = beginTurn(crypto.randomUUID(), parts, Date.now(), conversation.waiting?.status);
  batch(() => {
    keep(withTurn(conversation, turn));
    openConversation(agent.id, conversation.id);
  });
  // The stream of the question may still be open; what comes of the answer belongs to this turn alone.
  if (conversation.waiting) followed.get(conversation.turns.at(-1)?.id ?? '')?.abort();
  const heard = new PerFrame<ChatEvent>((events) => tellTurn(conversation.id, turn.id, events));
  const abort = new AbortController();
  followed.set(turn.id, abort);
  try {
    const path = `agents/${encodeURIComponent(agent.id)}/messages`;
    let last: ChatEvent | undefined;
    for await (const event of follow<ChatEvent>(path, {
      method: 'POST',
      body: saying,
      signal: abort.signal,
    })) {
      heard.add(event);
      last = event;
    }
    // A stream that breaks off has no last word of its own.
    if (last?.kind !== 'done' && last?.kind !== 'error') {
      heard.add({ kind: 'error', reason: 'BROKEN_OFF', message: 'The stream ended without saying why.' });
    }
  } catch (error) {
    heard.add(abort.signal.aborted ? { kind: 'done' } : { kind: 'error', ...troubleOf(error) });
  } finally {
    followed.delete(turn.id);
    heard.flush();
  }
}

/** Ends the task of a turn; where there is no task yet, ends the waiting for it. */
export async function cancel(conversation: Conversation, turn: Turn): Promise<void> {
  if (!turn.task) {
    followed.get(turn.id)?.abort();
    return;
  }
  const asked = way.peek() ? `?way=${encodeURIComponent(wayText(way.peek() as Way))}` : '';
  const path = `agents/${encodeURIComponent(conversation.agentId)}/tasks/${encodeURIComponent(turn.task.id)}/cancel${asked}`;
  try {
    const task = await call<Task>(path, { method: 'POST' });
    // Whoever follows hears it from the stream; whoever waits does not.
    if (!followed.has(turn.id)) tellTurn(conversation.id, turn.id, [{ kind: 'answer', answer: task }]);
  } catch (error) {
    const { reason, message } = troubleOf(error);
    update(conversation.id, (before) => {
      const now = before.turns.find(({ id }) => id === turn.id);
      return now ? withTurn(before, { ...now, trouble: { reason, message } }) : before;
    });
  }
}

function tellTurn(conversationId: string, turnId: string, events: readonly ChatEvent[]): void {
  update(conversationId, (before) => {
    const turn = before.turns.find(({ id }) => id === turnId);
    return turn ? withTurn(before, hear(turn, events)) : before;
  });
}

/** Leaves a question open and begins something new in the same conversation. */
export function leaveQuestion(conversation: Conversation): void {
  update(conversation.id, ({ waiting: _left, ...rest }) => rest);
}
