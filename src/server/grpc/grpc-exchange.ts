import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { findGrpcMethod } from '../../dialects/protobuf/grpc-service.ts';
import { type GrpcTrailers, okTrailers, writeGrpcStatus } from '../../dialects/protobuf/grpc-status.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { AgentHttpHandler } from '../http/agent-http-handler.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import { SseStream, type TextSink } from '../http/sse-stream.ts';
import type { ByteReservation } from '../limits/byte-budget.ts';
import { minCountedBytes } from '../limits/byte-budget.ts';
import { bodiesExceeded } from '../limits/server-budgets.ts';
import { bodyTooLarge } from '../node/request-body.ts';
import { GrpcRequest } from './grpc-request.ts';
import { handleGrpc } from './handle-grpc.ts';

const responseHeaders = { ':status': 200, 'content-type': 'application/grpc+proto' };

/** One call: reads the message, calls the agent, and sends messages and status. */
export class GrpcExchange implements TextSink {
  readonly #stream: ServerHttp2Stream;
  readonly #handler: AgentHttpHandler;
  readonly #maxBodyBytes: number;
  readonly #request: GrpcRequest;
  /** The request, after authentication without credentials. */
  #caller: HttpServerRequest;
  readonly #path: string;
  readonly #method: ReturnType<typeof findGrpcMethod>;
  #reservation: ByteReservation | undefined = undefined;
  #deadline: NodeJS.Timeout | undefined = undefined;
  #events: SseStream | undefined = undefined;

  constructor(
    handler: AgentHttpHandler,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    maxBodyBytes: number,
  ) {
    this.#handler = handler;
    this.#stream = stream;
    this.#maxBodyBytes = maxBodyBytes;
    this.#path = headers[':path'] ?? '';
    this.#method = findGrpcMethod(this.#path);
    this.#request = new GrpcRequest(stream, headers, this.#path);
    this.#caller = this.#request;
    // A reset by the client is not an error of the server.
    stream.on('error', () => {});
    stream.once('close', () => this.#release());
    this.#startDeadline(headers['grpc-timeout']);
  }

  /** Handles the call. Never rejects. */
  async run(): Promise<void> {
    const handler = this.#handler;
    try {
      const method = this.#method;
      if (!method) throw new A2AError('METHOD_NOT_FOUND', `There is no method ${this.#path.slice(0, 200)}`);
      const refusal = handler.admit(this.#request);
      if (refusal) throw refusal;
      const authenticated = await handler.authenticate(this.#request);
      this.#caller = authenticated;
      const { telemetry } = handler.context;
      if (telemetry) this.#request.telemetry = telemetry.start(this.#request);
      const frame = await this.#read(authenticated);
      this.#respond(await handleGrpc(handler.context, authenticated, method, frame));
    } catch (thrown) {
      this.#fail(A2AError.from(thrown));
    }
  }

  get #version(): ProtocolVersion | undefined {
    return this.#method?.service.dialect.version;
  }

  /** Reads all bytes that the client sends. */
  #read(request: HttpServerRequest): Promise<Uint8Array> {
    const stream = this.#stream;
    const reservation = this.#handler.context.budgets.openBody(request);
    this.#reservation = reservation;
    const chunks: Buffer[] = [];
    let size = 0;
    let counted = 0;
    return new Promise((resolve, reject) => {
      if (stream.readableEnded || stream.endAfterHeaders) {
        resolve(new Uint8Array());
        return;
      }
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
        // The prefix of the frame is not part of the message.
        if (size > this.#maxBodyBytes + 5) reject(bodyTooLarge(this.#maxBodyBytes));
        else if (size >= minCountedBytes) {
          if (!reservation.grow(size - counted)) reject(bodiesExceeded());
          counted = size;
        }
        chunks.push(chunk);
      });
      stream.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
      stream.once('close', () => reject(new A2AError('CANCELED')));
    });
  }

  #respond(response: HttpServerResponse): void {
    const stream = this.#stream;
    this.#reservation?.release();
    const { body, onSent } = response;
    if (onSent) stream.once('close', onSent);
    if (stream.destroyed || stream.closed) {
      if (body instanceof SseStream) {
        body.detach();
        this.#handler.streamEnded(body);
      }
      return;
    }
    stream.respond(responseHeaders, { waitForTrailers: true });
    stream.once('wantTrailers', () => this.#sendTrailers());
    if (body instanceof SseStream) {
      this.#events = body;
      body.pipe(this);
    } else {
      stream.end(body, 'latin1');
      this.#request.telemetry?.end(200);
    }
  }

  #sendTrailers(): void {
    const events = this.#events;
    const isInterrupted = events !== undefined && !events.isComplete;
    const error =
      events?.error ?? (isInterrupted ? new A2AError('UNAVAILABLE', 'The server is stopping') : undefined);
    const trailers: GrpcTrailers = error ? writeGrpcStatus(error, this.#version) : okTrailers;
    this.#stream.sendTrailers({ ...trailers });
  }

  /** Sends a status without messages. */
  #fail(error: A2AError): void {
    const stream = this.#stream;
    this.#handler.context.report(error, this.#caller);
    this.#request.telemetry?.end(200);
    if (stream.destroyed || stream.closed) return;
    stream.respond({ ...responseHeaders, ...writeGrpcStatus(error, this.#version) }, { endStream: true });
    // Without an error, this tells the client to stop sending.
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  }

  /** Ends the call when the client no longer waits for it. */
  #startDeadline(header: string | string[] | undefined): void {
    const milliseconds = parseTimeout(header);
    if (milliseconds === undefined) return;
    this.#deadline = setTimeout(() => {
      const error = new A2AError('TIMEOUT', 'The deadline of the client has passed');
      if (this.#stream.headersSent) {
        if (this.#events) {
          this.#events.error = error;
          this.#events.end();
        }
      } else this.#fail(error);
    }, milliseconds);
  }

  #release(): void {
    clearTimeout(this.#deadline);
    this.#reservation?.release();
    const events = this.#events;
    if (events) {
      events.detach();
      this.#handler.streamEnded(events);
    }
    this.#request.release();
  }

  write(text: string): boolean {
    return this.#stream.write(text, 'latin1');
  }

  once(event: 'drain', callback: () => void): void {
    this.#stream.once(event, callback);
  }

  end(last?: string): void {
    if (last === undefined) this.#stream.end();
    else this.#stream.end(last, 'latin1');
  }

  destroy(): void {
    this.#stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

const units: { readonly [unit: string]: number } = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Parses `grpc-timeout`, such as `100m`. @returns milliseconds */
function parseTimeout(header: string | string[] | undefined): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(String(header ?? '')) ?? [];
  if (digits === undefined) return undefined;
  // Longer timers fire at once.
  return Math.min(Number(digits) * (units[unit] ?? 1), 2 ** 31 - 1);
}
