import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { A2AError } from '../../../protocol/errors.ts';
import type { Clock } from '../../../primitives/clock.ts';
import { SendWindow } from '../send-window.ts';

/** A message that the server has not stored yet. */
interface PendingMessage {
  readonly number: number;
  readonly subject: string;
  readonly payload: string;
  readonly headers: MsgHdrs;
  settle(error?: A2AError): void;
}

/** Milliseconds without an acknowledgement after which messages are sent again. */
const ackTimeout = 10_000;

/** Milliseconds until a full stream is tried again. */
const retryDelay = 100;

/** Publishes messages to a stream with at-least-once delivery and in order. */
export class NatsPublisher {
  readonly #connection: NatsConnection;
  readonly #inbox: string;
  readonly #clock: Clock;
  readonly #window: SendWindow<PendingMessage>;
  readonly #pending = new Map<number, PendingMessage>();
  #numbers = 0;
  #inFlight = 1;
  #isUp = false;
  #hasProgressed = true;
  #stopTick: () => void = () => {};
  #stopRetry: (() => void) | undefined;
  #onDrained: (() => void) | undefined;

  constructor(connection: NatsConnection, inbox: string, clock: Clock) {
    this.#connection = connection;
    this.#inbox = inbox;
    this.#clock = clock;
    this.#window = new SendWindow((message) => {
      const reply = `${inbox}.${message.number}`;
      connection.publish(message.subject, message.payload, { headers: message.headers, reply });
    });
    connection.subscribe(`${inbox}.*`, {
      callback: (error, message) => {
        if (!error) this.#receiveAck(message);
      },
    });
    this.#scheduleCheck();
  }

  publish(subject: string, payload: string, headers: MsgHdrs): Promise<void> {
    const limit = this.#connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    const size =
      Buffer.byteLength(payload) + [...headers].reduce((sum, [, texts]) => sum + texts.join().length, 100);
    if (size > limit)
      throw new A2AError('PAYLOAD_TOO_LARGE', `The message has ${size} bytes; the server accepts ${limit}`, {
        hint: 'Raise `max_payload` of the server, or send large content as an artifact.',
      });
    return new Promise((resolve, reject) => {
      const number = ++this.#numbers;
      const message: PendingMessage = {
        number,
        subject,
        payload,
        headers,
        settle: (error) => {
          this.#pending.delete(number);
          if (this.#pending.size === 0) this.#onDrained?.();
          if (error) reject(error);
          else resolve();
        },
      };
      this.#pending.set(number, message);
      this.#window.push(message);
    });
  }

  open(inFlight: number): void {
    this.#isUp = true;
    this.#inFlight = inFlight;
    this.#window.open(inFlight);
  }

  pause(): void {
    this.#isUp = false;
    this.#window.pause();
  }

  /** Waits until the server has stored all messages, at most `timeout` milliseconds. */
  async close(timeout: number): Promise<void> {
    if (this.#pending.size > 0) {
      await new Promise<void>((resolve) => {
        const stopTimer = this.#clock.after(timeout, resolve);
        this.#onDrained = () => {
          stopTimer();
          resolve();
        };
      });
    }
    this.#stopTick();
    this.#stopRetry?.();
    this.#window.clear();
    const error = new A2AError(
      'UNAVAILABLE',
      'The connection was closed before the server stored the message',
    );
    for (const message of this.#pending.values()) message.settle(error);
  }

  #receiveAck(ack: Msg): void {
    const number = Number(ack.subject.slice(this.#inbox.length + 1));
    const code = ack.headers?.code;
    let response: { error?: { err_code?: number; description?: string } } = {};
    try {
      if (!code) response = ack.json();
    } catch {
      return;
    }
    const { error } = response;
    // If the stream is missing or full, all following messages wait too, which preserves the order.
    if (code || (error && /maximum|insufficient|exceeded|unavailable/i.test(error.description ?? ''))) {
      this.#retryLater();
      return;
    }
    this.#hasProgressed = true;
    this.#window.remove(number)?.settle(
      error &&
        new A2AError('PERMISSION_DENIED', `The server did not store the message: ${error.description}`, {
          hint: 'Check the configuration of the stream.',
        }),
    );
  }

  #retryLater(): void {
    if (this.#stopRetry || !this.#isUp) return;
    this.#window.pause();
    this.#stopRetry = this.#clock.after(retryDelay, () => {
      this.#stopRetry = undefined;
      if (this.#isUp) this.#window.open(this.#inFlight);
    });
  }

  /** Sends unacknowledged messages again after the ack timeout; the server deduplicates them. */
  #scheduleCheck(): void {
    this.#stopTick = this.#clock.after(ackTimeout, () => {
      if (!this.#hasProgressed && this.#pending.size > 0) this.#retryLater();
      this.#hasProgressed = false;
      this.#scheduleCheck();
    });
  }
}
