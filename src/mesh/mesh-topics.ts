import { invalidField } from '../protocol/errors.ts';
import { stripTrailing } from '../primitives/text.ts';

/** Limits of topics that all brokers accept. */
const maxBytes = 250;
const maxLevels = 128;

// Control characters and the wildcards of all brokers.
const forbiddenInName = /[\p{Cc}\s/*>+#]/u;
const forbiddenInTopic = /[\p{Cc}*>+#]/u;

const encoder = new TextEncoder();

/** Returns true for a topic that a message can be published to. */
export function isTopic(text: string): boolean {
  return (
    text !== '' &&
    !forbiddenInTopic.test(text) &&
    text.split('/').every((level) => level !== '') &&
    text.split('/').length <= maxLevels &&
    encoder.encode(text).length <= maxBytes
  );
}

/**
 * Checks the name of an agent or a gateway, which must be one topic level.
 *
 * @throws {@link A2AError} `INVALID_PARAMS`
 */
export function checkAgentName(name: string, field = 'name'): string {
  if (name === '') throw invalidField(field, 'must not be empty');
  if (forbiddenInName.test(name)) {
    throw invalidField(field, `must be one topic level without spaces and / * > + #, not "${name}"`);
  }
  return name;
}

/** Topics of one namespace. Slashes at the end of the namespace are ignored. */
export class MeshTopics {
  /** Namespace without slashes at its end. */
  readonly namespace: string;
  readonly #base: string;

  constructor(namespace: string) {
    const stripped = stripTrailing(namespace, '/');
    if (stripped === '') throw invalidField('namespace', 'must not be empty');
    if (!isTopic(stripped)) {
      throw invalidField(
        'namespace',
        `must be topic levels separated by /, without wildcards, not "${namespace}"`,
      );
    }
    this.namespace = stripped;
    this.#base = `${stripped}/a2a/v1`;
  }

  /** Returns the topic of requests to an agent. */
  request(agent: string): string {
    return this.#topic('agent/request', checkAgentName(agent));
  }

  /** Returns the topic of status updates of a task, for the gateway or the delegating agent that requested it. */
  status(kind: MeshReceiver, receiver: string, taskId: string): string {
    return this.#topic(`${kind}/status`, checkAgentName(receiver), taskId);
  }

  /** Returns the topic of the response to a task, for the gateway or the delegating agent that requested it. */
  response(kind: MeshReceiver, receiver: string, taskId: string): string {
    return this.#topic(`${kind}/response`, checkAgentName(receiver), taskId);
  }

  /** Returns the patterns of all status updates and responses for a receiver. */
  inbox(kind: MeshReceiver, receiver: string): [status: string, response: string] {
    const name = checkAgentName(receiver);
    return [`${this.#base}/${kind}/status/${name}/>`, `${this.#base}/${kind}/response/${name}/>`];
  }

  /** Returns the default response topic of a client. */
  clientResponse(clientId: string): string {
    return this.#topic('client/response', checkAgentName(clientId, 'clientId'));
  }

  /** Returns true for a topic of this namespace that is neither one of requests nor of announcements. */
  isReplyTopic(topic: string): boolean {
    const isReserved =
      topic.startsWith(`${this.#base}/agent/request/`) || topic.startsWith(`${this.#base}/discovery/`);
    return topic.startsWith(`${this.namespace}/`) && !isReserved;
  }

  /** Returns the topic of a request or response without the id of its task, and undefined for other topics. */
  destinationOf(topic: string): string | undefined {
    if (!topic.startsWith(`${this.#base}/`)) return undefined;
    const [receiver, kind, name = ''] = topic.slice(this.#base.length + 1).split('/');
    if (kind === 'request') return topic;
    return kind === 'response' ? `${this.#base}/${receiver}/response/${name}` : undefined;
  }

  /** Topic of card announcements. */
  get agentCards(): string {
    return this.#topic('discovery/agentcards');
  }

  /** Pattern of all announcements of agents and gateways. */
  get discovery(): string {
    return `${this.#base}/discovery/>`;
  }

  #topic(...levels: string[]): string {
    const topic = [this.#base, ...levels].join('/');
    if (isTopic(topic)) return topic;
    throw invalidField(
      'topic',
      `must have at most ${maxBytes} bytes and no wildcards: "${topic.slice(0, 300)}"`,
    );
  }
}

/** Kind of a receiver of status updates and responses. */
export type MeshReceiver = 'gateway' | 'agent';
