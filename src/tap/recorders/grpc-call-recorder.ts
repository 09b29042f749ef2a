import { readGrpcStatus } from '../../dialects/protobuf/grpc-status.ts';
import { describeBytes, messageText } from '../../server/grpc/message-text.ts';
import type { MessageType } from '../../dialects/protobuf/message-type.ts';
import { isStreamingOperation } from '../../protocol/agent.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { ByteReservation } from '../../server/limits/byte-budget.ts';
import { identifyGrpcMethod } from '../decode/identify-operation.ts';
import { decodeBody } from '../decode/content-encoding.ts';
import {
  type DeferredText,
  type ExchangeParticipants,
  HttpExchangeRecorder,
  type ObservedHeaders,
  type ObservedRequest,
} from './http-exchange-recorder.ts';
import { MessageCollector } from './message-collector.ts';
import type { TrafficRecorder } from './traffic-recorder.ts';

/** What a recorder needs to know of a call. */
export interface ObservedCall {
  readonly participants: ExchangeParticipants;
  readonly head: ObservedRequest;
  /** Path of the method. */
  readonly path: string;
  /** Count the bytes of incomplete messages of the client and the agent. */
  readonly reservations: readonly [ByteReservation, ByteReservation];
}

/**
 * Records one gRPC call from its bytes, like a request of REST: messages as ProtoJSON, messages of streams as server-sent
 * events and errors as errors of REST. Messages of unknown methods are recorded as their length.
 */
export class GrpcCallRecorder {
  readonly #recorder: TrafficRecorder;
  readonly #call: ObservedCall;
  readonly #method: ReturnType<typeof identifyGrpcMethod>;
  readonly #isStreaming: boolean;
  readonly #request: MessageCollector;
  readonly #response: MessageCollector;
  #exchange: HttpExchangeRecorder | undefined = undefined;
  #headers: ObservedHeaders = {};
  #status = 0;
  /** True if the start of a stream is recorded. */
  #hasBegun = false;
  /** The message of a call without a stream. */
  #result: Uint8Array | undefined = undefined;

  constructor(recorder: TrafficRecorder, call: ObservedCall) {
    this.#recorder = recorder;
    this.#call = call;
    this.#method = identifyGrpcMethod(call.path);
    const operation = this.#method?.method.operation;
    this.#isStreaming = operation !== undefined && isStreamingOperation(operation);
    const [ofClient, ofAgent] = call.reservations;
    this.#request = new MessageCollector(ofClient);
    this.#response = new MessageCollector(ofAgent);
  }

  /** Records bytes of the client. */
  requestBytes(bytes: Uint8Array): void {
    // A method of A2A has one message.
    if (this.#exchange) return;
    const [message] = this.#request.push(bytes);
    if (!message) return;
    this.#recordRequest(message);
    this.#call.reservations[0].release();
  }

  /** Records the headers of the response. */
  response(status: number, headers: ObservedHeaders): void {
    this.#status = status;
    this.#headers = withoutPseudoHeaders(headers);
    this.#hasBegun = this.#isStreaming && status === 200 && headers['grpc-status'] === undefined;
    if (this.#hasBegun) this.#recordRequest().response(status, this.#headers, '', true);
  }

  /** Records bytes of the agent. */
  responseBytes(bytes: Uint8Array): void {
    if (!this.#hasBegun) {
      this.#result ??= this.#response.push(bytes)[0];
      return;
    }
    const hadFailed = this.#response.hasFailed;
    const messages = this.#response.push(bytes);
    const exchange = this.#recordRequest();
    for (const message of messages) exchange.frame(this.#toJson('response', message, 'data: '));
    if (this.#response.hasFailed && !hadFailed) exchange.frame(': The message is too large to record');
    if (this.#response.isComplete) this.#call.reservations[1].release();
  }

  /** Records the end of the call. @param trailers - the trailers, or the headers if there is nothing else */
  end(trailers: ObservedHeaders): void {
    const exchange = this.#recordRequest();
    const operation = this.#method?.method.operation;
    const error = this.#status === 200 ? readGrpcStatus(trailers, operation) : undefined;
    const headers = {
      ...this.#headers,
      ...withoutPseudoHeaders(trailers),
      // Decoded, so that secrets in it are found.
      ...(error && { 'grpc-message': error.message }),
    };
    const { status, body } = this.#errorBody(error);
    if (this.#hasBegun) {
      if (error) exchange.frame(`event: error\ndata: ${body}`);
      exchange.end(error ? { reason: 'The agent ended the stream with an error' } : 'complete');
      return;
    }
    exchange.response(status, headers, error ? body : this.#resultText());
    exchange.end('complete');
  }

  /** Records that the call did not end normally. */
  interrupted(reason: string): void {
    this.#recordRequest().end({ reason });
  }

  /** Records the request as far as it was received, once. */
  #recordRequest(message?: Uint8Array): HttpExchangeRecorder {
    const { participants, head } = this.#call;
    return (this.#exchange ??= new HttpExchangeRecorder(
      this.#recorder,
      participants,
      { ...head, headers: withoutPseudoHeaders(head.headers) },
      message ? this.#toJson('request', message) : describeBytes(this.#request.length),
    ));
  }

  #resultText(): string | DeferredText {
    return this.#result ? this.#toJson('response', this.#result) : describeBytes(this.#response.length);
  }

  #toJson(side: 'request' | 'response', message: Uint8Array, prefix = ''): DeferredText {
    const type = this.#method?.method[side];
    return { length: message.length, read: () => prefix + recordedText(type, message) };
  }

  #errorBody(error: A2AError | undefined): { status: number; body: string } {
    const written = error && this.#method?.service.dialect.restError.write(error);
    if (written) return { status: written.status, body: JSON.stringify(written.body) };
    return { status: this.#status, body: error?.message ?? '' };
  }
}

/** Decompresses and decodes a message. */
function recordedText(type: MessageType | undefined, message: Uint8Array): string {
  // No message begins with the first byte of a compressed one: its wire type does not exist.
  const encoding = message[0] === 0x1f ? 'gzip' : undefined;
  const decoded = type && decodeBody(Buffer.from(message), encoding);
  return type && decoded ? messageText(type, decoded) : describeBytes(message.length);
}

/** Returns metadata. Binary values are replaced by their length, because secrets in them would not be found. */
function withoutPseudoHeaders(headers: ObservedHeaders): ObservedHeaders {
  const metadata: Record<string, ObservedHeaders[string]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(':')) continue;
    metadata[name] = name.endsWith('-bin') ? `(${String(value).length} characters)` : value;
  }
  return metadata;
}
