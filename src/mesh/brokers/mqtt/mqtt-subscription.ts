import type { IPublishPacket } from 'mqtt';
import { A2AError } from '../../../protocol/errors.ts';
import type { MeshMessage } from '../broker-connection.ts';
import { MessageProcessor } from '../message-processor.ts';
import { topicMatches, writeMqttPattern } from '../topic-pattern.ts';
import { readMessageProperties } from './message-properties.ts';
import { MqttConnection, type MqttConnectionOptions } from './mqtt-connection.ts';

/** Options of {@link MqttSubscription}. */
export interface MqttSubscriptionOptions {
  /** Name of the queue; undefined if it has none. */
  readonly queue: string | undefined;
  /** Client id of the session. */
  readonly clientId: string;
  /** Group of a shared subscription; undefined for an exclusive one. */
  readonly group: string | undefined;
  readonly patterns: readonly string[];
  /** Seconds for which the broker retains the session without a connection. */
  readonly expiry: number;
  /** Whether the broker retains the session after `close`. */
  readonly isDurable: boolean;
  readonly concurrency: number;
  readonly dedupWindow: number;
  readonly handle: (message: MeshMessage) => void | Promise<void>;
  onError(error: unknown): void;
  onClosed(): void;
}

/**
 * Subscription with its own MQTT session: the receive maximum of a session limits the messages in progress, and its client
 * id identifies the queue. A message is acknowledged (PUBACK) when it is finished; the broker delivers the others again.
 */
export class MqttSubscription {
  readonly options: MqttSubscriptionOptions;
  readonly #filters: readonly string[];
  readonly #connection: MqttConnection;
  readonly #processor: MessageProcessor;
  #received = 0;
  #closing: Promise<void> | undefined;

  constructor(connectionOptions: MqttConnectionOptions, options: MqttSubscriptionOptions) {
    this.options = options;
    const { group, patterns, handle, concurrency, dedupWindow } = options;
    const prefix = group === undefined ? '' : `$share/${group}/`;
    this.#filters = patterns.map((pattern) => `${prefix}${writeMqttPattern(pattern)}`);
    this.#processor = new MessageProcessor({
      handle,
      concurrency,
      dedupWindow,
      onError: (error) => options.onError(error),
    });
    this.#connection = new MqttConnection(
      connectionOptions,
      { clientId: options.clientId, expiry: options.expiry, receiveMaximum: concurrency },
      {
        // Also if the session was resumed: a restarted broker may have lost subscriptions.
        up: async (socket) => {
          await Promise.all(this.#filters.map((filter) => socket.subscribe(filter)));
        },
        message: (packet, acknowledge) => this.#receive(packet, acknowledge),
        unstable: () => options.onError(this.#conflict('The broker keeps closing the connection of')),
        lost: (error) => {
          options.onError(
            error.reason === 'CONFLICT' ? this.#conflict('Another subscriber took over') : error,
          );
          void this.close();
        },
      },
    );
  }

  start(timeout: number): Promise<void> {
    return this.#connection.start(timeout);
  }

  /** Accepts no more messages, and waits for those in progress. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const { group, isDurable } = this.options;
    if (group !== undefined && !isDurable) await this.#drain();
    await this.#processor.close();
    await this.#connection.end(isDurable ? undefined : 0);
    this.options.onClosed();
  }

  /**
   * Leaves a share, and processes the messages that the broker has already assigned to this session, because it would drop
   * them. The broker sends those for which there is room before it confirms that the member has left, also repeatedly.
   */
  async #drain(): Promise<void> {
    try {
      await this.#leave();
      for (let before = -1; before !== this.#received; ) {
        await this.#processor.idle();
        before = this.#received;
        await this.#leave();
      }
    } catch {
      // Without a connection there is nothing to drain.
    }
  }

  async #leave(): Promise<void> {
    const { socket } = this.#connection;
    if (socket) await Promise.all(this.#filters.map((filter) => socket.unsubscribe(filter)));
  }

  #receive(packet: IPublishPacket, acknowledge: () => void): void {
    this.#received++;
    const { topic } = packet;
    // In MQTT `a/#` also matches `a`, and queued messages may match earlier patterns only.
    if (!this.options.patterns.some((pattern) => topicMatches(pattern, topic))) {
      acknowledge();
      return;
    }
    const { id, properties } = readMessageProperties(packet);
    const message: MeshMessage = {
      topic,
      payload: packet.payload.toString(),
      properties,
      redelivered: packet.dup,
      ...(id !== undefined && { id }),
    };
    this.#processor.process(id, message, acknowledge);
  }

  #conflict(what: string): A2AError {
    const { queue, clientId } = this.options;
    return new A2AError('CONFLICT', `${what} queue ${queue ?? clientId}`, {
      hint: 'Run one subscriber of an exclusive queue, or subscribe with `shared` and a `clientId` of your own.',
    });
  }
}
