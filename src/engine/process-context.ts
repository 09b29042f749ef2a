import type { CallContext } from '../protocol/agent.ts';
import type { Message } from '../protocol/message.ts';
import { type Metadata, textOf } from '../protocol/part.ts';
import type { SendRequest } from '../protocol/requests.ts';
import type { Task } from '../protocol/task.ts';
import type { MessageContent } from './agent-output.ts';

/** The run that a context belongs to. */
interface Host {
  readonly taskId: string;
  readonly contextId: string;
  readonly signal: AbortSignal;
  task(): Task;
  ask(question: MessageContent, state: 'input-required' | 'auth-required'): Promise<Message>;
}

/** What an agent is given to work with. */
export class ProcessContext {
  /** The message to answer. */
  readonly message: Message;
  readonly call: CallContext;
  /** The metadata of the request. */
  readonly metadata: Metadata | undefined;
  readonly #host: Host;
  readonly #acceptedOutputModes: readonly string[] | undefined;

  constructor(host: Host, message: Message, call: CallContext, request?: SendRequest) {
    this.message = message;
    this.call = call;
    // The request itself is let go of: a task may hold its context for hours.
    this.metadata = request?.metadata;
    this.#host = host;
    this.#acceptedOutputModes = request?.configuration?.acceptedOutputModes;
  }

  /** The text of the message. */
  get text(): string {
    return textOf(this.message.parts);
  }

  /** The task as it stands, with its history. */
  get task(): Task {
    return this.#host.task();
  }

  get taskId(): string {
    return this.#host.taskId;
  }

  get contextId(): string {
    return this.#host.contextId;
  }

  /** Fires when the task is canceled or runs out of time. */
  get signal(): AbortSignal {
    return this.#host.signal;
  }

  /** The media types the caller can read, if it said so. */
  get acceptedOutputModes(): readonly string[] {
    return this.#acceptedOutputModes ?? [];
  }

  /**
   * Asks the caller for more and waits for the answer. The task is `input-required` meanwhile.
   * The question does not survive a restart: the answer then begins a run of its own.
   */
  get ask(): (question: MessageContent) => Promise<Message> {
    return (question) => this.#host.ask(question, 'input-required');
  }

  /** Asks the caller to see to its credentials and waits until it says so. The task is `auth-required` meanwhile. */
  get askForAuth(): (explanation: MessageContent) => Promise<Message> {
    return (explanation) => this.#host.ask(explanation, 'auth-required');
  }
}
