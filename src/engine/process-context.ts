import { copyJson } from '../primitives/json.ts';
import type { CallContext } from '../protocol/agent.ts';
import type { Message } from '../protocol/message.ts';
import { type Metadata, textOf } from '../protocol/part.ts';
import type { SendRequest } from '../protocol/requests.ts';
import type { Task } from '../protocol/task.ts';
import type { MessageContent } from './agent-output.ts';
import type { ContextHistory, HistoryLimits } from './messages/context-history.ts';

/** The task run of a context. */
interface Host {
  readonly taskId: string;
  readonly contextId: string;
  readonly signal: AbortSignal;
  task(): Task;
  ask(question: MessageContent, state: 'input-required' | 'auth-required'): Promise<Message>;
}

/** Argument of a process function. */
export class ProcessContext {
  readonly call: CallContext;
  /** The metadata of the request. */
  readonly metadata: Metadata | undefined;
  readonly #host: Host;
  /** The stored message; the process function gets a copy, created on first access. */
  readonly #stored: Message;
  #message: Message | undefined = undefined;
  readonly #acceptedOutputModes: readonly string[] | undefined;
  readonly #history: ContextHistory;

  constructor(
    host: Host,
    message: Message,
    call: CallContext,
    request: SendRequest | undefined,
    history: ContextHistory,
  ) {
    this.#stored = message;
    this.call = call;
    // The request itself is not retained: a task may hold its context for hours.
    this.metadata = request?.metadata;
    this.#host = host;
    this.#acceptedOutputModes = request?.configuration?.acceptedOutputModes;
    this.#history = history;
  }

  /** The message to process. */
  get message(): Message {
    return (this.#message ??= copyJson(this.#stored));
  }

  /** The text of the message. */
  get text(): string {
    return textOf((this.#message ?? this.#stored).parts);
  }

  /** A copy of the current task with its history. */
  get task(): Task {
    return copyJson(this.#host.task());
  }

  get taskId(): string {
    return this.#host.taskId;
  }

  get contextId(): string {
    return this.#host.contextId;
  }

  /** Aborted when the task is canceled or exceeds its time limits. */
  get signal(): AbortSignal {
    return this.#host.signal;
  }

  /** Media types that the client accepts; empty if it did not specify any. */
  get acceptedOutputModes(): readonly string[] {
    return this.#acceptedOutputModes ?? [];
  }

  /**
   * Reads the earlier turns of the context, oldest first: messages of this client and of the agent, artifacts as messages
   * of the agent. Contains only tasks of this client that have ended or wait for input, ordered by their last status. A
   * direct reply has no task and is not contained.
   *
   * @example
   * ```ts
   * const earlier = await context.history({ maxMessages: 20 });
   * const messages = earlier.map(({ role, parts }) => ({ role, content: textOf(parts) }));
   * ```
   */
  get history(): (limits?: HistoryLimits) => Promise<Message[]> {
    return (limits = {}) => {
      const { taskId, contextId } = this.#host;
      const turn = { owner: this.call.owner ?? '', contextId, taskId, messageId: this.#stored.messageId };
      return this.#history.readHistory(turn, limits);
    };
  }

  /**
   * Requests input and waits for the next message; the task is `input-required` meanwhile.
   * A pending question does not survive a restart: the message then starts a new run.
   */
  get ask(): (question: MessageContent) => Promise<Message> {
    return async (question) => copyJson(await this.#host.ask(question, 'input-required'));
  }

  /** Requests authorization and waits for the next message; the task is `auth-required` meanwhile. */
  get askForAuth(): (explanation: MessageContent) => Promise<Message> {
    return async (explanation) => copyJson(await this.#host.ask(explanation, 'auth-required'));
  }
}
