import { isJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import type { HttpExchange, RawFrame } from '../wire/http-exchange.ts';
import type { RawRequest } from '../wire/raw-http-client.ts';
import { type ErrorResponse, errorInfoReason } from './error-response.ts';
import type { DecodedFrame, DecodedResponse, RequestOverrides } from './protocol-driver.ts';
import { asText } from './normalized-views.ts';

let requestCount = 0;

/** Encodes a JSON-RPC request. */
export function encodeRpcRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  method: string,
  params: Record<string, unknown> | undefined,
  overrides: RequestOverrides = {},
): RawRequest {
  const payload = overrides.transform ? overrides.transform(params ?? {}) : params;
  const id = overrides.rpcId === undefined ? `check-${++requestCount}` : overrides.rpcId;
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: payload });
  return {
    method: 'POST',
    url: overrides.query ? `${url}${url.includes('?') ? '&' : '?'}${overrides.query}` : url,
    headers: mergeHeaders({ 'content-type': 'application/json', ...headers }, overrides.headers),
    body,
  };
}

/** Merges headers; an empty string removes a header. */
export function mergeHeaders(
  headers: Readonly<Record<string, string>>,
  overrides: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...headers, ...overrides }).filter(([, value]) => value !== ''));
}

/** Decodes a JSON-RPC response. */
export function decodeRpcResponse(exchange: HttpExchange): DecodedResponse {
  if (exchange.status === 0)
    return { exchange, decodeError: exchange.transportError ?? `No response (${exchange.end})` };
  const json = parseJsonOrUndefined(exchange.body);
  if (!isJsonObject(json))
    return {
      exchange,
      decodeError: `HTTP ${exchange.status} without a JSON object: ${exchange.body.slice(0, 120)}`,
    };
  if (isJsonObject(json.error)) return { exchange, error: toRpcError(json.error, exchange.status) };
  if ('result' in json) return { exchange, result: json.result };
  return { exchange, decodeError: `HTTP ${exchange.status} with neither a result nor an error` };
}

/** Decodes an SSE frame of a JSON-RPC stream. */
export function decodeRpcFrame(frame: RawFrame): DecodedFrame {
  const json = parseJsonOrUndefined(frame.data ?? '');
  if (!isJsonObject(json))
    return { decodeError: `Frame without a JSON object: ${(frame.data ?? '').slice(0, 120)}` };
  if (isJsonObject(json.error)) return { error: toRpcError(json.error, 200) };
  if ('result' in json) return { event: json.result };
  return { decodeError: 'Frame with neither a result nor an error' };
}

function toRpcError(error: Readonly<Record<string, unknown>>, httpStatus: number): ErrorResponse {
  return {
    code: typeof error.code === 'number' ? error.code : undefined,
    httpStatus,
    message: asText(error.message) ?? '',
    reason: errorInfoReason(error.data),
    details: error.data,
    raw: error,
  };
}
