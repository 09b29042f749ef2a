/** Where an MCP server is. */
export interface McpServerAddress {
  /** The program to start; MCP is spoken over its standard input and output. */
  command?: string;
  args?: readonly string[];
  /** Its environment beside what every program needs, such as `PATH`. Credentials go here. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** Where to reach it over streamable HTTP, instead of a command. */
  url?: string;
  /** Headers of every request. Credentials go here. */
  headers?: Readonly<Record<string, string>>;
}
