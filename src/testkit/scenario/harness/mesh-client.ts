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

/** What a gateway works with. */
export interface MeshScenarioClientParts {
  readonly link: BrokerConnection;
  readonly topics: MeshTopics;
  /** The name of the gateway, in the topics of its answers. */
  readonly id: string;
  readonly files: CaseFiles;
  readonly timeline: CaseTimeline;
}

/**
 * The side of a mesh where people are, as the tests of the Solace Agent Mesh have it: it says when a request came,
 * stores what it is sent and sends links, makes bytes of links that come back, and takes the first task or error for
 * the end.
 */
export class MeshScenarioClient {
  readonly #parts: MeshScenarioClientParts;
  readonly #scenario: Scenario;
  readonly #dialect: Dialect;
  readonly #taskId = `gdk-task-${hexId()}`;
  #message: Message | undefined;
  #reader: EventReader | undefined;
  /** Deliveries are worked off in order, although making bytes of links takes its time. */
  #working: Promise<void> = Promise.resolve();

  constructor(parts: MeshScenarioClientParts, scenario: Scenario) {
    this.#parts = parts;
    this.#scenario = scenario;
    this.#dialect = dialectOf(scenario.spec.caller?.version);
  }

  /** Sends what the case sends and waits for the end. */
  async drive(): Promise<void> {
    const { link, topics, id, timeline } = this.#parts;
    const inbox = await link.subscribe(topics.inbox('gateway', id), (delivery) => {
      this.#working = this.#working.then(() => this.#receive(delivery));
      return this.#working;
    });
    try {
      await this.#send();
      await timeline.over;
    } finally {
      await inbox.close();
    }
  }

  /** Asks for an end to the task. There is no answer to it but the end of the task. */
  async cancel(): Promise<void> {
    const { link } = this.#parts;
    const params = this.#dialect.requests.cancelTask.write({ id: this.#taskId });
    const method = rpcMethodName(this.#dialect, 'cancelTask') ?? '';
    const { clientId, userId } = this.#properties();
    await link.publish(this.#requestTopic(), writeRequest(hexId(), method, params), { clientId, userId });
  }

  async #send(): Promise<void> {
    const { link, files } = this.#parts;
    const { spec: words } = this.#scenario;
    const sent = await uploadRawParts(partsToSend(this.#scenario), this.#scenario, files);
    const arrival = { text: `Request received by gateway at: ${new Date().toISOString()}` };
    const target = words.gateway_input?.target_agent_name ?? '';
    const message = buildScenarioMessage(this.#scenario, [arrival, ...sent], { agent_name: target });
    this.#message = message;
    const operation = words.gateway_input?.is_streaming === false ? 'send' : 'stream';
    const isFirst = this.#dialect === v0_1;
    const params = this.#dialect.requests[operation].write({
      message,
      // In the first version the caller names its task; later ones know it by the id of the request.
      ...(isFirst ? { clientTaskId: this.#taskId } : {}),
    });
    const payload = writeRequest(
      isFirst ? hexId() : this.#taskId,
      rpcMethodName(this.#dialect, operation) ?? '',
      params,
    );
    const { a2aStatusTopic, ...always } = this.#properties();
    await link.publish(
      this.#requestTopic(),
      payload,
      operation === 'stream' ? { ...always, a2aStatusTopic } : always,
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
    // Answers to somebody else's task are not for us.
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
    const answer = this.#dialect.results.send.read(result, lenientMode());
    if (!isTask(answer)) throw new TypeError('a message came where a task belongs');
    this.#check(answer.id);
    this.#parts.timeline.add({ type: 'final_response', task: await this.#resolved(answer) });
  }

  /** Updates that say nothing are not passed on. */
  async #update(result: unknown): Promise<void> {
    const { timeline, files } = this.#parts;
    this.#reader ??= this.#dialect.eventReader({
      taskId: this.#taskId,
      contextId: this.#scenario.session,
      message: this.#message,
    });
    for (const event of this.#reader.read(result, lenientMode())) {
      if (event.kind === 'status') {
        this.#check(event.taskId);
        const { status, metadata } = event;
        const isFinal = (result as { final?: unknown }).final === true || isTerminal(status.state);
        if (!isFinal && (status.message?.parts.length ?? 0) === 0) continue;
        timeline.add({ type: 'status_update', status, isFinal, ...(metadata ? { metadata } : {}) });
      } else if (event.kind === 'artifact') {
        this.#check(event.taskId);
        const { artifact } = event;
        const parts = await downloadLinkedParts(artifact.parts, files);
        timeline.add({ type: 'artifact_update', artifact: { ...artifact, parts }, received: artifact.parts });
      }
    }
  }

  /** What is in a payload must be about the task in the topic. */
  #check(taskId: string): void {
    if (taskId !== this.#taskId)
      throw new TypeError(`it is about ${taskId}, which is not the task of its topic`);
  }

  async #resolved(task: Task): Promise<Task> {
    if (!task.artifacts) return task;
    const { files } = this.#parts;
    const artifacts = await Promise.all(
      task.artifacts.map(async (each) => ({ ...each, parts: await downloadLinkedParts(each.parts, files) })),
    );
    return { ...task, artifacts };
  }
}

function dialectOf(version: ProtocolVersion | undefined): Dialect {
  if (version === '0.1') return v0_1;
  return version === '1.0' ? v1_0 : v0_3;
}
