import { invalidField } from '../protocol/errors.ts';

/** What a broker takes as a topic: so many bytes, and so many levels. */
const maxBytes = 250;
const maxLevels = 128;

// Control characters, and everything that some broker takes for a wildcard.
const notInName = /[\p{Cc}\s/*>+#]/u;
const notInTopic = /[\p{Cc}*>+#]/u;

const encoder = new TextEncoder();

/** Tells whether something is a topic that one message can be published to. */
export function isTopic(text: string): boolean {
  return (
    text !== '' &&
    !notInTopic.test(text) &&
    text.split('/').every((level) => level !== '') &&
    text.split('/').length <= maxLevels &&
    encoder.encode(text).length <= maxBytes
  );
}

/**
 * Checks the name of an agent or a gateway, which is one level of a topic.
 *
 * @throws {@link A2AError} INVALID_PARAMS
 */
export function checkAgentName(name: string, field = 'name'): string {
  if (name === '') throw invalidField(field, 'must not be empty');
  if (notInName.test(name)) {
    throw invalidField(field, `must be one level of a topic, without spaces and / * > + #: "${name}" is not`);
  }
  return name;
}

/** The topics of one namespace. Its trailing slash, which many configurations have, does not count. */
export class MeshTopics {
  /** The namespace, without slashes at its end. */
  readonly namespace: string;
  readonly #base: string;

  constructor(namespace: string) {
    const stripped = namespace.replace(/\/+$/, '');
    if (stripped === '') throw invalidField('namespace', 'must not be empty');
    if (!isTopic(stripped)) {
      throw invalidField('namespace', `must be levels parted by /, without wildcards: "${namespace}" is not`);
    }
    this.namespace = stripped;
    this.#base = `${stripped}/a2a/v1`;
  }

  /** Where an agent takes requests: sends, streams and cancels. */
  request(agent: string): string {
    return this.#topic('agent/request', checkAgentName(agent));
  }

  /** Where a gateway, or an agent that delegates, takes updates of one of its tasks. */
  status(kind: MeshReceiver, receiver: string, taskId: string): string {
    return this.#topic(`${kind}/status`, checkAgentName(receiver), taskId);
  }

  /** Where a gateway, or an agent that delegates, takes the one answer of one of its tasks. */
  response(kind: MeshReceiver, receiver: string, taskId: string): string {
    return this.#topic(`${kind}/response`, checkAgentName(receiver), taskId);
  }

  /** The patterns under which a receiver finds everything for it: updates and answers. */
  inbox(kind: MeshReceiver, receiver: string): [status: string, response: string] {
    const name = checkAgentName(receiver);
    return [`${this.#base}/${kind}/status/${name}/>`, `${this.#base}/${kind}/response/${name}/>`];
  }

  /** Where an answer goes when the request did not say. */
  clientResponse(clientId: string): string {
    return this.#topic('client/response', checkAgentName(clientId, 'clientId'));
  }

  /** Where agents announce themselves. */
  get agentCards(): string {
    return this.#topic('discovery/agentcards');
  }

  /** The pattern of every announcement, those of gateways included. */
  get discovery(): string {
    return `${this.#base}/discovery/>`;
  }

  #topic(...levels: string[]): string {
    const topic = [this.#base, ...levels].join('/');
    if (isTopic(topic)) return topic;
    throw invalidField('topic', `may have ${maxBytes} bytes and no wildcards: "${topic.slice(0, 300)}"`);
  }
}

/** Who receives updates and answers. */
export type MeshReceiver = 'gateway' | 'agent';
