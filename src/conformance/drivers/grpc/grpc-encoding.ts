import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import { stripTrailing } from '../../../primitives/text.ts';
import type { HttpExchange, RawFrame } from '../../wire/http-exchange.ts';
import type { RawRequest } from '../../wire/raw-http-client.ts';
import { decodeProtobuf } from '../../wire/grpc/decode-message.ts';
import { encodeProtobuf } from '../../wire/grpc/encode-message.ts';
import { prefixMessage } from '../../wire/grpc/grpc-message-reader.ts';
import { type ErrorResponse, errorInfoReason } from '../error-response.ts';
import { objectOf } from '../normalized-views.ts';
import type { DecodedFrame, DecodedResponse, DriverOperation, RequestOverrides } from '../protocol-driver.ts';
import { mergeHeaders } from '../rpc-encoding.ts';
import type { ServiceSchema } from './service-schemas.ts';

/** Encodes a call of gRPC. @returns undefined if the service has no such operation. */
export function encodeGrpcRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  { path, methods, schema }: ServiceSchema,
  operation: DriverOperation,
  params: Record<string, unknown> | undefined,
  overrides: RequestOverrides = {},
): RawRequest | undefined {
  const method = methods[operation];
  if (!method) return undefined;
  const payload = overrides.transform ? overrides.transform(params ?? {}) : (params ?? {});
  return {
    method: 'POST',
    url: `${stripTrailing(url, '/')}${path}${method.name}`,
    headers: mergeHeaders(headers, overrides.headers),
    body: prefixMessage(encodeProtobuf(schema, method.request, payload)),
    grpc: {
      requestText: JSON.stringify(payload, (_key, value: unknown) =>
        value instanceof Uint8Array ? `${value.length} bytes` : value,
      ),
      isStreaming: method.isStreaming,
      decode: (message) => decodeProtobuf(schema, method.response, message),
    },
  };
}

/** Decodes the response to a call: a status other than OK is an error. */
export function decodeGrpcResponse(exchange: HttpExchange): DecodedResponse {
  const { grpc, status, body, frames } = exchange;
  if (status === 0 || !grpc)
    return { exchange, decodeError: exchange.transportError ?? `No response (${exchange.end})` };
  const { name, message, details } = grpc.status;
  if (name === undefined && (status === 401 || status === 403))
    return { exchange, error: { ...noDetails, httpStatus: status, message: `HTTP ${status}`, raw: {} } };
  if (name === undefined)
    return { exchange, decodeError: `HTTP ${status} without a valid grpc-status (${exchange.end})` };
  if (name !== 'OK') {
    const error: ErrorResponse = {
      code: undefined,
      httpStatus: status,
      grpcStatus: name,
      message,
      reason: errorInfoReason(details),
      details,
      raw: objectOf(parseJsonOrUndefined(body)).error,
    };
    return { exchange, error };
  }
  if (frames.length > 0)
    return { exchange, result: frames.map(({ data }) => parseJsonOrUndefined(data ?? '')) };
  const result = parseJsonOrUndefined(body);
  if (result === undefined) return { exchange, decodeError: 'The status OK without a message' };
  return { exchange, result };
}

const noDetails = { code: undefined, reason: undefined, details: undefined };

/** Decodes a message of a stream. */
export function decodeGrpcFrame({ data = '' }: RawFrame): DecodedFrame {
  return { event: parseJsonOrUndefined(data) };
}

/** A call that returned messages, or ended with OK, is a stream. */
export function isGrpcStream({ grpc, frames }: HttpExchange): boolean {
  return frames.length > 0 || grpc?.status.name === 'OK';
}
