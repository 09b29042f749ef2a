import { compatKey } from '../../dialects/compat-metadata.ts';
import type { Dialect, EventWriter } from '../../dialects/dialect.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { Operation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { isInterrupted, isTask, isTerminal, type Task } from '../../protocol/task.ts';
import { type RpcId, writeError, writeResult, writeTaskResult } from '../rpc-envelope.ts';
import type { BrokerConnection, MessageProperties } from '../brokers/broker-connection.ts';
import { isTextOnly, withTextArtifacts, writeProgress, writeTextArtifact } from '../progress-updates.ts';
import { TextBatcher } from './text-batcher.ts';
import { type MeshIds, mapMessageIds, mapTaskIds, mapUpdateIds, wrapMessageAsTask } from './id-mapping.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';

/** Where the answer to one request goes, and in which words. */
export interface ReplyAddress {
  readonly id: RpcId;
  readonly dialect: Dialect;
  readonly operation: Operation;
  readonly names: MeshIds;
  readonly replyTo: string | undefined;
  readonly statusTopic: string | undefined;
  /** What came with the request goes back with everything. */
  readonly properties: MessageProperties;
}

/** An answer as it went out. */
export interface SentReply {
  readonly topic: string;
  readonly payload: string;
}

/** What goes back for one request: updates, and one answer. Nothing follows the answer. */
export class MeshReply {
  readonly address: ReplyAddress;
  readonly #link: BrokerConnection;
  readonly #settings: MeshServerSettings;
  readonly #writer: EventWriter;
  readonly #batch: TextBatcher | undefined;
  #publishing: Promise<void> = Promise.resolve();
  #isAnswered = false;
  #hasToldArtifacts = false;

  constructor(link: BrokerConnection, address: ReplyAddress, settings: MeshServerSettings) {
    this.address = address;
    this.#link = link;
    this.#settings = settings;
    this.#writer = address.dialect.eventWriter();
    if (settings.batch) {
      this.#batch = new TextBatcher(settings.batch, settings.clock, (update) => this.#tell(update));
    }
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Sends an update, if anybody wants some. Resolves when the broker has what was sent so far. */
  update(event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent): Promise<void> {
    if (this.#isAnswered || this.address.statusTopic === undefined) return this.#publishing;
    if (this.#batch) this.#batch.push(event);
    else this.#tell(event);
    return this.#publishing;
  }

  /** Sends the one answer. @returns undefined when there is nowhere to send it. */
  async answer(result: Task | Message): Promise<SentReply | undefined> {
    if (!this.#close()) return undefined;
    const losses: TranslationLoss[] = [];
    const { id, dialect } = this.address;
    const payload = writeResult(id, this.#result(result, losses));
    this.#lost(losses);
    if (payload.length <= this.#settings.limits.payload) return this.#send(payload);
    if (this.#hasToldArtifacts && isTask(result) && result.artifacts) {
      const { artifacts: _told, history: _history, ...rest } = result;
      const shorter = writeResult(id, this.#result(rest, losses));
      this.#log('warn', 'The task was too large; its artifacts were told as updates only');
      if (shorter.length <= this.#settings.limits.payload) return this.#send(shorter);
    }
    const { agent, taskId } = this.address.names;
    const error = new A2AError(
      'INTERNAL_ERROR',
      `The answer of agent '${agent}' is larger than the mesh takes: ${payload.length} of ${this.#settings.limits.payload} characters`,
      { details: { taskId, agent_name: agent } },
    );
    this.#log('error', error.message);
    return this.#send(writeError(id, dialect, error));
  }

  /** Sends an error as the one answer. */
  async fail(error: A2AError): Promise<SentReply | undefined> {
    if (!this.#close()) return undefined;
    return this.#send(writeError(this.address.id, this.address.dialect, error));
  }

  /** Callers of 1.0 are none of the receivers that know tasks and data parts only. */
  get #isPlain(): boolean {
    return this.address.dialect === v1_0;
  }

  #result(result: Task | Message, losses: TranslationLoss[]): unknown {
    const { dialect, names, operation } = this.address;
    if (!isTask(result)) {
      if (this.#isPlain) {
        const { taskId: _none, ...message } = mapMessageIds(result, names);
        message.metadata = { ...message.metadata, agent_name: names.agent };
        return dialect.results.send.write(message, losses);
      }
      const task = wrapMessageAsTask(result, names, new Date(this.#settings.clock.now()).toISOString());
      task.metadata = { ...task.metadata, [compatKey]: { wrappedMessage: true } };
      return writeTaskResult(dialect, task, losses);
    }
    let task = mapTaskIds(result, names);
    if (!this.#isPlain && this.#settings.textArtifacts === 'message') {
      task = withTextArtifacts(task, this.#hasToldArtifacts, this.#settings.newId());
    }
    if (this.#isPlain && (operation === 'getTask' || operation === 'cancelTask')) {
      return dialect.task.write(task, losses);
    }
    return writeTaskResult(dialect, task, losses);
  }

  #tell(event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent): void {
    const { id, names, statusTopic } = this.address;
    if (statusTopic === undefined) return;
    const losses: TranslationLoss[] = [];
    for (const wire of this.#writer.write(this.#converted(mapUpdateIds(event, names)), losses)) {
      void this.#publish(statusTopic, writeResult(id, wire));
    }
    this.#lost(losses);
  }

  #converted(
    event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent,
  ): TaskStatusUpdateEvent | TaskArtifactUpdateEvent {
    if (event.kind === 'artifact') {
      this.#hasToldArtifacts = true;
      const isText = isTextOnly(event.artifact.parts);
      return isText && !this.#isPlain && this.#settings.textArtifacts === 'message'
        ? writeTextArtifact(event, this.#settings.newId())
        : event;
    }
    const { state } = event.status;
    const isOnTheWay = !isTerminal(state) && !isInterrupted(state);
    return isOnTheWay && !this.#isPlain && this.#settings.convertProgress ? writeProgress(event) : event;
  }

  #close(): boolean {
    if (this.#isAnswered) return false;
    this.#batch?.flush();
    this.#isAnswered = true;
    return true;
  }

  async #send(payload: string): Promise<SentReply | undefined> {
    const { replyTo: topic } = this.address;
    if (topic === undefined) {
      this.#log('warn', `Nobody said where the answer goes, so it ends here: ${payload.slice(0, 2000)}`);
      return undefined;
    }
    await this.#publish(topic, payload);
    return { topic, payload };
  }

  #publish(topic: string, payload: string): Promise<void> {
    const { properties } = this.address;
    // One after the other, so that updates keep their order and the answer comes last.
    this.#publishing = this.#publishing
      .then(() => this.#link.publish(topic, payload, properties))
      .catch((error: unknown) => this.#log('error', `Could not publish to ${topic}`, error));
    return this.#publishing;
  }

  #lost(losses: TranslationLoss[]): void {
    if (losses.length === 0) return;
    const { operation, dialect, names } = this.address;
    const context = { operation, version: dialect.version, taskId: names.taskId, side: 'answer' as const };
    this.#settings.onLoss?.(losses, context);
  }

  #log(level: 'warn' | 'error', message: string, error?: unknown): void {
    const { taskId, agent } = this.address.names;
    this.#settings.log({ level, message, taskId, error, fields: { agent } });
  }
}
