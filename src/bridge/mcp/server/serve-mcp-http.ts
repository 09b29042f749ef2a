import { randomUUID } from 'node:crypto';
import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { A2AError, errorTable, invalidField } from '../../../protocol/errors.ts';
import { asJsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { isLoopbackHost } from '../../../primitives/loopback.ts';
import { SameOriginCheck } from '../../../primitives/web/same-origin-check.ts';
import { type HttpServerResponse, jsonResponse } from '../../../server/http/http-message.ts';
import { withRetryAfter } from '../../../server/limits/limits.ts';
import { ExchangeLimits } from '../../../server/node/exchange-limits.ts';
import { listen } from '../../../server/node/listen.ts';
import { createMcpServer, type McpServerContext } from './create-mcp-server.ts';
import type { McpHttpOptions } from './mcp-http-options.ts';
import { fetchListener } from './fetch-listener.ts';
import type { ResourceCache } from './resource-cache.ts';

/** Running MCP server over HTTP. */
export interface McpHttpServer {
  readonly url: string;
  close(): Promise<void>;
}

interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly unsubscribe: () => void;
}

/**
 * Serves MCP at one URL. Stateless requests (2026-07-28) get a server of their own. Clients that send `initialize` (up
 * to 2025-11-25) get a session, because elicitation requires one in these versions.
 */
export async function serveMcpHttp(
  context: McpServerContext,
  options: McpHttpOptions,
  newResources: () => ResourceCache,
): Promise<McpHttpServer> {
  const { library, bridge } = context;
  const { port = 0, host = '127.0.0.1', path = '/mcp', maxSessions = 100, token } = options;
  const { maxBodyBytes = 4 * 1_024 * 1_024 } = options;
  const isLoopback = isLoopbackHost(host);
  if (!isLoopback && !options.allowedHosts)
    throw invalidField(
      'http.allowedHosts',
      `must be set to listen on ${host}: the host names that clients use`,
    );
  if (!isLoopback && token === undefined)
    throw invalidField(
      'http.token',
      `must be set to listen on ${host}, because other hosts could use the agents`,
    );
  const sameOrigin = new SameOriginCheck({ allowedHosts: options.allowedHosts });
  const sessions = new Map<string, Session>();
  const sharedResources = newResources();
  const statelessHandler = library.createMcpHandler(
    () => {
      const onFiles = (): void => statelessHandler.notify.resourcesChanged();
      return createMcpServer(context, { resources: sharedResources, sessionId: undefined, onFiles });
    },
    { maxRequestBodySize: maxBodyBytes },
  );
  const unsubscribe = bridge.onChange(() => statelessHandler.notify.toolsChanged());

  async function open(request: Request, parsedBody: unknown): Promise<Response> {
    const id = randomUUID();
    const onFiles = (): void => void server.sendResourceListChanged().catch(() => {});
    const server = createMcpServer(context, { resources: newResources(), sessionId: id, onFiles });
    const transport = new library.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => close(id),
    });
    const unsubscribe = bridge.onChange(() => void server.sendToolListChanged().catch(() => {}));
    sessions.set(id, { server, transport, unsubscribe });
    for (const oldest of sessions.keys()) {
      if (sessions.size <= maxSessions) break;
      await close(oldest);
    }
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    if (transport.sessionId === undefined) await close(id);
    return response;
  }

  async function close(id: string): Promise<void> {
    const session = sessions.get(id);
    sessions.delete(id);
    session?.unsubscribe();
    await session?.server.close();
  }

  async function handle(request: Request, body: string): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const parsed = request.method === 'POST' ? parseJsonOrUndefined(body) : undefined;
    // The library parses the body again, without limits.
    if (request.method === 'POST' && parsed === undefined) return errorResponse(400, 'The body is not JSON');
    if (id !== null) {
      const session = sessions.get(id);
      if (!session) return errorResponse(404, 'Unknown session; send initialize again');
      sessions.delete(id);
      sessions.set(id, session);
      request.signal.addEventListener('abort', () => cancelAll(session, parsed), { once: true });
      return await session.transport.handleRequest(request);
    }
    return isInitialize(parsed) ? await open(request, parsed) : await statelessHandler.fetch(request);
  }

  const limits = new ExchangeLimits({ ...options, maxBodyBytes });
  const server = await listen(
    {
      listener: fetchListener(handle, {
        limits,
        check(request, { socket }) {
          const problem = sameOrigin.problem(request.headers, socket);
          if (problem !== undefined) throw new A2AError('PERMISSION_DENIED', problem);
          if (request.path !== path) throw new A2AError('NOT_FOUND', `Not found; MCP is served at ${path}`);
          if (token !== undefined && !limits.hasToken(request, token))
            throw new A2AError('UNAUTHENTICATED', 'Missing or invalid bearer token');
        },
        toErrorResponse,
        log: context.log,
      }),
      contexts: () => [],
      metrics: undefined,
    },
    { ...options, port, host },
  );
  return {
    url: `${server.url}${path}`,
    async close() {
      unsubscribe();
      await Promise.all([...sessions.keys()].map(close));
      await statelessHandler.close();
      await server.stop(0);
    },
  };
}

/** Cancels the requests of a disconnected client. Streams cannot be resumed, so the results could not be delivered. */
function cancelAll({ transport }: Session, parsed: unknown): void {
  for (const message of [parsed].flat() as ({ id?: unknown; method?: unknown } | null | undefined)[]) {
    const requestId = message?.id;
    if (
      typeof message?.method !== 'string' ||
      (typeof requestId !== 'string' && typeof requestId !== 'number')
    )
      continue;
    const params = { requestId, reason: 'The client disconnected' };
    transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  }
}

function errorResponse(status: number, message: string): Response {
  const headers = { 'content-type': 'application/json' };
  return new Response(errorText(status, message), { status, headers });
}

/** Converts an error that occurred before the body was parsed. */
function toErrorResponse(error: A2AError): HttpServerResponse {
  const { http } = errorTable[error.reason];
  const response = withRetryAfter(jsonResponse(http, errorText(http, error.message)), error);
  if (http === 401) response.headers.push('WWW-Authenticate', 'Bearer');
  return response;
}

function errorText(status: number, message: string): string {
  const code = status === 404 ? -32_001 : -32_000;
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
}

/** Only clients up to MCP 2025-11-25 send `initialize`. */
function isInitialize(parsed: unknown): boolean {
  return asJsonObject(parsed)?.method === 'initialize';
}
