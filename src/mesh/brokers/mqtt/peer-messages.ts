import type { Clock } from '../../../primitives/clock.ts';
import { noSubscribersCode, type PeerMessage } from './control-messages.ts';
import type { MqttSocket } from './mqtt-connection.ts';

/** Milliseconds to wait for a control message. */
const responseTimeout = 2_000;

/** Control messages to this connection, and their listeners. */
export class PeerMessages {
  readonly #clock: Clock;
  readonly #listeners = new Set<(message: PeerMessage) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  receive(message: PeerMessage): void {
    for (const listener of this.#listeners) listener(message);
  }

  /** Waits for a matching message; resolves with undefined after a timeout. */
  waitFor(matches: (message: PeerMessage) => boolean): {
    response: Promise<PeerMessage | undefined>;
    stop: () => void;
  } {
    let stop = (): void => {};
    const response = new Promise<PeerMessage | undefined>((resolve) => {
      const finish = (message?: PeerMessage): void => {
        stopTimer();
        this.#listeners.delete(listener);
        resolve(message);
      };
      const listener = (message: PeerMessage): void => {
        if (matches(message)) finish(message);
      };
      const stopTimer = this.#clock.after(responseTimeout, finish);
      stop = finish;
      this.#listeners.add(listener);
    });
    return { response, stop };
  }

  /** Publishes a query and waits for its response. Most brokers report immediately that a topic has no subscribers. */
  async query(
    socket: MqttSocket,
    {
      topic,
      query,
      isResponse,
    }: { topic: string; query: string; isResponse: (message: PeerMessage) => boolean },
  ): Promise<PeerMessage | undefined> {
    const waiting = this.waitFor(isResponse);
    try {
      const code = await socket.store(topic, query);
      return code === noSubscribersCode ? undefined : await waiting.response;
    } finally {
      waiting.stop();
    }
  }
}
