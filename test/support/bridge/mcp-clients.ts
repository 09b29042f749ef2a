/** Real MCP clients: client 2.x with the newest and the previous protocol revision, and SDK 1.x. */
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

/** An MCP server: arguments of a Node.js program to start over stdio, or a URL. */
type ServerTarget = { args: string[]; env?: Record<string, string> } | { url: string; token?: string };

/** Handlers of server requests and notifications. */
export interface McpClientHandlers {
  /** Handles elicitation requests; without it the client does not declare the capability. */
  elicit?: (params: any) => any;
  onTools?: () => void;
  onResources?: () => void;
}

/** The operations of an MCP client that tests use. */
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

/** One MCP client library and protocol revision. */
export interface McpClientKind {
  name: string;
  connect(target: ServerTarget, handlers?: McpClientHandlers): Promise<TestMcpClient>;
}

const info = { name: 'test', version: '1.0.0' };

function clientKind2(name: string, mode: 'auto' | 'legacy'): McpClientKind {
  return {
    name,
    async connect(target, { elicit, onTools, onResources } = {}) {
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
        'url' in target
          ? new StreamableHTTPClientTransport(new URL(target.url), {
              requestInit: { headers: bearer(target.token) },
            })
          : new StdioClientTransport({ command: process.execPath, ...target, stderr: 'ignore' }),
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

const clientKind1: McpClientKind = {
  name: 'sdk 1.x',
  async connect(target, { elicit, onTools, onResources } = {}) {
    const client = new OldClient(info, { capabilities: elicit ? { elicitation: {} } : {} });
    if (elicit) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => await elicit(params));
    if (onTools) client.setNotificationHandler(ToolListChangedNotificationSchema, () => onTools());
    if (onResources)
      client.setNotificationHandler(ResourceListChangedNotificationSchema, () => onResources());
    const transport =
      'url' in target
        ? new OldHttp(new URL(target.url), { requestInit: { headers: bearer(target.token) } })
        : new OldStdio({ command: process.execPath, ...target, stderr: 'ignore' });
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

/** All kinds of MCP clients. */
export const mcpClientKinds: readonly McpClientKind[] = [
  clientKind2('client 2.x with revision 2026-07-28', 'auto'),
  clientKind2('client 2.x with revision 2025-11-25', 'legacy'),
  clientKind1,
];
