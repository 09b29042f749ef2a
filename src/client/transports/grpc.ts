/**
 * gRPC transport for A2A 1.0 and 0.3.
 *
 * @module
 */
import type { EventReader, RequestOf, ResultOf, UnaryOperation } from '../../dialects/dialect.ts';
import { MalformedMessageError } from '../../dialects/protobuf/byte-reader.ts';
import { decodeMessage } from '../../dialects/protobuf/decode-message.ts';
import { encodeFrame } from '../../dialects/protobuf/encode-message.ts';
import { type GrpcMethod, type GrpcService, grpcServiceOf } from '../../dialects/protobuf/grpc-service.ts';
import { FrameTooLargeError } from '../../primitives/formats/sse.ts';
import type { JsonObject } from '../../primitives/json.ts';
import { type CallContext, isStreamingOperation, type Operation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { ClientSettings } from '../connect-options.ts';
import type { HttpResponse } from '../http/http-client.ts';
import {
  type OutboundRequest,
  requestAndRead,
  requestStreaming,
  timeoutOf,
  toClientError,
} from '../http/send-request.ts';
import { readableEncodings } from './decompress-message.ts';
import { skipFrame } from './frame-stream.ts';
import { GrpcResponse } from './grpc-response.ts';
import { decodeReportingLosses, encodeReportingLosses, modeWithoutLosses } from './loss-reporting.ts';
import { isRepeatable, serviceParameters } from './service-parameters.ts';
import { streamOpenContext } from './stream-open-context.ts';
import {
  type Endpoint,
  type FrameStream,
  notA2AResponse,
  refineError,
  type StreamFrame,
  type StreamingOperation,
  type StreamOpenOptions,
  type TransportBinding,
  unreadableResponse,
  unsupportedByVersion,
} from './transport-binding.ts';

/** Creates a gRPC binding of an endpoint. */
export function grpcBinding(settings: ClientSettings, endpoint: Endpoint): TransportBinding {
  return new GrpcBinding(settings, endpoint);
}

class GrpcBinding implements TransportBinding {
  readonly endpoint: Endpoint;
  readonly #settings: ClientSettings;
  readonly #origin: string;
  readonly #service: GrpcService | undefined;
  readonly #methods: ReadonlyMap<Operation, GrpcMethod>;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(settings: ClientSettings, endpoint: Endpoint) {
    const { version } = endpoint.dialect;
    this.endpoint = endpoint;
    this.#settings = settings;
    this.#origin = new URL(endpoint.url).origin;
    this.#service = grpcServiceOf(version);
    this.#methods = new Map(this.#service?.methods.map((method) => [method.operation, method]));
    this.#headers = {
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-accept-encoding': readableEncodings,
      'user-agent': 'dragoman',
      ...(version === '1.0' && { 'a2a-version': '1.0' }),
      ...settings.headers,
    };
  }

  async unary<O extends UnaryOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
  ): Promise<ResultOf[O]> {
    const method = this.#method(operation);
    const outbound = this.#createRequest(method, request, call);
    outbound.headers = {
      ...outbound.headers,
      'grpc-timeout': formatGrpcTimeout(timeoutOf(operation, this.#settings)),
    };
    const result = await requestAndRead(this.#settings, outbound, (response) => this.#readSingle(response));
    if (result.error) throw result.error;
    const { message } = result;
    try {
      return decodeReportingLosses(this.#settings, { operation, url: this.endpoint.url }, (mode) =>
        this.endpoint.dialect.results[operation].read(decodeMessage(method.response, message), mode),
      );
    } catch (thrown) {
      throw unreadableResponse(toMessageError(thrown, 'limits.body'), this.endpoint.url);
    }
  }

  /** Opens a stream. Its connection is tested with pings, so that there is no idle timeout. */
  async open<O extends StreamingOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
    { signal }: StreamOpenOptions,
  ): Promise<FrameStream> {
    const method = this.#method(operation);
    const outbound = this.#createRequest(method, request, call);
    try {
      const response = await requestStreaming(this.#settings, outbound, signal);
      if (!(response instanceof GrpcResponse)) throw await this.#notGrpc(response);
      if (response.error) throw refineError(response.error, this.endpoint, response);
      const reader = this.endpoint.dialect.eventReader(streamOpenContext(operation, request));
      return this.#readFrames(response, { reader, method, outbound });
    } catch (thrown) {
      throw toClientError(thrown, outbound);
    }
  }

  #method(operation: Operation): GrpcMethod {
    const method = this.#methods.get(operation);
    if (!method) throw unsupportedByVersion(this.endpoint, operation);
    return method;
  }

  #createRequest(
    { operation, name, request: type }: GrpcMethod,
    request: RequestOf[Operation],
    call: CallContext,
  ): OutboundRequest {
    const { tenant, url, card } = this.endpoint;
    const service = this.#service as GrpcService;
    const { dialect } = service;
    const codec = dialect.requests[operation] as { write(value: unknown, losses?: unknown): unknown };
    const params = encodeReportingLosses(this.#settings, { operation, url }, (losses) =>
      codec.write(request, losses),
    ) as JsonObject;
    return {
      operation,
      isRepeatable: isRepeatable(request, card),
      method: 'POST',
      target: { origin: this.#origin, path: service.path + name },
      headers: { ...this.#headers, ...serviceParameters(dialect, request, call) },
      body: encodeFrame(type, tenant === undefined ? params : { ...params, tenant }),
      http2: true,
      redirects: 'nowhere',
      receive: (response) => this.#receive(response, operation),
      call,
      auth: this.#settings.auth,
      card,
    };
  }

  /** Reads the only message of a response. Errors are returned: their status decides whether the call is repeated. */
  async #readSingle(response: HttpResponse): Promise<SingleResult> {
    const header = (name: string): string | undefined => response.header(name);
    if (!(response instanceof GrpcResponse))
      return { status: response.status, header, error: await this.#notGrpc(response) };
    const messages: Uint8Array[] = [];
    try {
      for await (const batch of response.messages()) {
        messages.push(...batch);
        if (messages.length > 1) throw new MalformedMessageError('there is more than one message');
      }
    } catch (thrown) {
      throw toMessageError(thrown, 'limits.body');
    }
    const [message] = messages;
    const { error, status } = response;
    if (error) return { status, header, error: refineError(error, this.endpoint, response) };
    if (message) return { status, header, message };
    throw toMessageError(new MalformedMessageError('there is no message'), 'limits.body');
  }

  async *#readFrames(
    response: GrpcResponse,
    { reader, method, outbound }: { reader: EventReader; method: GrpcMethod; outbound: OutboundRequest },
  ): AsyncGenerator<readonly StreamFrame[]> {
    try {
      for await (const batch of response.messages())
        for (let at = 0; at < batch.length; at += decodedTogether)
          yield batch
            .slice(at, at + decodedTogether)
            .map((message) => this.#decodeFrame(message, reader, method));
      // Temporary errors are thrown like errors of the connection, so that the stream is resumed.
      if (response.error) throw refineError(response.error, this.endpoint, response);
    } catch (thrown) {
      throw toClientError(toMessageError(thrown, 'limits.frame'), outbound);
    }
  }

  #decodeFrame(message: Uint8Array, reader: EventReader, { operation, response }: GrpcMethod): StreamFrame {
    try {
      const value = decodeMessage(response, message);
      const events = this.#settings.onLoss
        ? decodeReportingLosses(this.#settings, { operation, url: this.endpoint.url }, (mode) =>
            reader.read(value, mode),
          )
        : reader.read(value, modeWithoutLosses);
      return { events, id: undefined };
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      return skipFrame(this.#settings, undefined, why, thrown);
    }
  }

  async #receive(response: HttpResponse, operation: Operation): Promise<HttpResponse> {
    const { limits } = this.#settings;
    const [limit, name] = isStreamingOperation(operation)
      ? [limits.frame, 'limits.frame']
      : [limits.body, 'limits.body'];
    try {
      return await GrpcResponse.receive(response, operation, limit);
    } catch (thrown) {
      throw toMessageError(thrown, name);
    }
  }

  /** Reads a response of something that does not speak gRPC. */
  async #notGrpc(response: HttpResponse): Promise<A2AError> {
    return notA2AResponse(this.endpoint, response, await response.text(maxForeignBody));
  }
}

/** A message or an error, and the status that decides whether the call is repeated. */
type SingleResult = { readonly status: number; header(name: string): string | undefined } & (
  | { readonly message: Uint8Array; readonly error?: undefined }
  | { readonly error: A2AError }
);

/** Messages that are decoded before the caller has received them: more of them only wait in memory. */
const decodedTogether = 16;

/** Bytes of a response without gRPC that are read, for the error. */
const maxForeignBody = 1024 * 1024;

/** Explains frames that cannot be read. @param limitName - the option that limits their size */
function toMessageError(thrown: unknown, limitName: string): unknown {
  if (thrown instanceof FrameTooLargeError)
    return new A2AError('INVALID_AGENT_RESPONSE', `A message of the agent is too large: ${thrown.message}`, {
      hint: `Raise \`${limitName}\` to accept larger messages.`,
    });
  if (thrown instanceof MalformedMessageError)
    return new A2AError('INVALID_AGENT_RESPONSE', `Malformed message of the agent: ${thrown.message}`, {
      cause: thrown,
    });
  return thrown;
}

/** Formats milliseconds as `grpc-timeout`, which has at most 8 digits. */
function formatGrpcTimeout(milliseconds: number): string {
  const whole = Math.max(1, Math.ceil(milliseconds));
  return whole < 100_000_000 ? `${whole}m` : `${Math.min(99_999_999, Math.ceil(whole / 1000))}S`;
}
