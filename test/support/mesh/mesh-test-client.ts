import type { BrokerConnection, MessageProperties } from '../../../src/mesh/brokers/broker-connection.ts';
import { SchemaCheckingFetch } from '../interop/schema-checking-fetch.ts';

/** A message that came back over the mesh. */
export interface MeshTestReply {
  topic: string;
  /** Whether it came as an update or as the answer. */
  place: 'status' | 'response';
  body: any;
  properties: MessageProperties;
}

/** What a caller says beside the payload. */
export interface MeshTestRequest {
  user?: string;
  properties?: MessageProperties;
  /** No status topic, as gateways do it for sends. */
  updates?: boolean;
  /** No reply topic. */
  mute?: boolean;
}

/** Checks every answer of 0.3 that came back over the mesh, where its schema is at hand. */
export const schema0_3 = new SchemaCheckingFetch('a2a-v0.3.0.schema.json', {});

/** Somebody on the mesh who asks, as a gateway does: by topics, properties and JSON, without any code of ours. */
export class MeshTestClient {
  readonly returned: MeshTestReply[] = [];
  readonly #link: BrokerConnection;
  readonly #namespace: string;
  readonly #gateway: string;
  #waiting: { wants: (returned: MeshTestReply) => boolean; found: (returned: MeshTestReply) => void }[] = [];

  private constructor(link: BrokerConnection, namespace: string, gateway: string) {
    this.#link = link;
    this.#namespace = namespace;
    this.#gateway = gateway;
  }

  static async join(
    link: BrokerConnection,
    namespace = 'test_namespace',
    gateway = 'gateway_1',
  ): Promise<MeshTestClient> {
    const caller = new MeshTestClient(link, namespace, gateway);
    const base = `${namespace}/a2a/v1`;
    await link.subscribe(
      [`${base}/gateway/status/${gateway}/>`, `${base}/gateway/response/${gateway}/>`],
      ({ topic, payload, properties }) => {
        const place = topic.includes('/gateway/status/') ? 'status' : 'response';
        caller.#take({ topic, place, body: JSON.parse(payload), properties });
      },
    );
    return caller;
  }

  /** Publishes any payload to an agent. */
  async say(agent: string, taskId: string, payload: unknown, saying: MeshTestRequest = {}): Promise<void> {
    const base = `${this.#namespace}/a2a/v1`;
    const { user = 'alice', properties, updates = true, mute = false } = saying;
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    await this.#link.publish(`${base}/agent/request/${agent}`, text, {
      ...(!mute && { replyTo: `${base}/gateway/response/${this.#gateway}/${taskId}` }),
      ...(updates && { a2aStatusTopic: `${base}/gateway/status/${this.#gateway}/${taskId}` }),
      clientId: this.#gateway,
      userId: user,
      a2aUserConfig: { user_profile: { id: user } },
      ...properties,
    });
  }

  /** Asks to cancel, as gateways do: under an id of its own, without a place for the answer. */
  async cancel(agent: string, taskId: string, user = 'alice'): Promise<void> {
    const topic = `${this.#namespace}/a2a/v1/agent/request/${agent}`;
    const request = {
      jsonrpc: '2.0',
      id: crypto.randomUUID(),
      method: 'tasks/cancel',
      params: { id: taskId },
    };
    await this.#link.publish(topic, JSON.stringify(request), { clientId: this.#gateway, userId: user });
  }

  /** Waits for something that came or will come. */
  find(wants: (returned: MeshTestReply) => boolean): Promise<MeshTestReply> {
    const there = this.returned.find(wants);
    if (there) return Promise.resolve(there);
    return new Promise((found) => this.#waiting.push({ wants, found }));
  }

  /** The answer to a task. */
  answer(taskId: string): Promise<MeshTestReply> {
    return this.find(({ topic, place }) => place === 'response' && topic.endsWith(`/${taskId}`));
  }

  /** Everything of a task: updates and answers. */
  of(taskId: string, place?: MeshTestReply['place']): MeshTestReply[] {
    return this.returned.filter(
      (each) => each.topic.endsWith(`/${taskId}`) && (place === undefined || each.place === place),
    );
  }

  #take(returned: MeshTestReply): void {
    const { body } = returned;
    if (schema0_3.isPresent && typeof body.result?.kind === 'string') {
      schema0_3.check('SendStreamingMessageSuccessResponse', body);
    }
    this.returned.push(returned);
    this.#waiting = this.#waiting.filter(({ wants, found }) => {
      if (!wants(returned)) return true;
      found(returned);
      return false;
    });
  }
}

/** A request of 0.3: the id of the request is the id of the task. */
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

/** A request of 0.1: the id of the task stands in the params. */
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

/** A request of 1.0. */
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
