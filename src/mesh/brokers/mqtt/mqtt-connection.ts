import type { IClientOptions, IConnackPacket, IPublishPacket, MqttClient } from 'mqtt';
import { A2AError } from '../../../protocol/errors.ts';
import type { Clock } from '../../../primitives/clock.ts';
import { type ReconnectBackoff, reconnectDelay } from '../reconnect-backoff.ts';

/** What mqtt.js shows of itself, as far as it is needed here. */
type MqttConnect = (url: string, options: IClientOptions) => MqttClient;

/** What every connection of a link has in common. */
export interface MqttConnectionOptions {
  readonly connect: MqttConnect;
  readonly url: string;
  readonly options: IClientOptions;
  readonly pauses: ReconnectBackoff;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Who a connection is to the broker. */
export interface MqttSession {
  readonly clientId: string;
  /** For how many seconds the broker remembers it when it is gone; 0 for not at all. */
  readonly expiry: number;
  /** How many messages the broker may send before one is acknowledged. */
  readonly receiveMaximum: number;
  readonly will?: IClientOptions['will'];
  /** Whether somebody else has the session by now; asked before it is taken up again. */
  readonly isTaken?: () => Promise<boolean>;
}

/** What happens on a connection. */
export interface MqttConnectionHandlers {
  /** There is a connection; it counts as up when this is through. */
  up(wire: MqttSocket): Promise<void>;
  /** It counts as up. */
  ready?(wire: MqttSocket): void;
  down(): void;
  /** A message arrived; the broker keeps it until it is acknowledged. */
  message(packet: IPublishPacket, acknowledge: () => void): void;
  /** It will not come back. */
  lost(error: A2AError): void;
}

/** The code for a packet that is larger than the broker takes. */
export const packetTooLargeCode = 0x95;

/** Somebody else connected with the same name. */
const takenOver = 0x8e;

/** Reason codes of a broker that knows who we are and does not want us, and what to do about it. */
const refusals: { readonly [code: number]: [string, string] } = {
  0x85: ['does not accept the client id', 'Allow client ids of up to 23 letters and digits at the broker.'],
  0x86: ['refused username and password', 'Check `username` and `password`, or the user in the URL.'],
  0x87: ['did not let the user in', 'Check `username` and `password`, and what the broker allows the user.'],
  0x8c: ['wants another way of authentication', 'Check how the broker authenticates its clients.'],
  0x84: ['does not speak MQTT 5', 'Use a broker with MQTT 5.'],
  0x01: ['does not speak MQTT 5', 'Use a broker with MQTT 5.'],
};

/** One socket and what can be done with it while it lasts. A socket that broke takes nothing more and says nothing. */
export class MqttSocket {
  readonly #client: MqttClient;
  readonly isResumed: boolean;
  /** How many messages the broker takes before it acknowledged one. */
  readonly receiveMaximum: number;
  /** The code of the acknowledgement that is being read: mqtt.js does not hand it on when it is no error. */
  #code = 0;

  readonly #maximumPacketSize: number;

  constructor(client: MqttClient, { sessionPresent, properties }: IConnackPacket) {
    this.#client = client;
    this.isResumed = sessionPresent;
    this.receiveMaximum = properties?.receiveMaximum ?? 65_535;
    this.#maximumPacketSize = properties?.maximumPacketSize ?? Number.POSITIVE_INFINITY;
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'puback') this.#code = packet.reasonCode ?? 0;
    });
  }

  /** Publishes at least once. `settled` gets the reason code of the broker, and is not called when the socket broke. */
  publish(
    topic: string,
    payload: string,
    options: {
      texts?: { readonly [name: string]: string } | undefined;
      retain?: boolean;
      expiry?: number;
    } = {},
    settled: (code: number, error?: Error) => void = () => {},
  ): void {
    if (this.#isTooLarge(topic, payload, options.texts)) {
      queueMicrotask(() => settled(packetTooLargeCode));
      return;
    }
    const properties = {
      // A list of no properties is none: mqtt.js would not send the message.
      ...(options.texts && { userProperties: { ...options.texts } }),
      ...(options.expiry && { messageExpiryInterval: options.expiry }),
    };
    this.#client.publish(topic, payload, { qos: 1, retain: options.retain ?? false, properties }, (error) => {
      if (!this.#client.connected) return;
      if (error) settled('code' in error && typeof error.code === 'number' ? error.code : 0x80, error);
      else settled(this.#code);
    });
  }

  /** A broker that gets more than it takes breaks the connection, and would do so each time. */
  #isTooLarge(topic: string, payload: string, texts: { readonly [name: string]: string } = {}): boolean {
    if (this.#maximumPacketSize === Number.POSITIVE_INFINITY) return false;
    const size = [topic, payload, ...Object.entries(texts).flat()].reduce(
      (sum, text) => sum + Buffer.byteLength(text) + 5,
      32,
    );
    return size > this.#maximumPacketSize;
  }

  /** Publishes, and waits for the broker. */
  store(
    topic: string,
    payload: string,
    options: { retain?: boolean; expiry?: number } = {},
  ): Promise<number> {
    return new Promise((resolve, reject) => {
      const broken = (): void => reject(new A2AError('UNAVAILABLE', 'The broker is gone'));
      this.#client.once('close', broken);
      this.publish(topic, payload, options, (code, error) => {
        this.#client.off('close', broken);
        if (code >= 0x80) reject(refused(`publish to ${topic}`, error));
        else resolve(code);
      });
    });
  }

  async subscribe(pattern: string): Promise<void> {
    try {
      const grants = await this.#client.subscribeAsync(pattern, { qos: 1 });
      if (grants.every(({ qos }) => qos < 0x80)) return;
    } catch (error) {
      if (!this.#client.connected) throw new A2AError('UNAVAILABLE', 'The broker is gone', { cause: error });
      throw refused(`subscribe to ${pattern}`, error);
    }
    throw refused(`subscribe to ${pattern}`);
  }

  async unsubscribe(pattern: string): Promise<void> {
    await this.#client.unsubscribeAsync(pattern);
  }
}

function refused(what: string, cause?: unknown): A2AError {
  return new A2AError('PERMISSION_DENIED', `The broker does not allow to ${what}`, {
    cause,
    hint: 'Allow it for this user in the access rules of the broker.',
  });
}

/** Keeps a connection to the broker: when it breaks it is made again, after a pause that grows. */
export class MqttConnection {
  readonly #setting: MqttConnectionOptions;
  readonly #session: MqttSession;
  readonly #events: MqttConnectionHandlers;
  #client: MqttClient | undefined;
  #wire: MqttSocket | undefined;
  #failures = 0;
  #isOver = false;
  #stopPause: () => void = () => {};
  #attempted: ((error?: A2AError) => void) | undefined;

  constructor(setting: MqttConnectionOptions, session: MqttSession, events: MqttConnectionHandlers) {
    this.#setting = setting;
    this.#session = session;
    this.#events = events;
  }

  /** What to write to, while there is something. */
  get wire(): MqttSocket | undefined {
    return this.#wire;
  }

  /**
   * Connects for the first time.
   *
   * @param patience - for how many milliseconds a broker that is not there is looked for again.
   */
  start(patience: number): Promise<void> {
    const { clock } = this.#setting;
    const deadline = clock.now() + patience;
    return new Promise((resolve, reject) => {
      this.#attempted = (error) => {
        if (error && error.reason === 'UNAVAILABLE' && clock.now() < deadline) return;
        this.#attempted = undefined;
        if (!error) {
          resolve();
          return;
        }
        void this.end();
        reject(error);
      };
      this.#attempt();
    });
  }

  /** Lets go of the connection. @param expiry - for how many seconds the broker keeps the session, if not as begun. */
  async end(expiry?: number): Promise<void> {
    this.#isOver = true;
    this.#stopPause();
    this.#wire = undefined;
    const client = this.#client;
    if (!client) return;
    const isGraceful = client.connected;
    const closed = client.stream.destroyed
      ? Promise.resolve()
      : new Promise<void>((done) => client.once('close', () => done()));
    const stop = this.#setting.clock.after(1_000, () => client.stream.destroy());
    client.end(!isGraceful, {
      reasonCode: 0,
      ...(expiry !== undefined && { properties: { sessionExpiryInterval: expiry } }),
    });
    await closed;
    stop();
  }

  /** Breaks the socket, as a network does. */
  break(): void {
    this.#client?.stream.destroy();
  }

  #attempt(): void {
    const { connect, url, options } = this.#setting;
    const { clientId, expiry, receiveMaximum, will } = this.#session;
    let problem: Error | undefined;
    let client: MqttClient;
    try {
      client = connect(url, {
        ...options,
        ...(will && { will }),
        clientId,
        protocolVersion: 5,
        clean: expiry === 0,
        // One client object for each socket: nothing of an old one is ever mistaken for something of the new.
        reconnectPeriod: 0,
        resubscribe: false,
        properties: { ...options.properties, sessionExpiryInterval: expiry, receiveMaximum },
      });
    } catch (error) {
      this.#fail(
        new A2AError('INVALID_PARAMS', 'The address of the broker cannot be used', { cause: error }),
      );
      return;
    }
    this.#client = client;
    // Acknowledgements are small and must not wait for one another.
    const { stream } = client;
    if ('setNoDelay' in stream && typeof stream.setNoDelay === 'function') stream.setNoDelay(true);
    client.handleMessage = (packet, next) => {
      let isOpen = true;
      this.#events.message(packet, () => {
        if (!isOpen || !client.connected || packet.qos === 0) return;
        isOpen = false;
        client['_sendPacket']({ cmd: 'puback', messageId: packet.messageId ?? 0, reasonCode: 0 });
      });
      // An error is how one says that the acknowledgement is not to be sent now; the next message comes all the same.
      next(new Error('acknowledged later'));
    };
    client.on('connect', (packet) => {
      this.#failures = 0;
      const wire = new MqttSocket(client, packet);
      this.#events.up(wire).then(
        () => {
          if (this.#client !== client || !client.connected || this.#isOver) return;
          this.#wire = wire;
          this.#events.ready?.(wire);
          this.#attempted?.();
        },
        (error: unknown) => {
          problem = error instanceof Error ? error : undefined;
          client.stream.destroy();
        },
      );
    });
    client.on('error', (error) => {
      problem ??= error;
    });
    client.on('disconnect', ({ reasonCode }) => {
      if (reasonCode === takenOver) problem = lostToRival();
    });
    client.on('close', () => {
      if (this.#client !== client) return;
      this.#wire = undefined;
      client.removeAllListeners();
      client.on('error', () => {});
      // mqtt.js keeps timers for a socket that broke unless it is told that nobody needs it any more.
      client.end(true);
      if (this.#isOver) return;
      this.#events.down();
      this.#fail(explain(problem, this.#setting.url));
    });
  }

  #fail(error: A2AError): void {
    this.#failures++;
    const isFirst = this.#attempted !== undefined;
    this.#attempted?.(error);
    if (this.#isOver) return;
    // Who was let in once is patient with a broker that lost its users for a while, but not with a rival.
    if (error.reason === 'CONFLICT' || (isFirst && error.reason !== 'UNAVAILABLE')) {
      this.#isOver = true;
      this.#events.lost(error);
      return;
    }
    const pause = reconnectDelay(this.#failures, this.#setting.pauses, this.#setting.random);
    this.#stopPause = this.#setting.clock.after(pause, () => void this.#attemptAgain());
  }

  /** Not every broker says that somebody else took the session, and two who take it in turns have nothing. */
  async #attemptAgain(): Promise<void> {
    const isTaken = (await this.#session.isTaken?.().catch(() => false)) ?? false;
    if (this.#isOver) return;
    if (isTaken) this.#fail(lostToRival());
    else this.#attempt();
  }
}

function lostToRival(): A2AError {
  return new A2AError('CONFLICT', 'Somebody else took over the queue', {
    hint: 'Run one subscriber of an exclusive queue, or subscribe to it as shared.',
  });
}

function explain(problem: Error | undefined, url: string): A2AError {
  if (problem instanceof A2AError) return problem;
  const where = placeOf(url);
  const code = problem && 'code' in problem ? problem.code : undefined;
  const refusal = typeof code === 'number' ? refusals[code] : undefined;
  if (refusal)
    return new A2AError('UNAUTHENTICATED', `The broker at ${where} ${refusal[0]}`, {
      cause: problem,
      hint: refusal[1],
    });
  if (typeof code === 'string' && /CERT|TLS|SSL|SIGNATURE|ALTNAME/.test(code))
    return new A2AError(
      'PERMISSION_DENIED',
      `The certificate of the broker at ${where} is not trusted: ${code}`,
      {
        cause: problem,
        hint: 'Give the certificate of its authority as `tls.ca`.',
      },
    );
  return new A2AError(
    'UNAVAILABLE',
    `The broker at ${where} cannot be reached${typeof code === 'string' ? `: ${code}` : ''}`,
    {
      cause: problem,
      hint: 'Check that the broker runs and that host and port of the URL are right.',
    },
  );
}

/** A URL without what is secret in it. */
function placeOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
