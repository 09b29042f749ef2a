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
import { loadServerLibrary } from '../load-library.ts';
import { packageVersion } from '../../../documents/package-version.ts';
import { ResourceCache, type ResourceLimits } from './resource-cache.ts';
import { ToolRegistry } from './tool-registry.ts';

/** Two streams to speak MCP over, one message for each line. */
export interface McpStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** How a bridge is shown as a server of MCP. */
export interface ServeMcpOptions {
  /** Speaks over standard input and output, on which nobody else may write then, or over other streams. */
  stdio?: boolean | McpStreams;
  /** Listens for streamable HTTP. */
  http?: McpHttpOptions | true;
  /** What the server calls itself. @defaultValue `dragoman` */
  name?: string;
  /** What hosts tell their model about all the tools together. @defaultValue which agents there are, and how to go on */
  instructions?: string;
  /**
   * For how many milliseconds a call waits before it gives a handle to go on with. Most clients give up after a minute.
   * @defaultValue 50,000
   */
  waitBudget?: number;
  /** How many milliseconds lie between two notes of progress of one call. @defaultValue 250 */
  progressInterval?: number;
  /** How many questions of an agent are asked in one call before the rest become follow-ups. @defaultValue 8 */
  maxQuestions?: number;
  /** Where the bridge keeps files, so that they can be read as resources. */
  artifacts?: ArtifactStore;
  /** Whose files may be read and written. @defaultValue as the bridge says */
  userId?: string;
  limits?: ResourceLimits;
  log?: LogSink;
}

/** A server of MCP that runs. */
export interface RunningMcpServer extends AsyncDisposable {
  /** Where it is, such as `http://127.0.0.1:4100/mcp`; undefined for standard input and output. */
  readonly url: string | undefined;
  /** Settles when the client at the other end of the streams is gone, or when the server is closed. */
  readonly ended: Promise<void>;
  /** Cancels what is under way and stops. The bridge goes on. */
  close(): Promise<void>;
}

/** Shows the actions of a bridge as the tools of an MCP server, in every version of MCP that the library speaks. */
export async function serveMcp(bridge: Bridge, options: ServeMcpOptions): Promise<RunningMcpServer> {
  const { stdio, http } = options;
  if (!stdio === !http) throw invalidField('options', 'must have one of stdio and http');
  const library = await loadServerLibrary();
  const toolbox = new ToolRegistry(bridge, library);
  const setting: McpServerContext = {
    library,
    bridge,
    toolbox,
    name: options.name ?? 'dragoman',
    version: packageVersion(),
    instructions: options.instructions,
    waitBudget: options.waitBudget ?? 50_000,
    progressInterval: options.progressInterval ?? 250,
    maxQuestions: options.maxQuestions ?? 8,
    userId: options.userId,
    log: options.log,
  };
  const newShelf = (): ResourceCache => new ResourceCache(options.limits, options.artifacts);
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const face = stdio
    ? serveStreams(setting, stdio === true ? undefined : stdio, newShelf(), () => end())
    : await serveMcpHttp(setting, http === true || !http ? {} : http, newShelf);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= face.close().finally(() => {
      toolbox.close();
      end();
    });
    return closing;
  };
  void ended.then(close);
  return { url: face.url, ended, close, [Symbol.asyncDispose]: close };
}

/** Serves one client, for as long as it keeps its stream open. */
function serveStreams(
  setting: McpServerContext,
  streams: McpStreams | undefined,
  shelf: ResourceCache,
  onEnd: () => void,
): { readonly url: undefined; close(): Promise<void> } {
  const { library, bridge, log } = setting;
  const sessionId = randomUUID();
  const transport = new library.StdioServerTransport(streams?.input, streams?.output);
  let current: Server | undefined;
  const tell = (what: (server: Server) => Promise<void>): void => {
    if (current) what(current).catch(() => {});
  };
  const stopTelling = bridge.onChange(() => tell((server) => server.sendToolListChanged()));
  const handle = library.serveStdio(
    () => {
      const onFiles = (): void => tell((server) => server.sendResourceListChanged());
      current = createMcpServer(setting, { shelf, sessionId, onFiles });
      return current;
    },
    { transport, onerror: (error) => log?.({ level: 'warn', message: 'MCP', error }) },
  );
  const { onclose } = transport;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no target of events
  transport.onclose = () => {
    onclose?.();
    stopTelling();
    onEnd();
  };
  return {
    url: undefined,
    async close() {
      stopTelling();
      await handle.close();
    },
  };
}
