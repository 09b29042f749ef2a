import * as z from 'zod';
import { parseBoundedJson } from '../../primitives/json.ts';
import { A2AError } from '../../protocol/errors.ts';
import { textOf } from '../../protocol/part.ts';
import type { ConversationSummary, KeptConversation, KeptTurn } from '../console-api.ts';
import { ConversationTurn } from './conversation-turn.ts';
import type { SessionFolder } from './session-folder.ts';

/** Limits of stored conversations; the oldest are removed first. */
export const conversationLimits = {
  maxConversations: 100,
  maxTurns: 200,
  /** Characters of JSON of one conversation. */
  maxCharacters: 8 * 1_024 * 1_024,
  /** Characters of JSON of all conversations. */
  maxTotalCharacters: 64 * 1_024 * 1_024,
};

/** Milliseconds between two writes of a conversation. */
const writeDelay = 1_000;
const subfolder = 'conversations';
const formatVersion = 1;

/** The outer form of a file; the events are those that this console wrote. */
const fileSchema = z.object({
  format: z.literal('dragoman-conversation'),
  version: z.literal(formatVersion),
  id: z.string().regex(/^[\w-]{1,64}$/),
  agentId: z.string(),
  title: z.string().optional(),
  turns: z.array(
    z.object({
      id: z.string(),
      at: z.number(),
      input: z.array(z.looseObject({})),
      taskId: z.string().optional(),
      events: z.array(z.looseObject({ kind: z.enum(['event', 'result', 'error', 'done']) })),
      omitted: z.number(),
      isRunning: z.boolean(),
    }),
  ),
});

interface Conversation {
  readonly id: string;
  readonly agentId: string;
  title: string | undefined;
  turns: ConversationTurn[];
  /** The pending write. */
  timer?: NodeJS.Timeout | undefined;
  /** The last write that has begun. */
  writing?: Promise<unknown>;
}

/** Conversations of the console. They belong to the server: a turn continues when its page is closed or reloaded. */
export class Conversations {
  readonly #folder: SessionFolder;
  readonly #limits: typeof conversationLimits;
  /** Oldest change first. */
  readonly #conversations = new Map<string, Conversation>();
  #isClosed = false;

  constructor(folder: SessionFolder, limits: typeof conversationLimits = conversationLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /** Reads the files of an earlier run. Damaged ones are reported. */
  async load(): Promise<void> {
    for (const { path } of await this.#folder.list(subfolder)) {
      const text = await this.#folder.read(path, this.#limits.maxCharacters * 4);
      if (text === undefined) continue;
      try {
        const { id, agentId, title, turns } = fileSchema.parse(parseBoundedJson(text));
        const kept = (turns as unknown as KeptTurn[]).map((each) => new ConversationTurn(each));
        this.#conversations.set(id, { id, agentId, title, turns: kept });
      } catch (error) {
        this.#folder.reportDamage(
          path,
          error instanceof z.ZodError ? 'its form is unknown' : 'it is not JSON',
        );
      }
    }
    this.#evict();
  }

  /** Returns all conversations, newest first. */
  list(): ConversationSummary[] {
    return [...this.#conversations.values()].toReversed().map((each) => {
      const last = each.turns.at(-1);
      const state = last?.state;
      const { id, agentId } = each;
      return { id, agentId, title: titleOf(each), at: last?.at ?? 0, ...(state && { state }) };
    });
  }

  /** @throws {@link A2AError} `NOT_FOUND` */
  get(id: string): KeptConversation {
    const conversation = this.#find(id);
    const { agentId, turns } = conversation;
    return { id, agentId, title: titleOf(conversation), turns: turns.map((each) => each.toJSON()) };
  }

  /** @throws {@link A2AError} `NOT_FOUND` */
  turn(id: string, turnId: string): ConversationTurn {
    const turn = this.#find(id).turns.find((each) => each.id === turnId);
    if (!turn) throw new A2AError('NOT_FOUND', 'Message not found in the conversation');
    return turn;
  }

  /** Returns the unfinished turns of a conversation that no run of this console continues. */
  interruptedTurns(id: string): ConversationTurn[] {
    return this.#find(id).turns.filter((each) => each.isRunning && !this.#running.has(each));
  }

  readonly #running = new Set<ConversationTurn>();

  /** Starts a turn, in a new conversation if the id is not known. */
  start(
    ids: { id: string; turn: string },
    agentId: string,
    input: Pick<KeptTurn, 'input' | 'taskId'>,
  ): ConversationTurn {
    const { id } = ids;
    const conversation = this.#conversations.get(id) ?? { id, agentId, title: undefined, turns: [] };
    if (conversation.agentId !== agentId)
      throw new A2AError('CONFLICT', 'The conversation belongs to another agent');
    if (conversation.turns.some((each) => each.id === ids.turn))
      throw new A2AError('CONFLICT', 'The conversation already has this message');
    // The stream of a question may still be open; events after the reply belong to the new turn.
    for (const each of conversation.turns)
      if (input.taskId !== undefined && each.isRunning && each.taskId === input.taskId) each.stop.abort();
    const turn = new ConversationTurn({
      ...input,
      id: ids.turn,
      at: Date.now(),
      events: [],
      omitted: 0,
      isRunning: true,
    });
    conversation.turns.push(turn);
    // The newest is last.
    this.#conversations.delete(id);
    this.#conversations.set(id, conversation);
    this.#evict();
    return turn;
  }

  /**
   * Runs the work of a turn. When the console closes, the turn stays unfinished, so that it continues after a restart.
   *
   * @param work - adds events to the turn; never rejects.
   */
  run(id: string, turn: ConversationTurn, work: () => Promise<void>): void {
    this.#running.add(turn);
    this.#schedule(id);
    void work().finally(() => {
      this.#running.delete(turn);
      if (this.#isClosed) return;
      turn.end();
      this.#schedule(id);
    });
  }

  /** Adds an event to a turn and stores it soon. */
  async add(
    id: string,
    turn: ConversationTurn,
    event: Parameters<ConversationTurn['add']>[0],
  ): Promise<void> {
    if (this.#isClosed) return;
    this.#schedule(id);
    await turn.add(event);
  }

  /** @throws {@link A2AError} `NOT_FOUND` */
  rename(id: string, title: string): void {
    this.#find(id).title = title;
    this.#schedule(id);
  }

  /** Deletes a conversation. Its tasks continue. @throws {@link A2AError} `NOT_FOUND` */
  async remove(id: string): Promise<void> {
    const conversation = this.#find(id);
    clearTimeout(conversation.timer);
    this.#conversations.delete(id);
    for (const turn of conversation.turns) turn.stop.abort();
    await conversation.writing;
    await this.#folder.remove(fileOf(id));
  }

  /** Deletes all conversations, and damaged files. */
  async clear(): Promise<void> {
    for (const id of this.#conversations.keys()) await this.remove(id);
    for (const { path } of await this.#folder.list(subfolder)) await this.#folder.remove(path);
  }

  /** Writes everything and ends all streams. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const turn of this.#running) {
      turn.release();
      turn.stop.abort();
    }
    await Promise.all(
      [...this.#conversations.values()].map(async (each) => {
        if (each.timer === undefined) await each.writing;
        else await this.#write(each);
      }),
    );
  }

  #find(id: string): Conversation {
    const conversation = this.#conversations.get(id);
    if (!conversation) throw new A2AError('NOT_FOUND', 'Conversation not found');
    return conversation;
  }

  #schedule(id: string): void {
    const conversation = this.#conversations.get(id);
    if (!conversation || conversation.timer !== undefined || this.#folder.path === undefined) return;
    conversation.timer = setTimeout(() => void this.#write(conversation), writeDelay);
  }

  async #write(conversation: Conversation): Promise<void> {
    clearTimeout(conversation.timer);
    conversation.timer = undefined;
    this.#evict();
    const { id, agentId, title, turns } = conversation;
    if (!this.#conversations.has(id)) return;
    const content = { id, agentId, title, turns: turns.map((each) => each.toJSON()) };
    const redacted = this.#folder.redactor.redactDeep(content);
    const head = { format: 'dragoman-conversation', version: formatVersion };
    const text = `${JSON.stringify({ ...head, ...redacted })}\n`;
    conversation.writing = Promise.resolve(conversation.writing).then(() =>
      this.#folder.write(fileOf(id), text),
    );
    await conversation.writing;
  }

  /** Removes the oldest turns and conversations over the limits. */
  #evict(): void {
    const { maxConversations, maxTurns, maxCharacters, maxTotalCharacters } = this.#limits;
    let total = 0;
    for (const [index, conversation] of [...this.#conversations.values()].toReversed().entries()) {
      let size = 0;
      const first = conversation.turns.findLastIndex((turn, at) => {
        size += turn.size;
        return size > maxCharacters || conversation.turns.length - at > maxTurns;
      });
      // The newest turn stays.
      if (first >= 0)
        conversation.turns = conversation.turns.slice(Math.min(first + 1, conversation.turns.length - 1));
      total += Math.min(size, maxCharacters);
      if (index > 0 && (index >= maxConversations || total > maxTotalCharacters))
        void this.remove(conversation.id);
    }
  }
}

const fileOf = (id: string): string => `${subfolder}/${id}.json`;

/** The title of the user, or the beginning of the first message. */
function titleOf({ title, turns: [first] }: Conversation): string {
  if (title !== undefined) return title;
  if (!first) return 'New conversation';
  const text = textOf([...first.input])
    .trim()
    .replaceAll(/\s+/g, ' ');
  if (text !== '') return text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return first.input.find(({ filename }) => filename)?.filename ?? 'Data';
}
