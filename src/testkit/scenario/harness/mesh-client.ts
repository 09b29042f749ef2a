import { type Dialect, type EventReader, rpcMethodName } from '../../../dialects/dialect.ts';
import { lenientMode } from '../../../dialects/translation-loss.ts';
import { v0_1 } from '../../../dialects/v0_1/index.ts';
import { v0_3 } from '../../../dialects/v0_3/index.ts';
import { v1_0 } from '../../../dialects/v1_0/index.ts';
import { writeRequest } from '../../../mesh/rpc-envelope.ts';
import type {
  MeshMessage,
  BrokerConnection,
  MessageProperties,
} from '../../../mesh/brokers/broker-connection.ts';
import type { MeshTopics } from '../../../mesh/mesh-topics.ts';
import type { ProtocolVersion } from '../../../protocol/card.ts';
import type { Message } from '../../../protocol/message.ts';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import { isTask, isTerminal, type Task } from '../../../protocol/task.ts';
import { downloadLinkedParts, uploadRawParts } from './case-files.ts';
import { hexId, buildScenarioMessage, partsToSend } from './build-message.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { CaseFiles } from './harness-types.ts';
import type { CaseTimeline } from './case-timeline.ts';

/** Collaborators of {@broker MeshScenarioClient}. */
export interface MeshScenarioClientParts {
  readonly broker: BrokerConnection;
  readonly topics: MeshTopics;
  /** Id of the gateway in its response topics. */
  readonly id: string;
  readonly files: CaseFiles;
  readonly timeline: CaseTimeline;
}

/**
 * Gateway of a mesh, compatible with the test gateway of Solace Agent Mesh: it adds the time of arrival, uploads files
 * and sends links, downloads linked files of responses, and ends with the first task or error.
 */
export class MeshScenarioClient {
  readonly #parts: MeshScenarioClientParts;
  readonly #scenario: Scenario;
  readonly #dialect: Dialect;
  readonly #taskId = `gdk-task-${hexId()}`;
  #message: Message | undefined;
  #reader: EventReader | undefined;
  /** Processes messages in order, although downloads are asynchronous. */
  #processing: Promise<void> = Promise.resolve();

  constructor(parts: MeshScenarioClientParts, scenario: Scenario) {
    this.#parts = parts;
    this.#scenario = scenario;
    this.#dialect = dialectFor(scenario.spec.client?.version);
  }

  /** Sends the request of the case and waits for its end. */
  async run(): Promise<void> {
    const { broker, topics, id, timeline } = this.#parts;
    const inbox = await broker.subscribe(topics.inbox('gateway', id), (delivery) => {
      this.#processing = this.#processing.then(() => this.#receive(delivery));
      return this.#processing;
    });
    try {
      await this.#send();
      await timeline.ended;
    } finally {
      await inbox.close();
    }
  }

  /** Sends a cancel request. It has no response except the end of the task. */
  async cancel(): Promise<void> {
    const { broker } = this.#parts;
    const params = this.#dialect.requests.cancelTask.write({ id: this.#taskId });
    const method = rpcMethodName(this.#dialect, 'cancelTask') ?? '';
    const { clientId, userId } = this.#properties();
    await broker.publish(this.#requestTopic(), writeRequest(hexId(), method, params), { clientId, userId });
  }

  async #send(): Promise<void> {
    const { broker, files } = this.#parts;
    const { spec } = this.#scenario;
    const parts = await uploadRawParts(partsToSend(this.#scenario), this.#scenario, files);
    const arrival = { text: `Request received by gateway at: ${new Date().toISOString()}` };
    const target = spec.gateway_input?.target_agent_name ?? '';
    const message = buildScenarioMessage(this.#scenario, [arrival, ...parts], { agent_name: target });
    this.#message = message;
    const operation = spec.gateway_input?.is_streaming === false ? 'send' : 'stream';
    const isV0_1 = this.#dialect === v0_1;
    const params = this.#dialect.requests[operation].write({
      message,
      // In 0.1 the client chooses the task id; later versions use the id of the request.
      ...(isV0_1 ? { clientTaskId: this.#taskId } : {}),
    });
    const payload = writeRequest(
      isV0_1 ? hexId() : this.#taskId,
      rpcMethodName(this.#dialect, operation) ?? '',
      params,
    );
    const { a2aStatusTopic, ...properties } = this.#properties();
    await broker.publish(
      this.#requestTopic(),
      payload,
      operation === 'stream' ? { ...properties, a2aStatusTopic } : properties,
    );
  }

  #requestTopic(): string {
    return this.#parts.topics.request(this.#scenario.spec.gateway_input?.target_agent_name ?? '');
  }

  #properties(): MessageProperties {
    const { topics, id } = this.#parts;
    const { user } = this.#scenario;
    return {
      clientId: id,
      userId: user,
      replyTo: topics.response('gateway', id, this.#taskId),
      a2aStatusTopic: topics.status('gateway', id, this.#taskId),
      a2aUserConfig: { user_profile: { id: user } },
      gatewayCapabilities: {},
      timestamp: Date.now(),
    };
  }

  async #receive({ topic, payload }: MeshMessage): Promise<void> {
    // Ignores messages of other tasks.
    if (topic.split('/').at(-1) !== this.#taskId) return;
    const { timeline } = this.#parts;
    const { result, error } = (parseJsonOrUndefined(payload) ?? {}) as { result?: unknown; error?: unknown };
    try {
      if (error !== undefined) this.#fail(error);
      else if (topic === this.#properties().replyTo) await this.#finish(result);
      else await this.#update(result);
    } catch (thrown) {
      const text = thrown instanceof Error ? thrown.message : String(thrown);
      timeline.add({
        type: 'error',
        code: -32000,
        message: `Invalid event structure received from agent: ${text}`,
      });
    }
  }

  #fail(error: unknown): void {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
    this.#parts.timeline.add({
      type: 'error',
      code: Number(code),
      message: String(message),
      ...(data === undefined ? {} : { data }),
    });
  }

  async #finish(result: unknown): Promise<void> {
    const task = this.#dialect.results.send.read(result, lenientMode());
    if (!isTask(task)) throw new TypeError('expected a task, got a message');
    this.#checkTaskId(task.id);
    this.#parts.timeline.add({ type: 'final_response', task: await this.#withDownloads(task) });
  }

  /** Gateways do not forward status updates without parts. */
  async #update(result: unknown): Promise<void> {
    const { timeline, files } = this.#parts;
    this.#reader ??= this.#dialect.eventReader({
      taskId: this.#taskId,
      contextId: this.#scenario.session,
      message: this.#message,
    });
    for (const event of this.#reader.read(result, lenientMode())) {
      if (event.kind === 'status') {
        this.#checkTaskId(event.taskId);
        const { status, metadata } = event;
        const isFinal = (result as { final?: unknown }).final === true || isTerminal(status.state);
        if (!isFinal && (status.message?.parts.length ?? 0) === 0) continue;
        timeline.add({ type: 'status_update', status, isFinal, ...(metadata ? { metadata } : {}) });
      } else if (event.kind === 'artifact') {
        this.#checkTaskId(event.taskId);
        const { artifact } = event;
        const parts = await downloadLinkedParts(artifact.parts, files);
        timeline.add({ type: 'artifact_update', artifact: { ...artifact, parts }, received: artifact.parts });
      }
    }
  }

  /** The task id of the payload must match the topic. */
  #checkTaskId(taskId: string): void {
    if (taskId !== this.#taskId) throw new TypeError(`task id ${taskId} does not match the topic`);
  }

  async #withDownloads(task: Task): Promise<Task> {
    if (!task.artifacts) return task;
    const { files } = this.#parts;
    const artifacts = await Promise.all(
      task.artifacts.map(async (each) => ({ ...each, parts: await downloadLinkedParts(each.parts, files) })),
    );
    return { ...task, artifacts };
  }
}

function dialectFor(version: ProtocolVersion | undefined): Dialect {
  if (version === '0.1') return v0_1;
  return version === '1.0' ? v1_0 : v0_3;
}
