import type * as client from '@modelcontextprotocol/client';
import type * as clientStdio from '@modelcontextprotocol/client/stdio';
import type * as server from '@modelcontextprotocol/server';
import type * as serverStdio from '@modelcontextprotocol/server/stdio';
import type * as schemas from '@modelcontextprotocol/server/validators/ajv';
import { A2AError } from '../../protocol/errors.ts';

/** Modules of the optional package `@modelcontextprotocol/server`. */
export type ServerLibrary = typeof server & typeof serverStdio & typeof schemas;

/** Modules of the optional package `@modelcontextprotocol/client`. */
export type ClientLibrary = typeof client & typeof clientStdio;

/** Loads the MCP server library. @throws A2AError `UNAVAILABLE` if it is not installed */
export async function loadServerLibrary(): Promise<ServerLibrary> {
  try {
    const [mcp, stdio, ajv] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
      import('@modelcontextprotocol/server/validators/ajv'),
    ]);
    return { ...mcp, ...stdio, ...ajv };
  } catch (cause) {
    throw missingLibrary('Serving MCP', '@modelcontextprotocol/server', cause);
  }
}

/** Loads the MCP client library. @throws A2AError `UNAVAILABLE` if it is not installed */
export async function loadClientLibrary(): Promise<ClientLibrary> {
  try {
    const [mcp, stdio] = await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ]);
    return { ...mcp, ...stdio };
  } catch (cause) {
    throw missingLibrary('Calling MCP servers', '@modelcontextprotocol/client', cause);
  }
}

function missingLibrary(what: string, library: string, cause: unknown): A2AError {
  return new A2AError('UNAVAILABLE', `${what} requires ${library}, which is not installed`, {
    cause,
    hint: `Run: npm install ${library}`,
  });
}
