import type { Clock } from '../../../primitives/clock.ts';

/** Options of {@link connectMqtt}. */
export interface MqttOptions {
  username?: string;
  password?: string;
  /** Trusted certificates and client certificate, for `mqtts:` and `wss:`. */
  tls?: {
    ca?: string | Buffer;
    cert?: string | Buffer;
    key?: string | Buffer;
    passphrase?: string;
    servername?: string;
    rejectUnauthorized?: boolean;
  };
  /**
   * Name of this process among the subscribers of shared queues, the same after a restart. With it, the broker retains the
   * messages that it has assigned to this subscriber until it returns or `queueExpiry` ends. Without it, `close` processes
   * them, and after a crash the broker drops them or gives them to others. @defaultValue none
   */
  clientId?: string;
  /** Seconds of inactivity after which the broker is pinged. @defaultValue 30 */
  keepalive?: number;
  /** Milliseconds until the first connection must succeed; attempts are repeated until then. @defaultValue 10000 */
  connectTimeout?: number;
  /** Upper bound of the first reconnection delay, in milliseconds. @defaultValue 100 */
  minDelay?: number;
  /** Maximum reconnection delay, in milliseconds. @defaultValue 5000 */
  maxDelay?: number;
  /** Seconds for which the broker retains a named queue without a subscriber (session expiry). @defaultValue 86400 */
  queueExpiry?: number;
  /** Maximum number of messages sent and not acknowledged by the broker. @defaultValue 64 */
  inFlight?: number;
  /** Maximum size of a received message, in bytes. @defaultValue 33554432 */
  maxMessageBytes?: number;
  /** Number of ids of finished messages per subscription for deduplication. @defaultValue 10000 */
  dedupWindow?: number;
  /** Milliseconds that `close` waits for pending publishes. @defaultValue 5000 */
  closeTimeout?: number;
  /** Called with errors of message handlers, and when another subscriber takes over an exclusive queue. */
  onError?: (error: unknown) => void;
  clock?: Clock;
  random?: () => number;
}
