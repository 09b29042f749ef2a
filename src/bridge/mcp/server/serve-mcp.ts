import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/server';
import type { ArtifactStore } from '../../../artifacts/artifact-store.ts';
import { invalidField } from '../../../protocol/errors.ts';
import type { LogSink } from '../../../primitives/log.ts';
import type { Bridge } from '../../action-types.ts';
import { createMcpServer, type McpServerContext } from './create-mcp-server.ts';
import { serveMcpHttp } from './serve-mcp-http.ts';
import type { McpHttpOptions } from './mcp-http-options.ts';
import { loadServerLibrary } from '../load-mcp-library.ts';
import { packageVersion } from '../../../primitives/node/package-version.ts';
import { ResourceCache, type ResourceLimits } from './resource-cache.ts';
import { ToolRegistry } from './tool-registry.ts';

/** Streams that carry MCP, one message per line. */
export interface McpStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Options of {@link serveMcp}. Either `stdio` or `http` must be set. */
export interface ServeMcpOptions {
  /** Uses standard input and output, or other streams. Nothing else may write to standard output then. */
  stdio?: boolean | McpStreams;
  /** Uses streamable HTTP. */
  http?: McpHttpOptions | true;
  /** Name of the server. @defaultValue `dragoman` */
  name?: string;
  /** Instructions for the model. @defaultValue the names of the agents and the use of follow-ups */
  instructions?: string;
  /**
   * Milliseconds that a call waits before it returns a follow-up ID. Most clients time out after a minute.
   * @defaultValue 50,000
   */
  waitBudget?: number;
  /** Minimum milliseconds between two progress notifications of a call. @defaultValue 250 */
  progressInterval?: number;
  /** Maximum number of elicitations per call; after that the call returns a follow-up ID. @defaultValue 8 */
  maxQuestions?: number;
  /** Artifact store of the bridge, whose files are served as resources. */
  artifacts?: ArtifactStore;
  /** User whose files may be read and written. @defaultValue the default user of the bridge */
  userId?: string;
  limits?: ResourceLimits;
  log?: LogSink;
}

/** A running MCP server. */
export interface RunningMcpServer extends AsyncDisposable {
  /** URL, such as `http://127.0.0.1:4100/mcp`; undefined for stdio. */
  readonly url: string | undefined;
  /** Resolves when the client of the streams disconnects or the server is closed. */
  readonly ended: Promise<void>;
  /** Cancels running calls and stops. Does not close the bridge. */
  close(): Promise<void>;
}

/** Serves the actions of a bridge as tools of an MCP server, in all protocol versions that the MCP library supports. */
export async function serveMcp(bridge: Bridge, options: ServeMcpOptions): Promise<RunningMcpServer> {
  const { stdio, http } = options;
  if (!stdio === !http) throw invalidField('options', 'must set either stdio or http');
  const library = await loadServerLibrary();
  const registry = new ToolRegistry(bridge, library);
  const context: McpServerContext = {
    library,
    bridge,
    registry,
    name: options.name ?? 'dragoman',
    version: packageVersion(),
    instructions: options.instructions,
    waitBudget: options.waitBudget ?? 50_000,
    progressInterval: options.progressInterval ?? 250,
    maxQuestions: options.maxQuestions ?? 8,
    userId: options.userId,
    log: options.log,
  };
  const newResources = (): ResourceCache => new ResourceCache(options.limits, options.artifacts);
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const server = stdio
    ? serveStreams(context, stdio === true ? undefined : stdio, newResources(), () => end())
    : await serveMcpHttp(context, http === true || !http ? {} : http, newResources);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= server.close().finally(() => {
      registry.close();
      end();
    });
    return closing;
  };
  void ended.then(close);
  return { url: server.url, ended, close, [Symbol.asyncDispose]: close };
}

/** Serves one client until it closes its stream. */
function serveStreams(
  context: McpServerContext,
  streams: McpStreams | undefined,
  resources: ResourceCache,
  onEnd: () => void,
): { readonly url: undefined; close(): Promise<void> } {
  const { library, bridge, log } = context;
  const sessionId = randomUUID();
  const transport = new library.StdioServerTransport(streams?.input, streams?.output);
  let current: Server | undefined;
  const notify = (send: (server: Server) => Promise<void>): void => {
    if (current) send(current).catch(() => {});
  };
  const unsubscribe = bridge.onChange(() => notify((server) => server.sendToolListChanged()));
  const handle = library.serveStdio(
    () => {
      const onFiles = (): void => notify((server) => server.sendResourceListChanged());
      current = createMcpServer(context, { resources, sessionId, onFiles });
      return current;
    },
    { transport, onerror: (error) => log?.({ level: 'warn', message: 'MCP', error }) },
  );
  const { onclose } = transport;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no target of events
  transport.onclose = () => {
    onclose?.();
    unsubscribe();
    onEnd();
  };
  return {
    url: undefined,
    async close() {
      unsubscribe();
      await handle.close();
    },
  };
}
