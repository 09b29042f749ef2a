import type { Clock } from '../../../primitives/clock.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { SendWindow } from '../send-window.ts';
import { messageIdProperty } from './message-properties.ts';
import { type MqttSocket, packetTooLargeCode } from './mqtt-connection.ts';

/** MQTT reason codes of acknowledgements. */
const noSubscribersCode = 0x10;
const quotaExceededCode = 0x97;

/** A message with encoded properties. */
interface OutgoingMessage {
  readonly topic: string;
  readonly payload: string;
  readonly properties: { readonly [name: string]: string };
}

/** Options of {@link MqttPublisher}. */
export interface MqttPublisherOptions {
  /** Prefix of message ids. */
  readonly id: string;
  readonly clock: Clock;
  /** Milliseconds after a reconnect in which messages without a subscriber are sent again. */
  readonly resubscribeTime: number;
}

/** Publishes messages with QoS 1, in order. A message that is sent again after an interruption has the same id. */
export class MqttPublisher {
  readonly #options: MqttPublisherOptions;
  readonly #window: SendWindow<OutgoingMessage>;
  #socket: MqttSocket | undefined;
  #openedAt: number | undefined;
  #isReconnected = false;

  constructor(options: MqttPublisherOptions) {
    this.#options = options;
    this.#window = new SendWindow(options.clock, (message, number) => this.#send(message, number));
  }

  publish(topic: string, payload: string, properties: { [name: string]: string }): Promise<void> {
    return this.#window.push({ topic, payload, properties });
  }

  /** Sends over a new connection. */
  open(socket: MqttSocket, inFlight: number): void {
    this.#socket = socket;
    this.#isReconnected = this.#openedAt !== undefined;
    this.#openedAt = this.#options.clock.monotonic();
    this.#window.open(Math.min(inFlight, socket.receiveMaximum));
  }

  pause(): void {
    this.#socket = undefined;
    this.#window.pause();
  }

  /** Waits until the broker has stored all messages, at most `timeout` milliseconds. */
  close(timeout: number): Promise<void> {
    return this.#window.close(timeout);
  }

  #send({ topic, payload, properties }: OutgoingMessage, number: number): void {
    const texts = { ...properties, [messageIdProperty]: `${this.#options.id}:${number}` };
    this.#socket?.publish(topic, payload, texts, (code, error) => {
      if (code === quotaExceededCode) this.#window.retryLater();
      else if (code === noSubscribersCode && this.#mayResubscribe()) this.#window.retryOneLater(number);
      else this.#window.settle(number, code < 0x80 ? undefined : publishError(topic, code, error));
    });
  }

  /**
   * Returns true while subscribers may still be reconnecting. A restarted broker may have forgotten their subscriptions:
   * Mosquitto does not restore shared ones.
   */
  #mayResubscribe(): boolean {
    const { clock, resubscribeTime } = this.#options;
    return this.#isReconnected && clock.monotonic() - (this.#openedAt ?? 0) < resubscribeTime;
  }
}

function publishError(topic: string, code: number, cause: Error | undefined): A2AError {
  return code === packetTooLargeCode
    ? new A2AError('PAYLOAD_TOO_LARGE', `A message to ${topic} exceeds the size limit of the broker`, {
        cause,
        hint: 'Raise the limit of the broker, or send large content as an artifact.',
      })
    : new A2AError('PERMISSION_DENIED', `The broker rejected a message to ${topic} (code ${code})`, {
        cause,
        hint: 'Check the access control of the broker.',
      });
}
