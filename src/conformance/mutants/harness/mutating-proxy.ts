import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import { flattenHeaders } from '../../wire/http-exchange.ts';
import { RawFrameReader } from '../../wire/raw-frame-reader.ts';
import { maxDecodedBytes, MutatingGrpcProxy } from './mutating-grpc-proxy.ts';
import { MutatingWebhooks } from './mutating-webhooks.ts';
import type { WireResponse, WireMutation, WireRequest } from './mutant-agent.ts';

/** A proxy between the suite and an agent that mutates the traffic. */
export interface MutatingProxy {
  readonly url: string;
  /** Sets the URL of the agent. */
  connectTo(url: string): void;
  close(): void;
}

/** Starts a proxy on a free loopback port. */
export async function startMutatingProxy(mutation: WireMutation): Promise<MutatingProxy> {
  let target = '';
  let applied = mutation;
  let webhooks: MutatingWebhooks | undefined;
  const server: Server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const raw = Buffer.concat(chunks);
      if (webhooks?.forward(incoming, raw.toString('utf8'), response)) return;
      const body = webhooks ? Buffer.from(webhooks.toProxyUrls(raw.toString('utf8'))) : raw;
      forwardRequest(target, applied, incoming, body, response, crash);
    });
  });
  const sockets = new Set<Socket>();
  let grpc: MutatingGrpcProxy | undefined;
  let restart: NodeJS.Timeout | undefined;
  const listener = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      if (grpc && first.toString('latin1', 0, 3) === 'PRI') grpc.accept(socket);
      else {
        server.emit('connection', socket);
        socket.resume();
      }
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  if (mutation.notification) {
    const proxied = new MutatingWebhooks(url, mutation);
    webhooks = proxied;
    applied = {
      ...mutation,
      response(response, request) {
        // The suite must find its own webhook URLs in the response.
        if (response.json !== undefined)
          response.json = parseJsonOrUndefined(proxied.toOriginalUrls(JSON.stringify(response.json)));
        mutation.response?.(response, request);
      },
    };
  }
  /** Refuses connections, as if the process had ended. */
  const crash = (): void => {
    listener.close();
    grpc?.closeSessions();
    for (const socket of sockets) socket.destroy();
    if (mutation.restartsAfter !== undefined)
      restart = setTimeout(() => listener.listen(port, '127.0.0.1'), mutation.restartsAfter);
  };
  grpc = new MutatingGrpcProxy(applied, (json) => webhooks?.toProxyUrls(json) ?? json, crash);
  return {
    url,
    connectTo(url) {
      target = url;
      grpc.target = url;
    },
    close() {
      clearTimeout(restart);
      listener.close();
      grpc.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function forwardRequest(
  target: string,
  mutation: WireMutation,
  incoming: IncomingMessage,
  raw: Buffer,
  response: ServerResponse,
  crash: () => void,
): void {
  const body = raw.length > maxDecodedBytes ? '' : raw.toString('utf8');
  const path = incoming.url ?? '/';
  const json = body === '' ? undefined : parseJsonOrUndefined(body);
  const request: WireRequest = {
    method: incoming.method ?? 'GET',
    path,
    headers: { ...incoming.headers },
    body,
    json,
    operation: describeOperation(incoming.method ?? 'GET', path, json),
  };
  if (mutation.crashesOn?.(request, raw)) {
    crash();
    return;
  }
  const replacement = mutation.request?.(request);
  if (replacement) {
    sendResponse(response, replacement);
    return;
  }
  // Bytes that are not valid UTF-8 are forwarded unchanged.
  const isUnchanged = request.json === json && request.body === body;
  const changed = request.json === json ? request.body : JSON.stringify(request.json);
  const requestBody = isUnchanged ? raw : Buffer.from(changed);
  const { 'content-length': _length, ...headers } = request.headers;
  const outgoing = httpRequest(`${target}${request.path}`, {
    method: request.method,
    headers: {
      ...headers,
      ...(requestBody.length > 0 ? { 'content-length': String(requestBody.length) } : {}),
    },
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  outgoing.on('response', (upstream) => {
    if (upstream.headers['content-type']?.startsWith('text/event-stream'))
      forwardStream(upstream, mutation, request, response);
    else void forwardResponse(upstream, mutation, request, response);
  });
  outgoing.end(requestBody);
}

/** Returns the JSON-RPC method, or the HTTP method and path of REST with `{id}` in place of ids. */
function describeOperation(verb: string, path: string, json: unknown): string {
  const { method } = (json ?? {}) as { method?: unknown };
  if (typeof method === 'string') return method;
  const pattern = (path.split('?')[0] ?? '')
    .replace(/(\/tasks\/)[^/:]+/, '$1{id}')
    .replace(/(\/pushNotificationConfigs\/)[^/]+/, '$1{id}');
  return `${verb} ${pattern}`;
}

async function forwardResponse(
  incoming: IncomingMessage,
  mutation: WireMutation,
  request: WireRequest,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const mutated: WireResponse = {
    status: incoming.statusCode ?? 200,
    headers: forwardedHeaders(incoming),
    text,
    json: text === '' ? undefined : parseJsonOrUndefined(text),
  };
  const originalJson = JSON.stringify(mutated.json);
  mutation.response?.(mutated, request);
  if (mutated.json !== undefined && JSON.stringify(mutated.json) !== originalJson)
    mutated.text = JSON.stringify(mutated.json);
  sendResponse(response, mutated);
}

function sendResponse(
  response: ServerResponse,
  { status, headers, text, json, encoding }: WireResponse,
): void {
  const body = Buffer.from(
    text === '' && json !== undefined ? JSON.stringify(json) : text,
    encoding ?? 'utf8',
  );
  const { 'content-length': _length, 'transfer-encoding': _encoding, ...others } = headers;
  const hasBody = status !== 204 && status !== 304;
  response.writeHead(status, hasBody ? { ...others, 'content-length': String(body.length) } : others);
  response.end(hasBody ? body : undefined);
}

function forwardStream(
  incoming: IncomingMessage,
  mutation: WireMutation,
  request: WireRequest,
  response: ServerResponse,
): void {
  const head = { status: incoming.statusCode ?? 200, headers: forwardedHeaders(incoming) };
  mutation.head?.(head, request);
  response.writeHead(head.status, head.headers);
  const reader = new RawFrameReader(() => 0);
  const write = (text: string): boolean => response.write(text, mutation.streamEncoding ?? 'utf8');
  let index = 0;
  incoming.setEncoding('utf8');
  incoming.on('data', (text: string) => {
    for (const frame of reader.push(text)) {
      if (frame.data === undefined) {
        write(': \n\n');
        continue;
      }
      const data = parseJsonOrUndefined(frame.data);
      const id = frame.id === undefined ? '' : `id: ${frame.id}\n`;
      const replacements = mutation.frame?.(data, index++, request);
      if (replacements) for (const each of replacements) write(formatFrame(each, id));
      else write(`${id}data: ${frame.data}\n\n`);
    }
  });
  incoming.on('end', () => {
    const appended = mutation.end?.(request);
    if (appended === 'hang') return;
    for (const each of appended ?? []) write(formatFrame(each, ''));
    response.end();
  });
  incoming.on('error', () => response.destroy());
}

function formatFrame(frame: object | string, id: string): string {
  return typeof frame === 'string' ? frame : `${id}data: ${JSON.stringify(frame)}\n\n`;
}

function forwardedHeaders(incoming: IncomingMessage): Record<string, string> {
  const { connection: _connection, 'keep-alive': _keepAlive, ...headers } = incoming.headers;
  return flattenHeaders(headers);
}
