import { copyJson } from '../../primitives/json.ts';
import type { Message } from '../../protocol/message.ts';
import { isTerminalOrInterrupted, type Task } from '../../protocol/task.ts';
import { messageSize } from '../../store/content-size.ts';
import type { TaskStore } from '../../store/task-store.ts';

/** Limits of `ProcessContext.history()`. */
export interface HistoryLimits {
  /** Maximum number of messages. @defaultValue 100 */
  maxMessages?: number;
  /** Approximate maximum size of all messages, in bytes; a character counts as one byte. @defaultValue 1 MiB */
  maxBytes?: number;
}

/** The message that a process function processes. */
export interface CurrentTurn {
  readonly owner: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly messageId: string;
}

/** Reads the earlier turns of a context. */
export interface ContextHistory {
  readHistory(turn: CurrentTurn, limits: HistoryLimits): Promise<Message[]>;
}

/** Tasks that are read at once: a page of large tasks must fit into memory. */
const pageSize = 20;

/**
 * Returns the messages of a context before the current one, oldest first: those of the tasks of the same owner that have
 * ended or wait for input, and those of the current task. An artifact becomes a message of the agent. If there are more
 * than the limits allow, the oldest are left out.
 */
export async function readContextHistory(
  taskStore: TaskStore,
  { owner, contextId, taskId, messageId }: CurrentTurn,
  { maxMessages = 100, maxBytes = 1_048_576 }: HistoryLimits,
): Promise<Message[]> {
  const newestFirst: Message[] = [];
  let bytes = 0;
  let tasks = 0;
  for await (const task of tasksOf(taskStore, owner, contextId)) {
    // Running tasks contribute no messages, so their number is limited separately.
    if (tasks++ > maxMessages) break;
    const isCurrent = task.id === taskId;
    if (!isCurrent && !isTerminalOrInterrupted(task.status.state)) continue;
    for (const message of (isCurrent ? turnsBefore(task, messageId) : allTurns(task)).toReversed()) {
      bytes += messageSize(message);
      if (newestFirst.length >= maxMessages || bytes > maxBytes) return newestFirst.toReversed();
      newestFirst.push(copyJson(message));
    }
  }
  return newestFirst.toReversed();
}

/** Yields the tasks of a context, newest status first. */
async function* tasksOf(taskStore: TaskStore, owner: string, contextId: string): AsyncGenerator<Task> {
  let pageToken = '';
  do {
    const request = { contextId, pageSize, includeArtifacts: true, ...(pageToken !== '' && { pageToken }) };
    const page = await taskStore.list(owner, request);
    yield* page.tasks;
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
}

function allTurns(task: Task): Message[] {
  const { history = [], status } = task;
  return [...history, ...artifactMessages(task), ...(status.message ? [status.message] : [])];
}

/**
 * Returns the turns of the current task before the message, which may not be persisted yet. The artifacts are output of
 * earlier turns only if there were some.
 */
function turnsBefore(task: Task, messageId: string): Message[] {
  const { history = [] } = task;
  const index = history.findLastIndex((message) => message.messageId === messageId);
  if (index < 0) return allTurns(task);
  const earlier = history.slice(0, index);
  return earlier.length === 0 ? [] : [...earlier, ...artifactMessages(task)];
}

function artifactMessages({ id: taskId, contextId, artifacts = [] }: Task): Message[] {
  return artifacts.map(({ artifactId, parts, metadata }) => ({
    messageId: artifactId,
    role: 'agent',
    parts,
    contextId,
    taskId,
    ...(metadata && { metadata }),
  }));
}
