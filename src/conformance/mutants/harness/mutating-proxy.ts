import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import { flattenHeaders } from '../../wire/http-exchange.ts';
import { RawFrameReader } from '../../wire/raw-frame-reader.ts';
import { MutatingWebhooks } from './mutating-webhooks.ts';
import type { WireResponse, WireMutation, WireRequest } from './mutant-agent.ts';

/** A wire that bends what passes. */
export interface MutatingProxy {
  readonly url: string;
  /** Where the agent is, once it is served. */
  to(url: string): void;
  close(): void;
}

/** Opens a port that passes everything on to an agent and back, bent as told. */
export async function startMutatingProxy(fault: WireMutation): Promise<MutatingProxy> {
  let target = '';
  let bent = fault;
  let webhooks: MutatingWebhooks | undefined;
  const server: Server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const raw = Buffer.concat(chunks);
      if (webhooks?.passed(incoming, raw.toString('utf8'), response)) return;
      const told = webhooks ? Buffer.from(webhooks.outward(raw.toString('utf8'))) : raw;
      pass(target, bent, incoming, told, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  if (fault.notification) {
    const behind = new MutatingWebhooks(url, fault);
    webhooks = behind;
    bent = { ...fault, response: (answer, request) => answerAs(behind, fault, answer, request) };
  }
  return {
    url,
    to(url) {
      target = url;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Lets the caller see its own webhooks, before anything else is changed. */
function answerAs(
  webhooks: MutatingWebhooks,
  fault: WireMutation,
  answer: WireResponse,
  request: WireRequest,
): void {
  if (answer.json !== undefined)
    answer.json = parseJsonOrUndefined(webhooks.inward(JSON.stringify(answer.json)));
  fault.response?.(answer, request);
}

function pass(
  target: string,
  fault: WireMutation,
  incoming: IncomingMessage,
  raw: Buffer,
  response: ServerResponse,
): void {
  const body = raw.toString('utf8');
  const path = incoming.url ?? '/';
  const json = body === '' ? undefined : parseJsonOrUndefined(body);
  const request: WireRequest = {
    method: incoming.method ?? 'GET',
    path,
    headers: { ...incoming.headers },
    body,
    json,
    operation: operationOf(incoming.method ?? 'GET', path, json),
  };
  const instead = fault.request?.(request);
  if (instead) {
    send(response, instead);
    return;
  }
  // Bytes that are no text are passed on as they came.
  const changed = request.json === json && request.body === body ? raw : bodyOf(request, json);
  const { 'content-length': _length, ...headers } = request.headers;
  const outgoing = httpRequest(`${target}${request.path}`, {
    method: request.method,
    headers: { ...headers, ...(changed.length > 0 ? { 'content-length': String(changed.length) } : {}) },
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  outgoing.on('response', (answer) => {
    if (answer.headers['content-type']?.startsWith('text/event-stream'))
      passStream(answer, fault, request, response);
    else void passAnswer(answer, fault, request, response);
  });
  outgoing.end(changed);
}

function bodyOf(request: WireRequest, before: unknown): Buffer {
  return Buffer.from(request.json === before ? request.body : JSON.stringify(request.json));
}

/** The method of JSON-RPC, or verb and path of REST with `{id}` for what varies. */
function operationOf(verb: string, path: string, json: unknown): string {
  const { method } = (json ?? {}) as { method?: unknown };
  if (typeof method === 'string') return method;
  const shape = (path.split('?')[0] ?? '')
    .replace(/(\/tasks\/)[^/:]+/, '$1{id}')
    .replace(/(\/pushNotificationConfigs\/)[^/]+/, '$1{id}');
  return `${verb} ${shape}`;
}

async function passAnswer(
  incoming: IncomingMessage,
  fault: WireMutation,
  request: WireRequest,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const answer: WireResponse = {
    status: incoming.statusCode ?? 200,
    headers: forwardedHeaders(incoming),
    text,
    json: text === '' ? undefined : parseJsonOrUndefined(text),
  };
  const before = JSON.stringify(answer.json);
  fault.response?.(answer, request);
  if (answer.json !== undefined && JSON.stringify(answer.json) !== before)
    answer.text = JSON.stringify(answer.json);
  send(response, answer);
}

function send(response: ServerResponse, { status, headers, text, json, encoding }: WireResponse): void {
  const body = Buffer.from(
    text === '' && json !== undefined ? JSON.stringify(json) : text,
    encoding ?? 'utf8',
  );
  const { 'content-length': _length, 'transfer-encoding': _encoding, ...others } = headers;
  const has = status !== 204 && status !== 304;
  response.writeHead(status, has ? { ...others, 'content-length': String(body.length) } : others);
  response.end(has ? body : undefined);
}

function passStream(
  incoming: IncomingMessage,
  fault: WireMutation,
  request: WireRequest,
  response: ServerResponse,
): void {
  const head = { status: incoming.statusCode ?? 200, headers: forwardedHeaders(incoming) };
  fault.head?.(head, request);
  response.writeHead(head.status, head.headers);
  const reader = new RawFrameReader(() => 0);
  let index = 0;
  incoming.setEncoding('utf8');
  incoming.on('data', (text: string) => {
    for (const frame of reader.push(text)) {
      if (frame.data === undefined) {
        response.write(': \n\n');
        continue;
      }
      const data = parseJsonOrUndefined(frame.data);
      const id = frame.id === undefined ? '' : `id: ${frame.id}\n`;
      const others = fault.frame?.(data, index++, request);
      if (others) for (const each of others) response.write(frameOf(each, id));
      else response.write(`${id}data: ${frame.data}\n\n`);
    }
  });
  incoming.on('end', () => {
    const last = fault.end?.(request);
    if (last === 'hang') return;
    for (const each of last ?? []) response.write(frameOf(each, ''));
    response.end();
  });
  incoming.on('error', () => response.destroy());
}

function frameOf(each: object | string, id: string): string {
  return typeof each === 'string' ? each : `${id}data: ${JSON.stringify(each)}\n\n`;
}

function forwardedHeaders(incoming: IncomingMessage): Record<string, string> {
  const { connection: _connection, 'keep-alive': _keepAlive, ...headers } = incoming.headers;
  return flattenHeaders(headers);
}
