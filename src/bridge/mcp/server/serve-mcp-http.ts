import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { invalidField } from '../../../protocol/errors.ts';
import { asJsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { isLoopbackHost } from '../../../primitives/loopback.ts';
import { constantTimeEqual } from '../../../primitives/node/constant-time-equal.ts';
import { SameOriginCheck } from '../../../primitives/web/same-origin-check.ts';
import { jsonResponse } from '../../../server/http/http-message.ts';
import { rejectUnread } from '../../../server/node/request-body.ts';
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
    if (new URL(request.url).pathname !== path)
      return errorResponse(404, `Not found; MCP is served at ${path}`);
    const authorization = request.headers.get('authorization') ?? '';
    if (token !== undefined && !constantTimeEqual(authorization, `Bearer ${token}`))
      return errorResponse(401, 'Missing or invalid bearer token', { 'www-authenticate': 'Bearer' });
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

  const listener = fetchListener(handle, { maxBodyBytes, log: context.log });
  const server = createServer((incoming, outgoing) => {
    const problem = sameOrigin.problem(incoming.headers, incoming.socket);
    if (problem === undefined) listener(incoming, outgoing);
    else rejectUnread(jsonResponse(403, errorText(-32_000, problem)), incoming, outgoing, maxBodyBytes);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const hostname = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${hostname}:${address.port}${path}`,
    async close() {
      unsubscribe();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([...sessions.keys()].map(close));
      await statelessHandler.close();
      server.closeAllConnections();
      await closed;
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

function errorResponse(status: number, message: string, headers: Record<string, string> = {}): Response {
  const text = errorText(status === 404 ? -32_001 : -32_000, message);
  return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });
}

function errorText(code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
}

/** Only clients up to MCP 2025-11-25 send `initialize`. */
function isInitialize(parsed: unknown): boolean {
  return asJsonObject(parsed)?.method === 'initialize';
}
