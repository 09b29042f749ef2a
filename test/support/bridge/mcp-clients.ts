/** Real clients of MCP: of the newest revision, of the one before, and of the SDK before this one. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

/** Where a server is: a program to start, or an address. */
type Where = { args: string[]; env?: Record<string, string> } | { url: string; token?: string };

/** What a client does when things happen. */
export interface McpClientHandlers {
  /** Answers questions; without it the client says that it cannot. */
  elicit?: (params: any) => any;
  onTools?: () => void;
  onResources?: () => void;
}

/** The little of a client that tests need. */
export interface TestMcpClient {
  version: string | undefined;
  tools(): Promise<any[]>;
  call(
    name: string,
    args: object,
    options?: { signal?: AbortSignal; onprogress?: (p: any) => void },
  ): Promise<any>;
  resources(): Promise<any[]>;
  read(uri: string): Promise<any>;
  close(): Promise<void>;
}

/** One kind of client. */
export interface McpClientKind {
  name: string;
  connect(where: Where, behaviour?: McpClientHandlers): Promise<TestMcpClient>;
}

const info = { name: 'test', version: '1.0.0' };

function newKind(name: string, mode: 'auto' | 'legacy'): McpClientKind {
  return {
    name,
    async connect(where, { elicit, onTools, onResources } = {}) {
      const client = new Client(info, {
        capabilities: elicit ? { elicitation: { form: {} } } : {},
        versionNegotiation: { mode },
        listChanged: {
          ...(onTools && { tools: { autoRefresh: false, debounceMs: 0, onChanged: onTools } }),
          ...(onResources && { resources: { autoRefresh: false, debounceMs: 0, onChanged: onResources } }),
        },
      });
      if (elicit) client.setRequestHandler('elicitation/create', async ({ params }) => await elicit(params));
      await client.connect(
        'url' in where
          ? new StreamableHTTPClientTransport(new URL(where.url), {
              requestInit: { headers: bearer(where.token) },
            })
          : new StdioClientTransport({ command: process.execPath, ...where, stderr: 'ignore' }),
      );
      return {
        version: client.getNegotiatedProtocolVersion(),
        tools: async () => (await client.listTools(undefined, { cacheMode: 'refresh' })).tools,
        call: (tool, args, options) => client.callTool({ name: tool, arguments: args as any }, options),
        resources: async () => (await client.listResources(undefined, { cacheMode: 'refresh' })).resources,
        read: (uri) => client.readResource({ uri }),
        close: () => client.close(),
      };
    },
  };
}

const oldKind: McpClientKind = {
  name: 'sdk 1.x',
  async connect(where, { elicit, onTools, onResources } = {}) {
    const client = new OldClient(info, { capabilities: elicit ? { elicitation: {} } : {} });
    if (elicit) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => await elicit(params));
    if (onTools) client.setNotificationHandler(ToolListChangedNotificationSchema, () => onTools());
    if (onResources)
      client.setNotificationHandler(ResourceListChangedNotificationSchema, () => onResources());
    const transport =
      'url' in where
        ? new OldHttp(new URL(where.url), { requestInit: { headers: bearer(where.token) } })
        : new OldStdio({ command: process.execPath, ...where, stderr: 'ignore' });
    await client.connect(transport);
    return {
      version: (transport as { protocolVersion?: string }).protocolVersion,
      tools: async () => (await client.listTools()).tools,
      call: (tool, args, options) =>
        client.callTool({ name: tool, arguments: args as any }, undefined, options),
      resources: async () => (await client.listResources()).resources,
      read: (uri) => client.readResource({ uri }),
      close: () => client.close(),
    };
  },
};

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** All of them. */
export const mcpClientKinds: readonly McpClientKind[] = [
  newKind('client 2.x in the words of 2026-07-28', 'auto'),
  newKind('client 2.x in the words of 2025-11-25', 'legacy'),
  oldKind,
];
