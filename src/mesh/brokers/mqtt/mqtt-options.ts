import type { Clock } from '../../../primitives/clock.ts';

/** Options of a link over MQTT. */
export interface MqttOptions {
  username?: string;
  password?: string;
  /** How to trust the broker, and how to be trusted by it, for `mqtts:` and `wss:`. */
  tls?: {
    ca?: string | Buffer;
    cert?: string | Buffer;
    key?: string | Buffer;
    passphrase?: string;
    servername?: string;
    rejectUnauthorized?: boolean;
  };
  /** After how many seconds of silence the broker is asked whether it is there. @defaultValue 30 */
  keepalive?: number;
  /** How long the first connection may take, in milliseconds; until then it is tried again. @defaultValue 10000 */
  connectTimeout?: number;
  /** The longest pause before the first further attempt, in milliseconds. @defaultValue 100 */
  minDelay?: number;
  /** The longest pause between attempts, in milliseconds. @defaultValue 5000 */
  maxDelay?: number;
  /** For how many seconds the broker keeps a named queue that nobody subscribes to. @defaultValue 86400 */
  queueExpiry?: number;
  /** How many messages are on the way to the broker at once. @defaultValue 64 */
  inFlight?: number;
  /** How many messages of ours a queue may be behind before `publish` waits. @defaultValue 256 */
  maxUnacknowledged?: number;
  /** The same in characters, because these are kept in memory. @defaultValue 16777216 */
  maxUnacknowledgedCharacters?: number;
  /** The largest message that is taken, in bytes. @defaultValue 33554432 */
  maxMessageBytes?: number;
  /** How many ids of finished messages each subscription remembers. @defaultValue 10000 */
  dedupWindow?: number;
  /** The topics that links use among themselves begin with this. @defaultValue 'dragoman/link' */
  control?: string;
  /** How long `close` waits for what is being published, in milliseconds. @defaultValue 5000 */
  closeTimeout?: number;
  /** Called with what the work on a message threw, and when a subscription is lost for good. */
  onError?: (error: unknown) => void;
  clock?: Clock;
  random?: () => number;
}
