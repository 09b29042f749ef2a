import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { invalidField } from '../../../protocol/errors.ts';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import { createMcpServer, type McpServerContext } from './create-mcp-server.ts';
import type { McpHttpOptions } from './mcp-http-options.ts';
import { fetchListener } from './fetch-listener.ts';
import type { ResourceCache } from './resource-cache.ts';

/** A face that listens. */
export interface McpHttpServer {
  readonly url: string;
  close(): Promise<void>;
}

interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly forget: () => void;
}

/**
 * Serves MCP at one address: requests that carry everything with them (2026-07-28) get a server of their own, clients
 * that introduce themselves first (up to 2025-11-25) get a session, because only then can they be asked something.
 */
export async function serveMcpHttp(
  setting: McpServerContext,
  options: McpHttpOptions,
  newShelf: () => ResourceCache,
): Promise<McpHttpServer> {
  const { library, bridge } = setting;
  const { port = 0, host = '127.0.0.1', path = '/mcp', maxSessions = 100, token } = options;
  const { maxBodyBytes = 4 * 1_024 * 1_024 } = options;
  const isLocal = ['127.0.0.1', '::1', 'localhost'].includes(host);
  if (!isLocal && !options.allowedHosts)
    throw invalidField(
      'http.allowedHosts',
      `is needed to listen on ${host}: the names that clients will use`,
    );
  if (!isLocal && token === undefined)
    throw invalidField('http.token', `is needed to listen on ${host}: others could use the agents`);
  const hosts = [...(options.allowedHosts ?? library.localhostAllowedHostnames())];
  const sessions = new Map<string, Session>();
  const shared = newShelf();
  const single = library.createMcpHandler(
    () => {
      const onFiles = (): void => single.notify.resourcesChanged();
      return createMcpServer(setting, { shelf: shared, sessionId: undefined, onFiles });
    },
    { maxRequestBodySize: maxBodyBytes },
  );
  const stopTelling = bridge.onChange(() => single.notify.toolsChanged());

  async function open(request: Request, parsedBody: unknown): Promise<Response> {
    const id = randomUUID();
    const onFiles = (): void => void server.sendResourceListChanged().catch(() => {});
    const server = createMcpServer(setting, { shelf: newShelf(), sessionId: id, onFiles });
    const transport = new library.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => close(id),
    });
    const forget = bridge.onChange(() => void server.sendToolListChanged().catch(() => {}));
    sessions.set(id, { server, transport, forget });
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
    session?.forget();
    await session?.server.close();
  }

  async function answer(request: Request, body: string): Promise<Response> {
    if (new URL(request.url).pathname !== path) return refusal(404, `MCP is at ${path}`);
    const refused =
      library.hostHeaderValidationResponse(request, hosts) ??
      library.originValidationResponse(request, hosts);
    if (refused) return refused;
    if (token !== undefined && !isToken(request.headers.get('authorization'), token))
      return refusal(401, 'A bearer token is needed', { 'www-authenticate': 'Bearer' });
    const id = request.headers.get('mcp-session-id');
    const parsed = request.method === 'POST' ? parseJsonOrUndefined(body) : undefined;
    if (id !== null) {
      const session = sessions.get(id);
      if (!session) return refusal(404, 'There is no such session; introduce yourself again');
      sessions.delete(id);
      sessions.set(id, session);
      request.signal.addEventListener('abort', () => cancelAll(session, parsed), { once: true });
      return await session.transport.handleRequest(request);
    }
    return isIntroduction(parsed) ? await open(request, parsed) : await single.fetch(request);
  }

  const server = createServer(fetchListener(answer, { maxBodyBytes, log: setting.log }));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}${path}`,
    async close() {
      stopTelling();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([...sessions.keys()].map(close));
      await single.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Ends the requests of a client that left before they were answered. Streams are not kept to be taken up again, so nobody
 * would ever hear the answers.
 */
function cancelAll({ transport }: Session, parsed: unknown): void {
  for (const message of [parsed].flat() as ({ id?: unknown; method?: unknown } | null | undefined)[]) {
    const requestId = message?.id;
    if (
      typeof message?.method !== 'string' ||
      (typeof requestId !== 'string' && typeof requestId !== 'number')
    )
      continue;
    const params = { requestId, reason: 'The client left' };
    transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  }
}

function refusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  const error = { code: status === 404 ? -32_001 : -32_000, message };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status, headers });
}

/** A client of the versions up to 2025 introduces itself; a newer one says who it is with every request. */
function isIntroduction(parsed: unknown): boolean {
  if (typeof parsed !== 'object' || parsed === null) return false;
  return (parsed as { method?: unknown }).method === 'initialize';
}

function isToken(header: string | null, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`));
}
