import { FrameReader } from '../../dialects/protobuf/frame-reader.ts';
import { readGrpcStatus } from '../../dialects/protobuf/grpc-status.ts';
import type { Operation } from '../../protocol/agent.ts';
import { A2AError, type ErrorReason, errorTable } from '../../protocol/errors.ts';
import type { HttpResponse } from '../http/http-client.ts';
import { decompressMessage } from './decompress-message.ts';

const noBytes = new Uint8Array();

/**
 * A response of gRPC: messages, then a status in the trailers. Its HTTP status is the one that the error would have in
 * other transports, so that retries and credentials are handled alike.
 */
export class GrpcResponse implements HttpResponse {
  readonly #response: HttpResponse;
  readonly #operation: Operation;
  readonly #frames: FrameReader;
  readonly #limit: number;
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** Messages that were received before the caller asks for them. */
  #first: readonly Uint8Array[] = [];
  #isOver = false;
  /** The error with which the agent ended the call; known when the messages have been read. */
  error: A2AError | undefined;

  private constructor(response: HttpResponse, operation: Operation, limit: number) {
    this.#operation = operation;
    this.#response = response;
    this.#limit = limit;
    this.#frames = new FrameReader(limit, true);
    this.#chunks = response.chunks()[Symbol.asyncIterator]();
  }

  /**
   * Waits for the first message or for the end.
   *
   * @param limit - bytes of a message at most.
   * @returns the response itself if it is not one of gRPC.
   */
  static async receive(response: HttpResponse, operation: Operation, limit: number): Promise<HttpResponse> {
    const isGrpc = response.header('content-type')?.startsWith('application/grpc') ?? false;
    if (response.status !== 200 || !isGrpc) return response;
    const received = new GrpcResponse(response, operation, limit);
    received.#first = (await received.#read()) ?? [];
    return received;
  }

  get status(): number {
    return this.error ? errorTable[this.error.reason].http : 200;
  }

  header(name: string): string | undefined {
    const value = this.#metadata(name);
    if (name !== 'retry-after' || value !== undefined) return value;
    const milliseconds = this.#metadata('grpc-retry-pushback-ms');
    if (milliseconds === undefined || !/^\d{1,9}$/.test(milliseconds)) return undefined;
    return String(Math.ceil(Number(milliseconds) / 1000));
  }

  /** Iterates over messages; those that arrived together are returned together. */
  async *messages(): AsyncGenerator<readonly Uint8Array[]> {
    try {
      if (this.#first.length > 0) yield this.#first;
      this.#first = [];
      for (;;) {
        const messages = await this.#read();
        if (messages === undefined) return;
        yield messages;
      }
    } finally {
      this.discard();
    }
  }

  /** Messages are bytes, and are never read as text. */
  text(): Promise<string> {
    return Promise.reject(new A2AError('INTERNAL_ERROR'));
  }

  chunks(): AsyncIterable<Uint8Array> {
    throw new A2AError('INTERNAL_ERROR');
  }

  discard(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#response.discard();
  }

  /** Returns the next messages; undefined at the end. */
  async #read(): Promise<readonly Uint8Array[] | undefined> {
    try {
      while (!this.#isOver) {
        const next = await this.#chunks.next();
        if (next.done) {
          // Throws if the bytes after the last message are not the start of another one.
          if (!this.#frames.isComplete) this.#frames.push(noBytes);
          this.#isOver = true;
          this.error = this.#readStatus();
          return undefined;
        }
        const messages = this.#frames.push(next.value);
        if (messages.length > 0) return await this.#decompress(messages);
      }
      return undefined;
    } catch (thrown) {
      this.discard();
      throw thrown;
    }
  }

  /** Decompresses those messages that are compressed. */
  #decompress(messages: readonly Uint8Array[]): Promise<Uint8Array[]> | readonly Uint8Array[] {
    const frames = this.#frames;
    if (!messages.some((each) => frames.wasCompressed(each))) return messages;
    const encoding = this.#response.header('grpc-encoding');
    return Promise.all(
      messages.map(async (each) =>
        frames.wasCompressed(each) ? decompressMessage(each, encoding, this.#limit) : each,
      ),
    );
  }

  #readStatus(): A2AError | undefined {
    const names = ['grpc-status', 'grpc-message', 'grpc-status-details-bin'] as const;
    const status = Object.fromEntries(names.map((name) => [name, this.#metadata(name)]));
    if (status['grpc-status'] === undefined)
      return new A2AError('UNAVAILABLE', 'The response ended without a status', {
        hint: 'A proxy in front of the agent may remove trailers, which gRPC requires.',
      });
    const error = readGrpcStatus(status, this.#operation);
    if (error) return withHttpStatus(error);
    if (this.#frames.isComplete) return undefined;
    return new A2AError('INVALID_AGENT_RESPONSE', 'The response ended within a message');
  }

  #metadata(name: string): string | undefined {
    return this.#response.header(name) ?? this.#response.trailer?.(name);
  }
}

/** Errors that servers and proxies report with an HTTP status in other transports. */
const httpReasons: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
]);

/** Adds the HTTP status, by which callers tell outages from errors of single calls. */
function withHttpStatus(error: A2AError): A2AError {
  const { reason, message, details, violations, cause } = error;
  if (!httpReasons.has(reason)) return error;
  return new A2AError(reason, message, { details, violations, cause, status: errorTable[reason].http });
}
