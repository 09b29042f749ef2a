import type { BrokerConnection, MessageProperties } from '../../../src/mesh/brokers/broker-connection.ts';
import { SchemaCheckingFetch } from '../interop/schema-checking-fetch.ts';

/** A message that an agent published to the gateway. */
export interface MeshTestReply {
  topic: string;
  /** Status update or final response, by topic. */
  channel: 'status' | 'response';
  body: any;
  properties: MessageProperties;
}

/** Message properties of a request. */
export interface MeshTestRequest {
  user?: string;
  properties?: MessageProperties;
  /** Gateways send no status topic with blocking sends. @defaultValue true */
  withStatusTopic?: boolean;
  omitReplyTopic?: boolean;
}

/** Validates 0.3 responses from the mesh if the JSON schema is available. */
export const schema0_3 = new SchemaCheckingFetch('a2a-v0.3.0.schema.json', {});

/** Sends requests over the mesh as a gateway does, independent of the product code: topics, properties and JSON. */
export class MeshTestClient {
  readonly replies: MeshTestReply[] = [];
  readonly #broker: BrokerConnection;
  readonly #namespace: string;
  readonly #gateway: string;
  #waiting: { matches: (reply: MeshTestReply) => boolean; resolve: (reply: MeshTestReply) => void }[] = [];

  private constructor(broker: BrokerConnection, namespace: string, gateway: string) {
    this.#broker = broker;
    this.#namespace = namespace;
    this.#gateway = gateway;
  }

  static async join(
    broker: BrokerConnection,
    namespace = 'test_namespace',
    gateway = 'gateway_1',
  ): Promise<MeshTestClient> {
    const client = new MeshTestClient(broker, namespace, gateway);
    const base = `${namespace}/a2a/v1`;
    await broker.subscribe(
      [`${base}/gateway/status/${gateway}/>`, `${base}/gateway/response/${gateway}/>`],
      ({ topic, payload, properties }) => {
        const channel = topic.includes('/gateway/status/') ? 'status' : 'response';
        client.#receive({ topic, channel, body: JSON.parse(payload), properties });
      },
    );
    return client;
  }

  /** Publishes a payload to an agent. */
  async send(agent: string, taskId: string, payload: unknown, request: MeshTestRequest = {}): Promise<void> {
    const base = `${this.#namespace}/a2a/v1`;
    const { user = 'alice', properties, withStatusTopic = true, omitReplyTopic = false } = request;
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    await this.#broker.publish(`${base}/agent/request/${agent}`, text, {
      ...(!omitReplyTopic && { replyTo: `${base}/gateway/response/${this.#gateway}/${taskId}` }),
      ...(withStatusTopic && { a2aStatusTopic: `${base}/gateway/status/${this.#gateway}/${taskId}` }),
      clientId: this.#gateway,
      userId: user,
      a2aUserConfig: { user_profile: { id: user } },
      ...properties,
    });
  }

  /** Cancels a task as gateways do: with a new request id and without a reply topic. */
  async cancel(agent: string, taskId: string, user = 'alice'): Promise<void> {
    const topic = `${this.#namespace}/a2a/v1/agent/request/${agent}`;
    const request = {
      jsonrpc: '2.0',
      id: crypto.randomUUID(),
      method: 'tasks/cancel',
      params: { id: taskId },
    };
    await this.#broker.publish(topic, JSON.stringify(request), { clientId: this.#gateway, userId: user });
  }

  /** Returns the first past or future reply that matches. */
  waitFor(matches: (reply: MeshTestReply) => boolean): Promise<MeshTestReply> {
    const received = this.replies.find(matches);
    if (received) return Promise.resolve(received);
    return new Promise((resolve) => this.#waiting.push({ matches, resolve }));
  }

  /** Returns the final response of a task. */
  waitForResponse(taskId: string): Promise<MeshTestReply> {
    return this.waitFor(({ topic, channel }) => channel === 'response' && topic.endsWith(`/${taskId}`));
  }

  /** Returns the received replies of a task, optionally of one channel only. */
  repliesFor(taskId: string, place?: MeshTestReply['channel']): MeshTestReply[] {
    return this.replies.filter(
      (each) => each.topic.endsWith(`/${taskId}`) && (place === undefined || each.channel === place),
    );
  }

  #receive(reply: MeshTestReply): void {
    const { body } = reply;
    if (schema0_3.hasSchema && typeof body.result?.kind === 'string') {
      schema0_3.check('SendStreamingMessageSuccessResponse', body);
    }
    this.replies.push(reply);
    this.#waiting = this.#waiting.filter(({ matches, resolve }) => {
      if (!matches(reply)) return true;
      resolve(reply);
      return false;
    });
  }
}

/** Builds a 0.3 request; its id is the task id. */
export function request0_3(
  taskId: string,
  text: string,
  { method = 'message/stream', contextId = 'session-1' as string | null, message = {}, params = {} } = {},
): unknown {
  return {
    jsonrpc: '2.0',
    id: taskId,
    method,
    params: {
      message: {
        kind: 'message',
        role: 'user',
        messageId: `m-${taskId}`,
        contextId: contextId ?? undefined,
        parts: [{ kind: 'text', text }],
        ...message,
      },
      ...params,
    },
  };
}

/** Builds a 0.1 request; the task id is in the params. */
export function request0_1(
  taskId: string,
  text: string,
  { method = 'tasks/sendSubscribe', sessionId = 'session-1' as string | null, params = {} } = {},
): unknown {
  return {
    jsonrpc: '2.0',
    id: crypto.randomUUID(),
    method,
    params: {
      id: taskId,
      sessionId: sessionId ?? undefined,
      acceptedOutputModes: ['text', 'data', 'file'],
      message: { role: 'user', parts: [{ type: 'text', text }] },
      ...params,
    },
  };
}

/** Builds a 1.0 request; its id is the task id. */
export function request1_0(
  taskId: string,
  text: string,
  { method = 'SendStreamingMessage', message = {} } = {},
): unknown {
  return {
    jsonrpc: '2.0',
    id: taskId,
    method,
    params: {
      message: {
        role: 'ROLE_USER',
        messageId: `m-${taskId}`,
        contextId: 'session-1',
        parts: [{ text }],
        ...message,
      },
    },
  };
}
