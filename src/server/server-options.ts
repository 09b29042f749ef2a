import type { A2AError } from '../protocol/errors.ts';
import type { AuthOptions } from './auth/authenticator.ts';
import type { LogSink } from '../primitives/log.ts';
import type { HttpServerRequest } from './http/http-message.ts';
import type { ServerLimits } from './limits/limits.ts';
import type { MetricsOptions } from './telemetry/metrics-endpoint.ts';
import type { TrafficObserver } from './telemetry/traffic-observer.ts';

/** A version that an agent may speak alone. */
export type ExclusiveVersion = '0.1' | '0.3';

/** How an agent is shown over HTTP. */
export interface ServerOptions {
  /** The path everything is served below. @defaultValue `''` */
  basePath?: string;
  /**
   * The address that the card gives, with the base path if there is one.
   * @defaultValue what the caller's `Host` header says
   */
  publicUrl?: string;
  /**
   * Believes `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix` where no `publicUrl` is given. Only for
   * servers that nobody reaches but through a proxy which sets them.
   * @defaultValue false
   */
  trustForwarded?: boolean;
  /**
   * Lets a method of 1.0 pass without its `A2A-Version` header, which strictly means 0.3.
   * @defaultValue false
   */
  lenientVersion?: boolean;
  /**
   * Speaks this version alone, as agents did before callers could name one: what they name is not heard, and the card is
   * where that version has it. For samples and tests of those who speak to such agents.
   * @defaultValue every version
   */
  onlyVersion?: ExclusiveVersion;
  /** How many bytes a request may have. @defaultValue 10 MiB */
  maxBodyBytes?: number;
  /** How many streams may be open at once. @defaultValue 50,000 */
  maxStreams?: number;
  /** Milliseconds between two signs of life on a silent stream; 0 for none. @defaultValue 15,000 */
  heartbeat?: number;
  /** For how many milliseconds a reader may not read before its stream is cut. @defaultValue 60,000 */
  stallTimeout?: number;
  /** How much one caller may take. */
  limits?: ServerLimits;
  /** Which origins a browser may call from. @defaultValue `'*'`, without credentials */
  cors?: '*' | false | readonly string[];
  /** For how many seconds a card may be kept by its reader. @defaultValue 300 */
  cardMaxAge?: number;
  /**
   * Signs cards: gets the JSON of 1.0 and gives it back with `signatures`, such as
   * `(card) => signCard(card, { key, kid })` with `signCard` of `dragoman/signing`. It needs `publicUrl`, unless callers
   * are on this machine. A card that cannot be signed is published without; `onError` hears of it.
   */
  signCard?: (card: { [member: string]: unknown }) => object | Promise<object>;
  /**
   * Who may call. Cards, health and readiness stay open; `dragoman/server/auth` has the ways to prove it.
   * @defaultValue everybody, and all share the same tasks
   */
  auth?: AuthOptions;
  /**
   * Shows metrics for Prometheus below the base path.
   * @defaultValue false
   */
  metrics?: boolean | MetricsOptions;
  /**
   * Puts each operation into a span of OpenTelemetry and goes on with the trace of the caller.
   * @defaultValue true where OpenTelemetry was set up before
   */
  tracing?: boolean;
  /** Gets one entry for each request once it is over. @defaultValue nobody listens */
  log?: LogSink;
  /**
   * Sees every request and every answer word for word, credentials of `auth` taken out; `tappedServer` of
   * `dragoman/tap` gives one that records. @defaultValue nobody watches
   */
  onTraffic?: TrafficObserver;
  /** Hears of every fault that is not the caller's. */
  onError?: (error: A2AError, exchange: HttpServerRequest) => void;
}
