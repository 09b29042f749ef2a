import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { A2AError } from '../../../protocol/errors.ts';
import type { Clock } from '../../../primitives/clock.ts';
import { SendWindow } from '../send-window.ts';

/** A message on its way to the stream. */
interface PendingMessage {
  readonly number: number;
  readonly subject: string;
  readonly payload: string;
  readonly headers: MsgHdrs;
  settle(error?: A2AError): void;
}

/** How long the server may take to store something before it is sent again, in milliseconds. */
const answerWithin = 10_000;

/** How long one waits before a full stream is tried again, in milliseconds. */
const fullPause = 100;

/** Publishes into a stream: each message until the server has stored it, all of them in their order. */
export class NatsPublisher {
  readonly #connection: NatsConnection;
  readonly #inbox: string;
  readonly #clock: Clock;
  readonly #outbox: SendWindow<PendingMessage>;
  readonly #open = new Map<number, PendingMessage>();
  #numbers = 0;
  #inFlight = 1;
  #isUp = false;
  #hasMoved = true;
  #stopTick: () => void = () => {};
  #stopPause: (() => void) | undefined;
  #drained: (() => void) | undefined;

  constructor(connection: NatsConnection, inbox: string, clock: Clock) {
    this.#connection = connection;
    this.#inbox = inbox;
    this.#clock = clock;
    this.#outbox = new SendWindow((letter) => {
      const reply = `${inbox}.${letter.number}`;
      connection.publish(letter.subject, letter.payload, { headers: letter.headers, reply });
    });
    connection.subscribe(`${inbox}.*`, {
      callback: (error, message) => {
        if (!error) this.#answered(message);
      },
    });
    this.#tick();
  }

  publish(subject: string, payload: string, headers: MsgHdrs): Promise<void> {
    const limit = this.#connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    const size =
      Buffer.byteLength(payload) + [...headers].reduce((sum, [, texts]) => sum + texts.join().length, 100);
    if (size > limit)
      throw new A2AError('PAYLOAD_TOO_LARGE', `The message has ${size} bytes; the server takes ${limit}`, {
        hint: 'Raise `max_payload` of the server, or send large content as an artifact.',
      });
    return new Promise((resolve, reject) => {
      const number = ++this.#numbers;
      const letter: PendingMessage = {
        number,
        subject,
        payload,
        headers,
        settle: (error) => {
          this.#open.delete(number);
          if (this.#open.size === 0) this.#drained?.();
          if (error) reject(error);
          else resolve();
        },
      };
      this.#open.set(number, letter);
      this.#outbox.push(letter);
    });
  }

  open(inFlight: number): void {
    this.#isUp = true;
    this.#inFlight = inFlight;
    this.#outbox.open(inFlight);
  }

  pause(): void {
    this.#isUp = false;
    this.#outbox.pause();
  }

  /** Waits, but not for ever, until the server has everything. */
  async close(timeout: number): Promise<void> {
    if (this.#open.size > 0) {
      await new Promise<void>((resolve) => {
        const stop = this.#clock.after(timeout, resolve);
        this.#drained = () => {
          stop();
          resolve();
        };
      });
    }
    this.#stopTick();
    this.#stopPause?.();
    this.#outbox.clear();
    const error = new A2AError('UNAVAILABLE', 'The link was closed before the server had the message');
    for (const letter of this.#open.values()) letter.settle(error);
  }

  #answered(message: Msg): void {
    const number = Number(message.subject.slice(this.#inbox.length + 1));
    const code = message.headers?.code;
    let answer: { error?: { err_code?: number; description?: string } } = {};
    try {
      if (!code) answer = message.json();
    } catch {
      return;
    }
    const { error } = answer;
    // Nobody there to store it, or no room: all that follows waits too, so that the order stays.
    if (code || (error && /maximum|insufficient|exceeded|unavailable/i.test(error.description ?? ''))) {
      this.#wait();
      return;
    }
    this.#hasMoved = true;
    const letter = this.#outbox.settle(number);
    letter?.settle(
      error &&
        new A2AError('PERMISSION_DENIED', `The server did not store the message: ${error.description}`, {
          hint: 'Look at the configuration of the stream.',
        }),
    );
  }

  #wait(): void {
    if (this.#stopPause || !this.#isUp) return;
    this.#outbox.pause();
    this.#stopPause = this.#clock.after(fullPause, () => {
      this.#stopPause = undefined;
      if (this.#isUp) this.#outbox.open(this.#inFlight);
    });
  }

  /** Sends again what the server has not answered for long; what it has it does not store twice. */
  #tick(): void {
    this.#stopTick = this.#clock.after(answerWithin, () => {
      if (!this.#hasMoved && this.#open.size > 0) this.#wait();
      this.#hasMoved = false;
      this.#tick();
    });
  }
}
