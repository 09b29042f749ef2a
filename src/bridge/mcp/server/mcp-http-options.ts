/** Where MCP is served over HTTP, and to whom. */
export interface McpHttpOptions {
  /** @defaultValue 0, any free port */
  port?: number;
  /** @defaultValue `127.0.0.1` */
  host?: string;
  /** @defaultValue `/mcp` */
  path?: string;
  /** What callers must send as `Authorization: Bearer …`. @defaultValue anybody on this machine may call */
  token?: string;
  /**
   * The names under which the server may be called, and from whose pages: without this list a page that somebody
   * reads in a browser could call what listens on the same machine. Needed where `host` is not this machine alone.
   * @defaultValue `localhost`, `127.0.0.1` and `[::1]`
   */
  allowedHosts?: readonly string[];
  /** How many clients of the versions up to 2025 are remembered; who was silent longest gives way. @defaultValue 100 */
  maxSessions?: number;
  /** How many bytes a request may have. @defaultValue 4 MiB */
  maxBodyBytes?: number;
}
