import type { TaskStore, TaskLog } from '../../store/task-store.ts';
import { A2AError, invalidField, taskNotFound } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isTerminal, type Task } from '../../protocol/task.ts';

/** What a message is to the ledger: the beginning of a task, the next turn of one, or something it has heard before. */
export type MessageClass =
  | { kind: 'new'; taskId: string | undefined }
  /** The sequence number tells whether anything happened to the task since this was decided. */
  | { kind: 'next'; log: TaskLog; sequence: number }
  | { kind: 'again'; log: TaskLog };

/** The beginning of a task whose id nobody asked for. */
const begins: MessageClass = { kind: 'new', taskId: undefined };

/** Decides what a message is. A task that does not exist, is over or has another context refuses it. */
export function classifyMessage(
  ledger: TaskStore,
  owner: string,
  request: SendRequest,
): MessageClass | Promise<MessageClass> {
  const { message, clientTaskId } = request;
  const taskId = message.taskId ?? clientTaskId;
  if (taskId !== undefined) {
    const log = ledger.open(owner, taskId);
    return log instanceof Promise ? log.then((each) => settled(each, request)) : settled(log, request);
  }
  const known = ledger.findByMessageId(owner, message.messageId);
  if (known instanceof Promise)
    return known.then((id) => (id === undefined ? begins : repeated(ledger, owner, id, message)));
  return known === undefined ? begins : repeated(ledger, owner, known, message);
}

/** Decides once everything that happened can be seen: a message may be on its way to the disk. */
function settled(log: TaskLog | undefined, request: SendRequest): MessageClass | Promise<MessageClass> {
  const settling = log?.whenPersisted();
  return settling ? settling.then(() => continued(log, request)) : continued(log, request);
}

function continued(log: TaskLog | undefined, { message, clientTaskId }: SendRequest): MessageClass {
  if (!log) {
    if (message.taskId !== undefined) throw taskNotFound(message.taskId);
    return { kind: 'new', taskId: clientTaskId };
  }
  if (message.contextId !== undefined && message.contextId !== log.contextId) {
    throw invalidField('message.contextId', 'is not the context of this task');
  }
  if (isRepeated(log.task(), message)) return { kind: 'again', log };
  if (isTerminal(log.state)) {
    throw new A2AError('UNSUPPORTED_OPERATION', `The task is ${log.state} and takes no more messages`, {
      details: { taskId: log.id },
    });
  }
  if (log.state === 'submitted' || log.state === 'working') {
    throw new A2AError(
      'UNSUPPORTED_OPERATION',
      'The task is still working; it takes messages when it asks for input',
      {
        details: { taskId: log.id },
      },
    );
  }
  return { kind: 'next', log, sequence: log.sequence };
}

function repeated(
  ledger: TaskStore,
  owner: string,
  known: string,
  message: Message,
): MessageClass | Promise<MessageClass> {
  const log = ledger.open(owner, known);
  if (log instanceof Promise) return log.then((each) => compared(each, message));
  return compared(log, message);
}

function compared(log: TaskLog | undefined, message: Message): MessageClass | Promise<MessageClass> {
  const settling = log?.whenPersisted();
  if (settling) return settling.then(() => compared(log, message));
  // An id that is used again for other content is a careless client, not a retry.
  if (log && isRepeated(log.task(), message)) return { kind: 'again', log };
  return begins;
}

function isRepeated({ history }: Task, message: Message): boolean {
  const before = history?.find(
    ({ messageId, role }) => messageId === message.messageId && role === message.role,
  );
  return before !== undefined && isSame(before.parts, message.parts);
}

function isSame(some: readonly Part[], others: readonly Part[]): boolean {
  if (some.length !== others.length) return false;
  return some.every((part, i) => JSON.stringify(part) === JSON.stringify(others[i]));
}
