import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { ServiceSchema } from '../../drivers/grpc/service-schemas.ts';
import { protocolErrors } from '../../drivers/error-response.ts';
import { encodeProtobuf } from '../../wire/grpc/encode-message.ts';
import { prefixMessage } from '../../wire/grpc/grpc-message-reader.ts';
import { grpcStatusNames, statusSchema } from '../../wire/grpc/grpc-status.ts';
import { decodeGrpcCall } from './decode-call.ts';
import type { ReceivedCall, SentResponse } from './received-request.ts';
import type { ErrorReply, Reply, StreamReply } from './reply.ts';
import { wireFormat } from './wire-content.ts';

/** A call of gRPC before its reply. */
export interface ReceivedGrpcCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly call: ReceivedCall | undefined;
  /** The message as ProtoJSON. */
  readonly body: string;
  readonly problems: readonly string[];
  readonly response: SentResponse;
}

/** Server of gRPC without TLS. It knows no behavior of agents. */
export class GrpcEndpoint {
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();

  /** @param onCall - returns the reply to a call; undefined for an unknown method. */
  constructor(onCall: (request: ReceivedGrpcCall) => Reply | undefined, holdTime: number) {
    this.#server = createServer();
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
      session.on('error', () => {});
    });
    this.#server.on('stream', (stream, incoming) => {
      const headers = Object.fromEntries(
        Object.entries(incoming).flatMap(([name, value]) =>
          name.startsWith(':') ? [] : [[name, [value ?? ''].flat().join(', ')] as const],
        ),
      );
      const chunks: Buffer[] = [];
      let size = 0;
      stream.on('error', () => {});
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= maxRequestBytes) chunks.push(chunk);
      });
      stream.on('end', () => {
        const path = String(incoming[':path']);
        const decoded = decodeGrpcCall(path, Buffer.concat(chunks));
        const response: SentResponse = {
          status: 200,
          headers: {},
          body: '',
          bytes: 0,
          endedAt: undefined,
          endedBy: undefined,
        };
        const { call, service, problems = [] } = decoded ?? {};
        const body = call ? JSON.stringify(call.params) : '';
        const reply = onCall({ path, headers, call, body, problems, response });
        void new GrpcReplyWriter(stream, response, holdTime).reply(call, service, reply);
      });
    });
  }

  /** @returns the port */
  listen(): Promise<number> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  close(): void {
    this.#server.close();
    for (const session of this.#sessions) session.destroy();
  }
}

const maxRequestBytes = 4 * 1_024 * 1_024;

class GrpcReplyWriter {
  readonly #stream: ServerHttp2Stream;
  readonly #record: SentResponse;
  readonly #holdTime: number;

  constructor(stream: ServerHttp2Stream, record: SentResponse, holdTime: number) {
    this.#stream = stream;
    this.#record = record;
    this.#holdTime = holdTime;
    stream.on('close', () => {
      record.endedAt ??= performance.now();
      record.endedBy ??= 'client';
    });
  }

  async reply(
    call: ReceivedCall | undefined,
    service: ServiceSchema | undefined,
    reply: Reply | undefined,
  ): Promise<void> {
    if (this.#stream.destroyed) return;
    const method = call && service?.methods[call.operation];
    if (!call || !service || !method || !reply || reply.kind === 'raw') {
      this.#respond('UNIMPLEMENTED', 'no such method');
      return;
    }
    const format = wireFormat(call.version, call.transport);
    const encode = (json: object): Uint8Array => {
      this.#record.body += `${JSON.stringify(json).slice(0, 65_536)}\n`;
      return prefixMessage(encodeProtobuf(service.schema, method.response, json));
    };
    switch (reply.kind) {
      case 'error':
        this.#respondError(reply);
        return;
      case 'stream':
        await this.#respondStream(reply, (item) =>
          encode(item.kind === 'wire' ? item.json : format.event(item)),
        );
        return;
      case 'content': {
        const { content, delay = 0, alter = (wire) => wire } = reply;
        if (delay > 0) await this.#wait(delay);
        if (this.#stream.destroyed) return;
        this.#respond('OK', '', [
          encode(alter(method.isStreaming ? format.event(content) : format.result(content))),
        ]);
        return;
      }
      case 'result':
        this.#respond('OK', '', [encode(reply.result)]);
    }
  }

  #respond(
    status: (typeof grpcStatusNames)[number],
    message: string,
    messages: readonly Uint8Array[] = [],
    details?: Uint8Array,
  ): void {
    const trailers = {
      'grpc-status': String(grpcStatusNames.indexOf(status)),
      ...(message === '' ? {} : { 'grpc-message': encodeURIComponent(message) }),
      ...(details ? { 'grpc-status-details-bin': Buffer.from(details).toString('base64') } : {}),
    };
    this.#record.headers = { 'content-type': 'application/grpc+proto', ...trailers };
    if (!this.#stream.headersSent)
      this.#stream.respond(
        { ':status': 200, 'content-type': 'application/grpc+proto' },
        { waitForTrailers: true },
      );
    this.#stream.on('wantTrailers', () => {
      this.#record.endedBy ??= 'agent';
      this.#stream.sendTrailers(trailers);
    });
    for (const each of messages) this.#stream.write(each);
    this.#stream.end();
  }

  #respondError({ error, message }: ErrorReply): void {
    const { grpc, reason } = protocolErrors[error];
    const [status] = grpc;
    const value = encodeProtobuf(statusSchema, 'ErrorInfo', { reason, domain: 'a2a-protocol.org' });
    const details = encodeProtobuf(statusSchema, 'Status', {
      code: grpcStatusNames.indexOf(status),
      message,
      details: [{ typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo', value }],
    });
    this.#respond(status, message, [], details);
  }

  async #respondStream(
    { events, end = 'close' }: StreamReply,
    encode: (item: Exclude<StreamReply['events'][number], ErrorReply>) => Uint8Array,
  ): Promise<void> {
    this.#stream.respond(
      { ':status': 200, 'content-type': 'application/grpc+proto' },
      { waitForTrailers: true },
    );
    for (const item of events) {
      if (this.#stream.destroyed) return;
      if (item.kind === 'error') {
        this.#respondError(item);
        return;
      }
      this.#stream.write(encode(item));
    }
    if (end === 'hold') await this.#wait(this.#holdTime);
    if (end === 'cut') {
      await new Promise((resolve) => void setTimeout(resolve, 50));
      this.#record.endedBy ??= 'agent';
      this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    } else if (!this.#stream.destroyed) this.#respond('OK', '');
  }

  /** Waits, or until the client leaves. */
  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#stream.on('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
