/** Command or URL of an MCP server. */
export interface McpServerAddress {
  /** Program to start; uses MCP over its standard input and output. */
  command?: string;
  args?: readonly string[];
  /** Environment variables, such as credentials, in addition to basic ones such as `PATH`. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** URL of a server with streamable HTTP, instead of a command. */
  url?: string;
  /** Headers of every request, such as credentials. */
  headers?: Readonly<Record<string, string>>;
}
