import { textOf } from '../../../../src/protocol/part.ts';
import { type Artifact, isInterrupted, isTerminal, type Task } from '../../../../src/protocol/task.ts';
import type { ConversationSummary, KeptConversation, KeptTurn } from '../../../../src/console/console-api.ts';
import { applyEvents, startTurn, type ChatTurn } from '../../components/task/chat-turn.ts';

/** Turns of one conversation with an agent. */
export interface ChatConversation {
  readonly id: string;
  readonly agentId: string;
  readonly turns: readonly ChatTurn[];
  /** Assigned by the agent in its first response. */
  readonly contextId?: string;
  /** The interrupted task that waits for a reply of the user. */
  readonly waiting?: Task;
  /** What the server keeps of it. */
  readonly kept?: ConversationSummary;
  /** True if the turns are on the server only. */
  readonly isUnread?: boolean;
}

/** Computes a conversation from the events that the server kept. */
export function readConversation(kept: KeptConversation, summary: ConversationSummary): ChatConversation {
  const { id, agentId, turns } = kept;
  let conversation: ChatConversation = { id, agentId, turns: [], kept: summary };
  for (const turn of turns) conversation = withTurn(conversation, readTurn(turn, conversation.waiting));
  return conversation;
}

/** Computes a turn from its events. */
function readTurn({ id, input, at, taskId, events, omitted }: KeptTurn, waiting: Task | undefined): ChatTurn {
  const turn = startTurn(id, input, at, taskId === undefined ? undefined : waiting?.status);
  return { ...applyEvents(turn, events), ...(omitted > 0 && { omitted }) };
}

/** Replaces the turn with the same id, or appends it. */
export function withTurn(conversation: ChatConversation, turn: ChatTurn): ChatConversation {
  const at = conversation.turns.findIndex(({ id }) => id === turn.id);
  const turns = at < 0 ? [...conversation.turns, turn] : conversation.turns.with(at, turn);
  const contextId = turn.task?.contextId ?? turn.message?.contextId ?? conversation.contextId;
  const isLast = turns.at(-1) === turn;
  const waits = turn.task && isInterrupted(turn.task.status.state) && !turn.error;
  const { waiting: before, ...rest } = conversation;
  const waiting = isLast ? (waits ? turn.task : undefined) : before;
  return {
    ...rest,
    turns,
    ...(contextId !== undefined && contextId !== '' && { contextId }),
    ...(waiting && { waiting }),
  };
}

/** The artifacts of a turn: created or changed in it, without those of earlier turns. */
export function artifactsOf(conversation: ChatConversation, turn: ChatTurn): readonly Artifact[] {
  const artifacts = turn.task?.artifacts ?? [];
  const at = conversation.turns.findIndex(({ id }) => id === turn.id);
  const before = conversation.turns.slice(0, at).filter(({ task }) => task && task.id === turn.task?.id);
  const known = new Map(
    before.flatMap(({ task }) => (task?.artifacts ?? []).map((each) => [each.artifactId, each.parts.length])),
  );
  return artifacts.filter(({ artifactId, parts }) => {
    const shown = known.get(artifactId);
    if (shown === undefined) return true;
    return turn.reducer ? turn.touched.has(artifactId) : shown !== parts.length;
  });
}

/** Returns true for unnamed text, which is a chat message rather than a file. */
export function isPlainAnswer({ name, description, parts }: Artifact): boolean {
  if (name !== undefined || description !== undefined) return false;
  return parts.every(
    (part) =>
      'text' in part && part.filename === undefined && (part.mediaType ?? 'text/plain') === 'text/plain',
  );
}

/** Returns true if the task of a turn can be canceled, according to its last turn. */
export function isCancelable({ turns }: ChatConversation, turn: ChatTurn): boolean {
  if (!turn.task || isTerminal(turn.task.status.state)) return false;
  const last = turns.findLast(({ task }) => task?.id === turn.task?.id);
  // A pending reply has no task yet.
  return last?.id === turn.id && (turns.at(-1)?.id === turn.id || turns.at(-1)?.isRunning !== true);
}

/** The title of a conversation: that of the user, or its first message. */
export function titleOf({ turns: [first], kept }: ChatConversation): string {
  if (kept) return kept.title;
  if (!first) return 'New conversation';
  const text = textOf(first.input).trim().replaceAll(/\s+/g, ' ');
  if (text !== '') return text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return first.input.find(({ filename }) => filename)?.filename ?? 'Data';
}
