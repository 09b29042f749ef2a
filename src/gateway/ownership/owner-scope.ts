import { createHash } from 'node:crypto';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { Task, TaskStatus } from '../../protocol/task.ts';

/**
 * Ids of one owner at an upstream that sees one client. An id that the client chose gets a prefix that is unique for the
 * owner; ids that the upstream chose have none. The prefix depends on the owner only, so that all gateways agree on it.
 */
export class OwnerScope {
  readonly owner: string;
  readonly #prefix: string;

  constructor(owner: string) {
    this.owner = owner;
    this.#prefix = `${createHash('sha256').update(owner).digest('base64url').slice(0, 22)}.`;
  }

  /** Returns the id at the upstream of an id that the client chose. */
  toUpstreamId(id: string): string {
    return this.#prefix + id;
  }

  /** Returns the id that the client knows. */
  toClientId(id: string): string {
    return id.startsWith(this.#prefix) ? id.slice(this.#prefix.length) : id;
  }

  toClientMessage(message: Message): Message {
    const mapped = { ...message, messageId: this.toClientId(message.messageId) };
    if (message.taskId !== undefined) mapped.taskId = this.toClientId(message.taskId);
    if (message.contextId !== undefined) mapped.contextId = this.toClientId(message.contextId);
    if (message.referenceTaskIds)
      mapped.referenceTaskIds = message.referenceTaskIds.map((id) => this.toClientId(id));
    return mapped;
  }

  toClientTask(task: Task): Task {
    const mapped: Task = {
      ...task,
      id: this.toClientId(task.id),
      contextId: this.toClientId(task.contextId),
      status: this.#toClientStatus(task.status),
    };
    if (task.history) mapped.history = task.history.map((message) => this.toClientMessage(message));
    return mapped;
  }

  toClientEvent(event: StreamEvent): StreamEvent {
    if (event.kind === 'task') return { ...event, task: this.toClientTask(event.task) };
    if (event.kind === 'message') return { ...event, message: this.toClientMessage(event.message) };
    const taskId = this.toClientId(event.taskId);
    const contextId = this.toClientId(event.contextId);
    return event.kind === 'artifact'
      ? { ...event, taskId, contextId }
      : { ...event, taskId, contextId, status: this.#toClientStatus(event.status) };
  }

  /** Removes the prefix from an error of the upstream. */
  toClientError(thrown: unknown): A2AError {
    const error = A2AError.from(thrown);
    const { reason, message, violations, status, hint } = error;
    const details = Object.entries(error.details);
    if (![message, ...details.map(([, value]) => value)].some((text) => text.includes(this.#prefix)))
      return error;
    return new A2AError(reason, message.replaceAll(this.#prefix, ''), {
      details: Object.fromEntries(details.map(([key, value]) => [key, value.replaceAll(this.#prefix, '')])),
      violations,
      status,
      hint,
      cause: error.cause,
    });
  }

  #toClientStatus(status: TaskStatus): TaskStatus {
    return status.message ? { ...status, message: this.toClientMessage(status.message) } : status;
  }
}
