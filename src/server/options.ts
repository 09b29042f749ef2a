import type { A2AError } from '../protocol/errors.ts';
import type { AuthOptions } from './auth/authenticator.ts';
import type { Exchange } from './exchange.ts';

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
   * Lets a method of 1.0 pass without its `A2A-Version` header, which strictly means 0.3.
   * @defaultValue false
   */
  lenientVersion?: boolean;
  /** How many bytes a request may have. @defaultValue 10 MiB */
  maxBodyBytes?: number;
  /** How many streams may be open at once. @defaultValue 50,000 */
  maxStreams?: number;
  /** Milliseconds between two signs of life on a silent stream; 0 for none. @defaultValue 15,000 */
  heartbeat?: number;
  /** For how many milliseconds a reader may not read before its stream is cut. @defaultValue 60,000 */
  stallTimeout?: number;
  /** Which origins a browser may call from. @defaultValue `'*'`, without credentials */
  cors?: '*' | false | readonly string[];
  /** For how many seconds a card may be kept by its reader. @defaultValue 300 */
  cardMaxAge?: number;
  /**
   * Who may call. Cards, health and readiness stay open; `dragoman/server/auth` has the ways to prove it.
   * @defaultValue everybody, and all share the same tasks
   */
  auth?: AuthOptions;
  /** Hears of every fault that is not the caller's. */
  onError?: (error: A2AError, exchange: Exchange) => void;
}
