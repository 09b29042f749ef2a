import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import {
  type ServiceMethod,
  type ServiceSchema,
  service0_3,
  service1_0,
} from '../../drivers/grpc/service-schemas.ts';
import { flattenHeaders } from '../../wire/http-exchange.ts';
import { decodeProtobuf } from '../../wire/grpc/decode-message.ts';
import { encodeProtobuf } from '../../wire/grpc/encode-message.ts';
import { GrpcMessageReader, prefixMessage } from '../../wire/grpc/grpc-message-reader.ts';
import { readStatus, statusToJson } from '../../wire/grpc/grpc-status.ts';
import { statusTrailers } from './grpc-trailers.ts';
import type { GrpcMutation, WireMutation, WireRequest, WireResponse } from './mutant-agent.ts';

/** The part of a proxy that mutates calls of gRPC. Mutations of JSON see their messages as ProtoJSON. */
export class MutatingGrpcProxy {
  readonly #mutation: WireMutation;
  readonly #rewriteRequest: (json: string) => string;
  readonly #crash: () => void;
  readonly #server = createServer({ maxSessionMemory, settings: { initialWindowSize: windowSize } });
  readonly #sessions = new Set<ServerHttp2Session>();
  #upstream: ClientHttp2Session | undefined;
  /** URL of the agent. */
  target = '';

  /**
   * @param rewriteRequest - changes every request, as JSON.
   * @param crash - ends the process.
   */
  constructor(mutation: WireMutation, rewriteRequest: (json: string) => string, crash: () => void) {
    this.#mutation = mutation;
    this.#rewriteRequest = rewriteRequest;
    this.#crash = crash;
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('error', () => {});
      session.setLocalWindowSize(windowSize);
    });
    this.#server.on('stream', (stream, headers) => this.#accept(stream, headers));
  }

  /** Takes over a connection that starts with the preface of HTTP/2. */
  accept(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  closeSessions(): void {
    for (const session of this.#sessions) session.destroy();
    this.#sessions.clear();
  }

  close(): void {
    this.closeSessions();
    this.#upstream?.destroy();
  }

  #accept(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const chunks: Buffer[] = [];
    const { session } = stream;
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      if (stream.destroyed) return;
      const body = Buffer.concat(chunks);
      const call = new ProxiedCall(stream, this.#mutation, headers, body);
      if (this.#mutation.crashesOn?.(call.request, body)) this.#crash();
      else call.forward(() => this.#connectUpstream(), this.#rewriteRequest);
    });
    stream.on('close', () => {
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR && this.#mutation.grpc?.closesOnReset)
        session?.destroy();
    });
  }

  #connectUpstream(): ClientHttp2Session {
    if (!this.#upstream || this.#upstream.closed || this.#upstream.destroyed) {
      this.#upstream = connect(this.target, { maxSessionMemory, settings: { enablePush: false } });
      this.#upstream.on('error', () => {});
    }
    return this.#upstream;
  }
}

/** One call through the proxy. */
class ProxiedCall {
  readonly #stream: ServerHttp2Stream;
  readonly #mutation: WireMutation;
  readonly #raw: GrpcMutation;
  readonly request: WireRequest;
  readonly #body: Buffer;
  readonly #service: ServiceSchema;
  readonly #method: ServiceMethod | undefined;
  #index = 0;

  constructor(stream: ServerHttp2Stream, mutation: WireMutation, headers: IncomingHttpHeaders, body: Buffer) {
    this.#stream = stream;
    this.#mutation = mutation;
    this.#raw = mutation.grpc ?? {};
    this.#body = body;
    const path = headers[':path'] ?? '';
    this.#service = path.startsWith(service1_0.path) ? service1_0 : service0_3;
    const operation = path.split('/').at(-1) ?? '';
    this.#method = Object.values(this.#service.methods).find(({ name }) => name === operation);
    const [message] = body.length > maxDecodedBytes ? [] : new GrpcMessageReader().push(body);
    const json = message && this.#method && this.#decode(this.#method.request, message.bytes);
    const {
      ':path': _path,
      ':method': method,
      ':scheme': _scheme,
      ':authority': _authority,
      ...rest
    } = headers;
    this.request = {
      method: String(method),
      path,
      headers: rest,
      body: JSON.stringify(json) ?? '',
      json,
      operation,
    };
  }

  forward(connectUpstream: () => ClientHttp2Session, rewrite: (json: string) => string): void {
    const before = this.request.body;
    const rewritten = rewrite(before);
    if (rewritten !== before) this.request.json = safeParse(rewritten);
    const replacement = this.#mutation.request?.(this.request) ?? this.#raw.reply?.(this.request, this.#body);
    if (replacement) {
      this.#sendUnary(grpcHeaders, replacement);
      return;
    }
    const isChanged = (JSON.stringify(this.request.json) ?? '') !== before && this.#method !== undefined;
    const body = isChanged ? this.#encode(this.#method?.request ?? '', this.request.json) : this.#body;
    const upstream = connectUpstream().request({
      ...this.request.headers,
      ':method': this.request.method,
      ':path': this.request.path,
    });
    upstream.on('error', () => {});
    this.#stream.on('close', () => {
      if (this.#raw.ignoresCancellation !== true) upstream.close(constants.NGHTTP2_CANCEL);
    });
    this.#receive(upstream);
    upstream.end(body);
  }

  #receive(upstream: ClientHttp2Stream): void {
    const reader = new GrpcMessageReader();
    const messages: Uint8Array[] = [];
    let headers: Record<string, string> = {};
    let trailers: Record<string, string> | undefined;
    const isStreaming = this.#method?.isStreaming ?? false;
    upstream.on('response', ({ ':status': status, ...received }) => {
      headers = flattenHeaders(received);
      if (this.#stream.destroyed) return;
      if (status !== 200) this.#stream.respond({ ':status': Number(status) }, { endStream: true });
      // A stream with a status has no messages.
      else if (isStreaming && headers['grpc-status'] === undefined) this.#open(headers);
    });
    upstream.on('trailers', (received) => (trailers = flattenHeaders(received)));
    upstream.on('data', (chunk: Buffer) => {
      for (const { bytes } of reader.push(chunk)) {
        if (isStreaming) this.#sendEvent(bytes);
        else messages.push(bytes);
      }
    });
    upstream.on('close', () => {
      if (this.#stream.destroyed || this.#stream.closed) return;
      if (upstream.rstCode !== 0) this.#stream.close(upstream.rstCode);
      else if (this.#stream.headersSent) this.#endStream(trailers ?? {});
      else this.#endUnary(headers, messages[0], trailers ?? headers);
    });
  }

  #open(headers: Record<string, string>): void {
    const head = { status: 200, headers };
    this.#mutation.head?.(head, this.request);
    this.#raw.headers?.(head.headers, this.request);
    this.#stream.respond({ ':status': head.status, ...head.headers }, { waitForTrailers: true });
  }

  #sendEvent(bytes: Uint8Array): void {
    const data = this.#decode('StreamResponse', bytes);
    const before = JSON.stringify(data);
    const replaced = this.#mutation.frame?.(data, this.#index++, this.request);
    const objects = replaced?.filter((each): each is object => typeof each === 'object') ?? [data];
    for (const each of objects) {
      const isSame = JSON.stringify(each) === before;
      this.#write(isSame ? prefixMessage(bytes) : this.#encode('StreamResponse', each));
    }
  }

  #endStream(trailers: Record<string, string>): void {
    const appended = this.#mutation.end?.(this.request);
    if (appended === 'hang') return;
    for (const each of appended ?? [])
      if (typeof each === 'object') this.#write(this.#encode('StreamResponse', each));
    this.#end(trailers);
  }

  #endUnary(
    headers: Record<string, string>,
    bytes: Uint8Array | undefined,
    trailers: Record<string, string>,
  ): void {
    const type = this.#method?.response ?? '';
    const status = readStatus(trailers);
    const isError = status.name !== 'OK';
    const json = isError ? statusToJson(status) : bytes && this.#decode(type, bytes);
    const response: WireResponse = { status: 200, headers: { ...headers }, text: '', json };
    const before = JSON.stringify(json);
    this.#mutation.response?.(response, this.request);
    if (JSON.stringify(response.json) !== before) this.#sendUnary(headers, response);
    else this.#sendMessage(response.headers, bytes && !isError ? prefixMessage(bytes) : undefined, trailers);
  }

  /** Sends a response that a mutation created or changed: a result, or an error in the format of REST. */
  #sendUnary(headers: Record<string, string>, { json, text, headers: own }: WireResponse): void {
    const value = (json ?? (text === '' ? {} : safeParse(text))) as JsonObject;
    const error = isJsonObject(value) && isJsonObject(value.error) ? value.error : undefined;
    const message = error ? undefined : this.#encode(this.#method?.response ?? '', value);
    const {
      'grpc-status': _s,
      'grpc-message': _m,
      'grpc-status-details-bin': _d,
      ...rest
    } = { ...headers, ...own };
    const type = { 'content-type': 'application/grpc' };
    this.#sendMessage({ ...rest, ...type }, message, error ? statusTrailers(error) : { 'grpc-status': '0' });
  }

  #sendMessage(
    headers: Record<string, string>,
    message: Uint8Array | undefined,
    trailers: Record<string, string>,
  ): void {
    this.#raw.headers?.(headers, this.request);
    const { 'grpc-status': _s, 'grpc-message': _m, 'grpc-status-details-bin': _d, ...rest } = headers;
    const isAltered = headers['grpc-status'] !== undefined && message !== undefined;
    this.#stream.respond({ ':status': 200, ...(isAltered ? headers : rest) }, { waitForTrailers: true });
    if (message) this.#write(message);
    this.#end(trailers);
  }

  #write(message: Uint8Array): void {
    for (const each of this.#raw.message?.(message, this.request) ?? [message]) this.#stream.write(each);
  }

  #end(trailers: Record<string, string>): void {
    const mutated = this.#raw.trailers ? this.#raw.trailers({ ...trailers }, this.request) : trailers;
    if (mutated === 'reset') {
      this.#stream.destroy(new Error('reset by the mutant'));
      return;
    }
    this.#stream.on('wantTrailers', () => {
      if (Object.keys(mutated).length > 0) this.#stream.sendTrailers(mutated);
      else this.#stream.close();
    });
    this.#stream.end();
  }

  #decode(type: string, bytes: Uint8Array): JsonObject {
    return decodeProtobuf(this.#service.schema, type, bytes).json;
  }

  #encode(type: string, json: unknown): Uint8Array {
    return prefixMessage(encodeProtobuf(this.#service.schema, type, json));
  }
}

/** In megabytes: the suite sends large messages. */
const maxSessionMemory = 256;
/** Size of a request body up to which it is decoded: no mutation changes larger ones. */
export const maxDecodedBytes = 1_048_576;
const windowSize = 1 << 24;
const grpcHeaders = { 'content-type': 'application/grpc' };

function safeParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}
