import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { A2AError } from '../../../protocol/errors.ts';
import type { Clock } from '../../../primitives/clock.ts';
import { SendWindow } from '../send-window.ts';

/** A message with its headers. */
interface OutgoingMessage {
  readonly subject: string;
  readonly payload: string;
  readonly headers: MsgHdrs;
}

/** Milliseconds without an acknowledgement after which messages are sent again. */
const ackTimeout = 10_000;

/** Publishes messages to a stream with at-least-once delivery and in order. */
export class NatsPublisher {
  readonly #connection: NatsConnection;
  readonly #inbox: string;
  readonly #clock: Clock;
  readonly #window: SendWindow<OutgoingMessage>;
  #hasProgressed = true;
  #stopTick: () => void = () => {};

  constructor(connection: NatsConnection, inbox: string, clock: Clock) {
    this.#connection = connection;
    this.#inbox = inbox;
    this.#clock = clock;
    this.#window = new SendWindow(clock, ({ subject, payload, headers }, number) => {
      connection.publish(subject, payload, { headers, reply: `${inbox}.${number}` });
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
    return this.#window.push({ subject, payload, headers });
  }

  open(inFlight: number): void {
    this.#window.open(inFlight);
  }

  pause(): void {
    this.#window.pause();
  }

  /** Waits until the server has stored all messages, at most `timeout` milliseconds. */
  async close(timeout: number): Promise<void> {
    await this.#window.close(timeout);
    this.#stopTick();
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
    // The stream is missing or full.
    if (code || (error && /maximum|insufficient|exceeded|unavailable/i.test(error.description ?? ''))) {
      this.#window.retryLater();
      return;
    }
    this.#hasProgressed = true;
    this.#window.settle(
      number,
      error &&
        new A2AError('PERMISSION_DENIED', `The server did not store the message: ${error.description}`, {
          hint: 'Check the configuration of the stream.',
        }),
    );
  }

  /** Sends unacknowledged messages again after the ack timeout; the server deduplicates them. */
  #scheduleCheck(): void {
    this.#stopTick = this.#clock.after(ackTimeout, () => {
      if (!this.#hasProgressed && this.#window.size > 0) this.#window.retryLater();
      this.#hasProgressed = false;
      this.#scheduleCheck();
    });
  }
}
