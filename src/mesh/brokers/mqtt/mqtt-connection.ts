import type { IClientOptions, IConnackPacket, IPublishPacket, MqttClient } from 'mqtt';
import { A2AError } from '../../../protocol/errors.ts';
import type { Clock } from '../../../primitives/clock.ts';
import { backoffDelay, type BackoffOptions } from '../../../primitives/backoff.ts';

type MqttConnect = (url: string, options: IClientOptions) => MqttClient;

/** Options of all MQTT connections of one broker connection. */
export interface MqttConnectionOptions {
  readonly connect: MqttConnect;
  readonly url: string;
  readonly options: IClientOptions;
  readonly backoff: BackoffOptions;
  readonly clock: Clock;
  readonly random: () => number;
}

/** MQTT session of a connection. */
export interface MqttSession {
  readonly clientId: string;
  /** Seconds for which the broker retains the session after a disconnect; 0 discards it. */
  readonly expiry: number;
  /** Maximum number of unacknowledged messages that the broker may send. */
  readonly receiveMaximum: number;
}

/** Callbacks of a connection. */
export interface MqttConnectionHandlers {
  /** Called after the connection is established; it counts as up when the promise resolves. */
  up?(socket: MqttSocket): Promise<void>;
  /** Called when the connection counts as up. */
  ready?(socket: MqttSocket): void;
  down?(): void;
  /** Called with a message; the broker retains it until it is acknowledged. */
  message?(packet: IPublishPacket, acknowledge: () => void): void;
  /** Called when the broker has closed several connections in a row shortly after they were established. */
  unstable?(): void;
  /** Called when the connection is lost permanently. */
  lost(error: A2AError): void;
}

/** MQTT reason code "packet too large". */
export const packetTooLargeCode = 0x95;

/** MQTT reason code "session taken over". */
const sessionTakenOver = 0x8e;

/** Milliseconds after which a connection counts as stable. */
const stableAfter = 5_000;

/**
 * Number of unstable connections in a row that is reported. Not every broker reports a takeover (Mosquitto 2.0.11 does not),
 * and two clients with the same client id disconnect each other for ever.
 */
const maxUnstable = 3;

/** MQTT reason codes of a rejected connection, with message and hint. */
const rejections: { readonly [code: number]: [string, string] } = {
  0x85: ['does not accept the client id', 'Allow client ids of up to 23 letters and digits at the broker.'],
  0x86: ['rejected username and password', 'Check `username` and `password`, or the user in the URL.'],
  0x87: ['did not authorize the user', 'Check `username` and `password`, and the permissions of the user.'],
  0x8c: ['requires another authentication method', 'Check how the broker authenticates its clients.'],
  0x84: ['does not support MQTT 5', 'Use a broker with MQTT 5.'],
  0x01: ['does not support MQTT 5', 'Use a broker with MQTT 5.'],
};

/** One network connection. After it is closed, calls have no effect. */
export class MqttSocket {
  readonly #client: MqttClient;
  /** Maximum number of unacknowledged messages that the broker accepts. */
  readonly receiveMaximum: number;
  /** Reason code of the acknowledgement being processed, because mqtt.js does not pass on success codes. */
  #ackCode = 0;

  readonly #maximumPacketSize: number;

  constructor(client: MqttClient, { properties }: IConnackPacket) {
    this.#client = client;
    this.receiveMaximum = properties?.receiveMaximum ?? 65_535;
    this.#maximumPacketSize = properties?.maximumPacketSize ?? Number.POSITIVE_INFINITY;
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'puback') this.#ackCode = packet.reasonCode ?? 0;
    });
  }

  /** Publishes at least once. `onAck` receives the reason code; it is not called if the connection is closed. */
  publish(
    topic: string,
    payload: string,
    userProperties: { [name: string]: string },
    onAck: (code: number, error?: Error) => void,
  ): void {
    if (this.#isTooLarge(topic, payload, userProperties)) {
      queueMicrotask(() => onAck(packetTooLargeCode));
      return;
    }
    this.#client.publish(topic, payload, { qos: 1, properties: { userProperties } }, (error) => {
      if (!this.#client.connected) return;
      if (error) onAck('code' in error && typeof error.code === 'number' ? error.code : 0x80, error);
      else onAck(this.#ackCode);
    });
  }

  /** Checks the size in advance, because a broker closes the connection for a packet that is too large. */
  #isTooLarge(topic: string, payload: string, texts: { readonly [name: string]: string }): boolean {
    if (this.#maximumPacketSize === Number.POSITIVE_INFINITY) return false;
    const size = [topic, payload, ...Object.entries(texts).flat()].reduce(
      (sum, text) => sum + Buffer.byteLength(text) + 5,
      32,
    );
    return size > this.#maximumPacketSize;
  }

  async subscribe(pattern: string): Promise<void> {
    try {
      const grants = await this.#client.subscribeAsync(pattern, { qos: 1 });
      if (grants.every(({ qos }) => qos < 0x80)) return;
    } catch (error) {
      if (!this.#client.connected)
        throw new A2AError('UNAVAILABLE', 'The connection to the broker was closed', { cause: error });
      throw deniedError(`subscribe to ${pattern}`, error);
    }
    throw deniedError(`subscribe to ${pattern}`);
  }

  async unsubscribe(pattern: string): Promise<void> {
    await this.#client.unsubscribeAsync(pattern);
  }
}

function deniedError(action: string, cause?: unknown): A2AError {
  return new A2AError('PERMISSION_DENIED', `The broker does not allow to ${action}`, {
    cause,
    hint: 'Allow it for this user in the access control of the broker.',
  });
}

/** MQTT connection that reconnects with exponential backoff and jitter. */
export class MqttConnection {
  readonly #options: MqttConnectionOptions;
  readonly #session: MqttSession;
  readonly #handlers: MqttConnectionHandlers;
  #client: MqttClient | undefined;
  #socket: MqttSocket | undefined;
  #failures = 0;
  #unstable = 0;
  #isOver = false;
  #cancelReconnect: () => void = () => {};
  #onFirstAttempt: ((error?: A2AError) => void) | undefined;

  constructor(options: MqttConnectionOptions, session: MqttSession, handlers: MqttConnectionHandlers) {
    this.#options = options;
    this.#session = session;
    this.#handlers = handlers;
  }

  /** The current socket; undefined while the connection is down. */
  get socket(): MqttSocket | undefined {
    return this.#socket;
  }

  /**
   * Connects for the first time.
   *
   * @param timeout - milliseconds for which attempts are repeated while the broker is unavailable.
   */
  start(timeout: number): Promise<void> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + timeout;
    return new Promise((resolve, reject) => {
      this.#onFirstAttempt = (error) => {
        if (error && error.reason === 'UNAVAILABLE' && clock.monotonic() < deadline) return;
        this.#onFirstAttempt = undefined;
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

  /** Disconnects. @param expiry - overrides the seconds for which the broker retains the session. */
  async end(expiry?: number): Promise<void> {
    this.#isOver = true;
    this.#cancelReconnect();
    this.#socket = undefined;
    const client = this.#client;
    if (!client) return;
    const isGraceful = client.connected;
    const closed = client.stream.destroyed
      ? Promise.resolve()
      : new Promise<void>((done) => client.once('close', () => done()));
    const stopTimer = this.#options.clock.after(1_000, () => client.stream.destroy());
    client.end(!isGraceful, {
      reasonCode: 0,
      ...(expiry !== undefined && { properties: { sessionExpiryInterval: expiry } }),
    });
    await closed;
    stopTimer();
  }

  #attempt(): void {
    const { connect, url, options, clock } = this.#options;
    const { clientId, expiry, receiveMaximum } = this.#session;
    let failure: Error | undefined;
    let connectedAt: number | undefined;
    let client: MqttClient;
    try {
      client = connect(url, {
        ...options,
        clientId,
        protocolVersion: 5,
        clean: expiry === 0,
        // Each socket has its own client object, so that events of an old one cannot be confused with the new one.
        reconnectPeriod: 0,
        resubscribe: false,
        properties: { ...options.properties, sessionExpiryInterval: expiry, receiveMaximum },
      });
    } catch (error) {
      this.#fail(new A2AError('INVALID_PARAMS', 'Invalid broker URL', { cause: error }));
      return;
    }
    this.#client = client;
    // Acknowledgements are small and must not be delayed.
    const { stream } = client;
    if ('setNoDelay' in stream && typeof stream.setNoDelay === 'function') stream.setNoDelay(true);
    client.handleMessage = (packet, next) => {
      let isOpen = true;
      this.#handlers.message?.(packet, () => {
        if (!isOpen || !client.connected || packet.qos === 0) return;
        isOpen = false;
        client['_sendPacket']({ cmd: 'puback', messageId: packet.messageId ?? 0, reasonCode: 0 });
      });
      // An error keeps mqtt.js from sending the acknowledgement now; it continues with the next message.
      next(new Error('acknowledged later'));
    };
    client.on('connect', (packet) => {
      connectedAt = clock.monotonic();
      const socket = new MqttSocket(client, packet);
      Promise.resolve(this.#handlers.up?.(socket)).then(
        () => {
          if (this.#client !== client || !client.connected || this.#isOver) return;
          this.#socket = socket;
          this.#handlers.ready?.(socket);
          this.#onFirstAttempt?.();
        },
        (error: unknown) => {
          failure = error instanceof Error ? error : undefined;
          client.stream.destroy();
        },
      );
    });
    client.on('error', (error) => {
      failure ??= error;
    });
    client.on('disconnect', ({ reasonCode }) => {
      if (reasonCode === sessionTakenOver)
        failure = new A2AError('CONFLICT', 'Another client took over the session');
    });
    client.on('close', () => {
      if (this.#client !== client) return;
      this.#socket = undefined;
      client.removeAllListeners();
      client.on('error', () => {});
      // mqtt.js keeps timers of a closed socket until the client is ended.
      client.end(true);
      if (this.#isOver) return;
      this.#handlers.down?.();
      if (connectedAt !== undefined) this.#recordStability(clock.monotonic() - connectedAt >= stableAfter);
      this.#fail(explainMqttError(failure, this.#options.url));
    });
  }

  #fail(error: A2AError): void {
    this.#failures++;
    const isFirst = this.#onFirstAttempt !== undefined;
    this.#onFirstAttempt?.(error);
    if (this.#isOver) return;
    // After a successful connection, authentication errors are treated as temporary, but a takeover is not.
    if (error.reason === 'CONFLICT' || (isFirst && error.reason !== 'UNAVAILABLE')) {
      this.#isOver = true;
      this.#handlers.lost(error);
      return;
    }
    const delay = backoffDelay(this.#failures - 1, this.#options.backoff, this.#options.random);
    this.#cancelReconnect = this.#options.clock.after(delay, () => this.#attempt());
  }

  #recordStability(isStable: boolean): void {
    if (isStable) this.#failures = 0;
    this.#unstable = isStable ? 0 : this.#unstable + 1;
    if (this.#unstable === maxUnstable) this.#handlers.unstable?.();
  }
}

function explainMqttError(failure: Error | undefined, url: string): A2AError {
  if (failure instanceof A2AError) return failure;
  const { protocol, host } = new URL(url);
  const address = `${protocol}//${host}`;
  const code = failure && 'code' in failure ? failure.code : undefined;
  const rejection = typeof code === 'number' ? rejections[code] : undefined;
  if (rejection)
    return new A2AError('UNAUTHENTICATED', `The broker at ${address} ${rejection[0]}`, {
      cause: failure,
      hint: rejection[1],
    });
  if (typeof code === 'string' && /CERT|TLS|SSL|SIGNATURE|ALTNAME/.test(code))
    return new A2AError(
      'PERMISSION_DENIED',
      `The certificate of the broker at ${address} is not trusted: ${code}`,
      {
        cause: failure,
        hint: 'Pass the CA certificate as `tls.ca`.',
      },
    );
  return new A2AError(
    'UNAVAILABLE',
    `The broker at ${address} cannot be reached${typeof code === 'string' ? `: ${code}` : ''}`,
    {
      cause: failure,
      hint: 'Check that the broker runs and that host and port of the URL are correct.',
    },
  );
}
