import type { CallContext } from '../protocol/agent.ts';
import { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { SendRequest } from '../protocol/requests.ts';
import { isTask, type Task } from '../protocol/task.ts';
import {
  type TaskIdAlias,
  type TaskIdAliases,
  type AliasClaim,
  applyAliasToEvent,
  applyAliasToTask,
} from './task-id-aliases.ts';
import type { TransportBinding } from './transports/transport-binding.ts';
import type { EventBatches } from './streaming/resumable-stream.ts';

/** One send, in the names that the agent uses; what comes back is put into the names that the caller uses. */
export class AliasedSend {
  /** What goes to the agent. */
  readonly request: SendRequest;
  readonly #claim: AliasClaim | undefined;
  #alias: TaskIdAlias | undefined;

  private constructor(request: SendRequest, claim: AliasClaim | undefined) {
    this.request = request;
    this.#claim = claim;
    this.#alias = claim?.known;
  }

  static async prepare(
    aliases: TaskIdAliases,
    { endpoint }: TransportBinding,
    request: SendRequest,
    call: CallContext,
  ): Promise<AliasedSend> {
    const isOldest = endpoint.dialect.version === '0.1';
    const asked = isOldest ? withSession(request) : request;
    const { clientTaskId, ...rest } = asked;
    if (clientTaskId === undefined) return new AliasedSend(asked, undefined);
    const claim = await aliases.claim(call.owner, clientTaskId, request.message.contextId);
    // An agent of 0.1 takes the name as it is.
    if (isOldest) return new AliasedSend(asked, claim);
    if (!claim.known) return new AliasedSend(rest, claim);
    const { taskId, contextId } = claim.known;
    return new AliasedSend({ ...rest, message: { ...rest.message, taskId, contextId } }, claim);
  }

  /** True when the caller has names of its own. */
  get isNamed(): boolean {
    return this.#claim !== undefined;
  }

  /** Waits for the answer. */
  async answered(ask: () => Promise<Task | Message>): Promise<Task | Message> {
    const answer = await this.opened(ask);
    if (!this.#claim || !isTask(answer)) {
      this.#drop();
      return answer;
    }
    return applyAliasToTask(answer, this.#name(answer.id, answer.contextId));
  }

  /** Waits for the beginning of an answer. */
  async opened<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (thrown) {
      this.#drop();
      throw A2AError.from(thrown);
    }
  }

  /** Puts the events into the caller's names. */
  async *named(batches: EventBatches): EventBatches {
    try {
      for await (const events of batches) yield events.map((event) => this.#claimed(event));
    } finally {
      this.#drop();
    }
  }

  /** Puts the events of a task into its other names. */
  static async *rename(batches: EventBatches, alias: TaskIdAlias): EventBatches {
    for await (const events of batches) yield events.map((event) => applyAliasToEvent(event, alias));
  }

  #claimed(event: StreamEvent): StreamEvent {
    if (event.kind === 'message') return event;
    const { id, contextId } =
      event.kind === 'task' ? event.task : { id: event.taskId, contextId: event.contextId };
    return applyAliasToEvent(event, this.#name(id, contextId));
  }

  #name(taskId: string, contextId: string): TaskIdAlias {
    if (this.#alias) return this.#alias;
    const claim = this.#claim;
    if (!claim || claim.known) throw new A2AError('INTERNAL_ERROR');
    this.#alias = claim.given(taskId, contextId);
    return this.#alias;
  }

  #drop(): void {
    if (this.#claim && !this.#claim.known && !this.#alias) this.#claim.dropped();
  }
}

/** An agent of 0.1 groups tasks by a session that the caller makes. */
function withSession(request: SendRequest): SendRequest {
  const { message } = request;
  if (message.contextId !== undefined || message.taskId !== undefined) return request;
  return { ...request, message: { ...message, contextId: crypto.randomUUID() } };
}
