import type { ExchangeLimitOptions } from '../../../server/node/exchange-limits.ts';

/** Options of MCP over streamable HTTP. */
export interface McpHttpOptions extends Pick<ExchangeLimitOptions, 'limits' | 'stallTimeout' | 'trustProxy'> {
  /** @defaultValue 0, any free port */
  port?: number;
  /** @defaultValue `127.0.0.1` */
  host?: string;
  /** @defaultValue `/mcp` */
  path?: string;
  /** Token that clients must send as `Authorization: Bearer …`. @defaultValue all local clients are accepted */
  token?: string;
  /**
   * Allowed `Host` and `Origin` names. They protect against DNS rebinding by web pages in a local browser. Required if
   * `host` is not a loopback address.
   * @defaultValue `localhost`, `127.0.0.1` and `[::1]`
   */
  allowedHosts?: readonly string[];
  /** Maximum number of sessions (MCP up to 2025-11-25); the least recently used one is closed. @defaultValue 100 */
  maxSessions?: number;
  /** Maximum size of a request body. @defaultValue 4 MiB */
  maxBodyBytes?: number;
}
