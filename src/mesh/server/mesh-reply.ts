import { compatKey } from '../../dialects/compat-metadata.ts';
import type { Dialect, EventWriter } from '../../dialects/dialect.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { Operation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { isTask, isTerminalOrInterrupted, type Task } from '../../protocol/task.ts';
import { type RpcId, writeError, writeResult, writeTaskResult } from '../rpc-envelope.ts';
import type { BrokerConnection, MessageProperties } from '../brokers/broker-connection.ts';
import { responseIdProperty } from '../request-properties.ts';
import { isTextOnly, withTextArtifacts, writeProgress, writeTextArtifact } from '../progress-updates.ts';
import { TextBatcher } from './text-batcher.ts';
import { type MeshIds, mapMessageIds, mapTaskIds, mapUpdateIds, wrapMessageAsTask } from './id-mapping.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';

/** Destination, ids and dialect of the reply to one request. */
export interface ReplyAddress {
  readonly id: RpcId;
  readonly dialect: Dialect;
  readonly operation: Operation;
  readonly ids: MeshIds;
  readonly replyTo: string | undefined;
  readonly statusTopic: string | undefined;
  /** Identifies the response: a repeated response has the same id. */
  readonly responseId: string;
  /** User properties of the request, which are sent back with each message. */
  readonly properties: MessageProperties;
}

/** A published response. */
export interface SentReply {
  readonly responseId: string;
  readonly topic: string;
  readonly payload: string;
}

/** Reply to one request: status updates, then exactly one response. */
export class MeshReply {
  readonly address: ReplyAddress;
  readonly #broker: BrokerConnection;
  readonly #settings: MeshServerSettings;
  readonly #writer: EventWriter;
  readonly #batcher: TextBatcher | undefined;
  readonly #save: ((sent: SentReply) => Promise<void>) | undefined;
  #publishing: Promise<void> = Promise.resolve();
  #hasResponded = false;
  #hasSentArtifacts = false;

  /** @param save - called with the response before it is published. */
  constructor(
    broker: BrokerConnection,
    address: ReplyAddress,
    settings: MeshServerSettings,
    save?: (sent: SentReply) => Promise<void>,
  ) {
    this.address = address;
    this.#save = save;
    this.#broker = broker;
    this.#settings = settings;
    this.#writer = address.dialect.eventWriter();
    if (settings.batch) {
      this.#batcher = new TextBatcher(settings.batch, settings.clock, (update) => this.#sendUpdate(update));
    }
  }

  get hasResponded(): boolean {
    return this.#hasResponded;
  }

  /** Sends an update if the client requested them. Resolves when the broker has accepted all messages so far. */
  update(event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent): Promise<void> {
    if (this.#hasResponded || this.address.statusTopic === undefined) return this.#publishing;
    if (this.#batcher) this.#batcher.push(event);
    else this.#sendUpdate(event);
    return this.#publishing;
  }

  /** Sends the response. @returns undefined if there is no response topic. */
  async respond(result: Task | Message): Promise<SentReply | undefined> {
    if (!this.#close()) return undefined;
    const losses: TranslationLoss[] = [];
    const { id, dialect } = this.address;
    const payload = writeResult(id, this.#encodeResult(result, losses));
    this.#reportLosses(losses);
    if (payload.length <= this.#settings.limits.payload) return this.#send(payload);
    if (this.#hasSentArtifacts && isTask(result) && result.artifacts) {
      const { artifacts: _sent, history: _history, ...rest } = result;
      const shorter = writeResult(id, this.#encodeResult(rest, losses));
      this.#log('warn', 'The task is too large; its artifacts were sent as updates only');
      if (shorter.length <= this.#settings.limits.payload) return this.#send(shorter);
    }
    this.#settings.onLimit?.('meshResponse');
    const { agent, taskId } = this.address.ids;
    const error = new A2AError(
      'INTERNAL_ERROR',
      `The response of agent '${agent}' exceeds the size limit of the mesh: ${payload.length} of ${this.#settings.limits.payload} characters`,
      { details: { taskId, agent_name: agent } },
    );
    this.#log('error', error.message);
    return this.#send(writeError(id, dialect, error));
  }

  /** Sends an error as the response. */
  async fail(error: A2AError): Promise<SentReply | undefined> {
    if (!this.#close()) return undefined;
    this.#settings.tracing.current?.failActive(error.reason);
    return this.#send(writeError(this.address.id, this.address.dialect, error));
  }

  /** Only 1.0 clients support direct messages and text artifacts. */
  get #isV1(): boolean {
    return this.address.dialect === v1_0;
  }

  #encodeResult(result: Task | Message, losses: TranslationLoss[]): unknown {
    const { dialect, ids, operation } = this.address;
    if (!isTask(result)) {
      if (this.#isV1) {
        const { taskId: _none, ...message } = mapMessageIds(result, ids);
        message.metadata = { ...message.metadata, agent_name: ids.agent };
        return dialect.results.send.write(message, losses);
      }
      const task = wrapMessageAsTask(result, ids, new Date(this.#settings.clock.now()).toISOString());
      task.metadata = { ...task.metadata, [compatKey]: { wrappedMessage: true } };
      return writeTaskResult(dialect, task, losses);
    }
    let task = mapTaskIds(result, ids);
    if (!this.#isV1 && this.#settings.textArtifacts === 'message') {
      task = withTextArtifacts(task, this.#hasSentArtifacts, this.#settings.newId());
    }
    if (this.#isV1 && (operation === 'getTask' || operation === 'cancelTask')) {
      return dialect.task.write(task, losses);
    }
    return writeTaskResult(dialect, task, losses);
  }

  #sendUpdate(event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent): void {
    const { id, ids, statusTopic } = this.address;
    if (statusTopic === undefined) return;
    const losses: TranslationLoss[] = [];
    for (const wire of this.#writer.write(this.#convert(mapUpdateIds(event, ids)), losses)) {
      void this.#publish(statusTopic, writeResult(id, wire));
    }
    this.#reportLosses(losses);
  }

  #convert(
    event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent,
  ): TaskStatusUpdateEvent | TaskArtifactUpdateEvent {
    if (event.kind === 'artifact') {
      this.#hasSentArtifacts = true;
      const isText = isTextOnly(event.artifact.parts);
      return isText && !this.#isV1 && this.#settings.textArtifacts === 'message'
        ? writeTextArtifact(event, this.#settings.newId())
        : event;
    }
    const isProgress = !isTerminalOrInterrupted(event.status.state);
    return isProgress && !this.#isV1 && this.#settings.convertProgress ? writeProgress(event) : event;
  }

  #close(): boolean {
    if (this.#hasResponded) return false;
    this.#batcher?.flush();
    this.#hasResponded = true;
    return true;
  }

  async #send(payload: string): Promise<SentReply | undefined> {
    const { replyTo: topic, responseId } = this.address;
    if (topic === undefined) {
      this.#log(
        'warn',
        `Dropped a response, because the request has no response topic: ${payload.slice(0, 2000)}`,
      );
      return undefined;
    }
    const sent = { topic, payload, responseId };
    if (this.#save) await this.#save(sent);
    await this.#publish(topic, payload, { [responseIdProperty]: responseId });
    return sent;
  }

  #publish(topic: string, payload: string, more: MessageProperties = {}): Promise<void> {
    const properties = { ...this.address.properties, ...more };
    // Messages are published one by one, so that updates stay in order and the response comes last.
    this.#publishing = this.#publishing
      .then(() => this.#broker.publish(topic, payload, properties))
      .catch((error: unknown) => this.#log('error', `Could not publish to ${topic}`, error));
    return this.#publishing;
  }

  #reportLosses(losses: TranslationLoss[]): void {
    if (losses.length === 0) return;
    const { operation, dialect, ids } = this.address;
    const context = { operation, version: dialect.version, taskId: ids.taskId, side: 'response' as const };
    this.#settings.onLoss?.(losses, context);
  }

  #log(level: 'warn' | 'error', message: string, error?: unknown): void {
    const { taskId, agent } = this.address.ids;
    this.#settings.log({ level, message, taskId, error, fields: { agent } });
  }
}
