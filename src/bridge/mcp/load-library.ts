import type * as client from '@modelcontextprotocol/client';
import type * as clientStdio from '@modelcontextprotocol/client/stdio';
import type * as server from '@modelcontextprotocol/server';
import type * as serverStdio from '@modelcontextprotocol/server/stdio';
import type * as schemas from '@modelcontextprotocol/server/validators/ajv';
import { A2AError } from '../../protocol/errors.ts';

/** What the server of MCP is made with. */
export type ServerLibrary = typeof server & typeof serverStdio & typeof schemas;

/** What the client of MCP is made with. */
export type ClientLibrary = typeof client & typeof clientStdio;

/** Loads the library that serves MCP, when somebody wants to. */
export async function loadServerLibrary(): Promise<ServerLibrary> {
  try {
    const [mcp, stdio, ajv] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
      import('@modelcontextprotocol/server/validators/ajv'),
    ]);
    return { ...mcp, ...stdio, ...ajv };
  } catch (cause) {
    throw missing('Serving MCP', '@modelcontextprotocol/server', cause);
  }
}

/** Loads the library that calls MCP servers, when somebody wants to. */
export async function loadClientLibrary(): Promise<ClientLibrary> {
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
  return new A2AError('UNAVAILABLE', `${what} needs a library that is not installed`, {
    cause,
    hint: `npm install ${library}`,
  });
}
