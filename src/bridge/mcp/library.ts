import { A2AError } from '../../protocol/errors.ts';

/** What the server of MCP is made with. */
export type ServerLibrary = Awaited<ReturnType<typeof loadServerLibrary>>;

/** What the client of MCP is made with. */
export type ClientLibrary = Awaited<ReturnType<typeof loadClientLibrary>>;

/** Loads the library that serves MCP, when somebody wants to. */
export async function loadServerLibrary() {
  try {
    const [mcp, stdio, schemas] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
      import('@modelcontextprotocol/server/validators/ajv'),
    ]);
    return { ...mcp, ...stdio, ...schemas };
  } catch (cause) {
    throw missing('Serving MCP', '@modelcontextprotocol/server', cause);
  }
}

/** Loads the library that calls MCP servers, when somebody wants to. */
export async function loadClientLibrary() {
  try {
    const [mcp, stdio] = await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ]);
    return { ...mcp, ...stdio };
  } catch (cause) {
    throw missing('Calling MCP servers', '@modelcontextprotocol/client', cause);
  }
}

function missing(what: string, library: string, cause: unknown): A2AError {
  const hint = `npm install ${library}`;
  return new A2AError('UNAVAILABLE', `${what} needs a library: ${hint}`, { cause, hint });
}
