import type * as client from '@modelcontextprotocol/client';
import type * as clientStdio from '@modelcontextprotocol/client/stdio';
import type * as server from '@modelcontextprotocol/server';
import type * as serverStdio from '@modelcontextprotocol/server/stdio';
import type * as schemas from '@modelcontextprotocol/server/validators/ajv';
import { loadLibrary } from '../../protocol/optional/load-library.ts';

/** Modules of the optional package `@modelcontextprotocol/server`. */
export type ServerLibrary = typeof server & typeof serverStdio & typeof schemas;

/** Modules of the optional package `@modelcontextprotocol/client`. */
export type ClientLibrary = typeof client & typeof clientStdio;

/** Loads the MCP server library. @throws A2AError `UNAVAILABLE` if it is not installed */
export async function loadServerLibrary(): Promise<ServerLibrary> {
  const [mcp, stdio, ajv] = await loadLibrary('Serving MCP', '@modelcontextprotocol/server', () =>
    Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
      import('@modelcontextprotocol/server/validators/ajv'),
    ]),
  );
  return { ...mcp, ...stdio, ...ajv };
}

/** Loads the MCP client library. @throws A2AError `UNAVAILABLE` if it is not installed */
export async function loadClientLibrary(): Promise<ClientLibrary> {
  const [mcp, stdio] = await loadLibrary('Calling MCP servers', '@modelcontextprotocol/client', () =>
    Promise.all([import('@modelcontextprotocol/client'), import('@modelcontextprotocol/client/stdio')]),
  );
  return { ...mcp, ...stdio };
}
