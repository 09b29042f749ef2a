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

/** A send request with the ids of the agent. Responses and events are converted to the ids of the client. */
export class AliasedSend {
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
    const isV0_1 = endpoint.dialect.version === '0.1';
    const outgoing = isV0_1 ? withSession(request) : request;
    const { clientTaskId, ...rest } = outgoing;
    if (clientTaskId === undefined) return new AliasedSend(outgoing, undefined);
    const claim = await aliases.claim(call.owner, clientTaskId, request.message.contextId);
    // A 0.1 agent uses the id of the client.
    if (isV0_1) return new AliasedSend(outgoing, claim);
    if (!claim.known) return new AliasedSend(rest, claim);
    const { taskId, contextId } = claim.known;
    return new AliasedSend({ ...rest, message: { ...rest.message, taskId, contextId } }, claim);
  }

  /** True if the client chose the task id. */
  get hasAlias(): boolean {
    return this.#claim !== undefined;
  }

  /** Runs a blocking send. */
  async send(run: () => Promise<Task | Message>): Promise<Task | Message> {
    const result = await this.open(run);
    if (!this.#claim || !isTask(result)) {
      this.#release();
      return result;
    }
    return applyAliasToTask(result, await this.#assign(result.id, result.contextId));
  }

  /** Runs a request and releases the claim if it fails. */
  async open<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (thrown) {
      this.#release();
      throw A2AError.from(thrown);
    }
  }

  /** Converts the ids of events, and assigns the alias with the first task id. */
  async *aliasEvents(batches: EventBatches): EventBatches {
    try {
      for await (const events of batches) {
        const first = events.find((event) => event.kind !== 'message');
        const alias = first && (await this.#assignFrom(first));
        yield alias ? events.map((event) => applyAliasToEvent(event, alias)) : events;
      }
    } finally {
      this.#release();
    }
  }

  /** Converts the ids of events with an existing alias. */
  static async *applyAlias(batches: EventBatches, alias: TaskIdAlias): EventBatches {
    for await (const events of batches) yield events.map((event) => applyAliasToEvent(event, alias));
  }

  #assignFrom(event: Exclude<StreamEvent, { kind: 'message' }>): Promise<TaskIdAlias> {
    return event.kind === 'task'
      ? this.#assign(event.task.id, event.task.contextId)
      : this.#assign(event.taskId, event.contextId);
  }

  async #assign(taskId: string, contextId: string): Promise<TaskIdAlias> {
    if (this.#alias) return this.#alias;
    const claim = this.#claim;
    if (!claim || claim.known) throw new A2AError('INTERNAL_ERROR');
    this.#alias = await claim.assign(taskId, contextId);
    return this.#alias;
  }

  #release(): void {
    if (this.#claim && !this.#claim.known && !this.#alias) this.#claim.release();
  }
}

/** A 0.1 agent groups tasks by a session id that the client chooses. */
function withSession(request: SendRequest): SendRequest {
  const { message } = request;
  if (message.contextId !== undefined || message.taskId !== undefined) return request;
  return { ...request, message: { ...message, contextId: crypto.randomUUID() } };
}
