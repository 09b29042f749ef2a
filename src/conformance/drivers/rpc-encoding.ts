import { parseJsonOrUndefined } from '../../primitives/json.ts';
import type { HttpExchange, RawFrame } from '../wire/http-exchange.ts';
import type { RawRequest } from '../wire/raw-http-client.ts';
import { type ErrorResponse, errorInfoReason } from './error-response.ts';
import type { DecodedResponse, RequestOverrides } from './protocol-driver.ts';
import { isJsonObject, asText } from './normalized-views.ts';

let count = 0;

/** Puts params into an envelope of JSON-RPC. */
export function encodeRpcRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  method: string,
  params: Record<string, unknown> | undefined,
  overrides: RequestOverrides = {},
): RawRequest {
  const altered = overrides.transform ? overrides.transform(params ?? {}) : params;
  const id = overrides.rpcId === undefined ? `check-${++count}` : overrides.rpcId;
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: altered });
  return {
    method: 'POST',
    url: overrides.query ? `${url}${url.includes('?') ? '&' : '?'}${overrides.query}` : url,
    headers: mergeHeaders({ 'content-type': 'application/json', ...headers }, overrides.headers),
    body,
  };
}

/** Headers with others laid over them; an empty text removes one. */
export function mergeHeaders(
  headers: Readonly<Record<string, string>>,
  over: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...headers, ...over }).filter(([, value]) => value !== ''));
}

/** Takes the envelope of JSON-RPC off. */
export function decodeRpcResponse(exchange: HttpExchange): DecodedResponse {
  if (exchange.status === 0)
    return { exchange, decodeError: exchange.transportError ?? `There was no answer (${exchange.end})` };
  const read = parseJsonOrUndefined(exchange.body);
  if (!isJsonObject(read))
    return {
      exchange,
      decodeError: `HTTP ${exchange.status} without a JSON object: ${exchange.body.slice(0, 120)}`,
    };
  if (isJsonObject(read.error)) return { exchange, error: rpcFault(read.error, exchange.status) };
  if ('result' in read) return { exchange, result: read.result };
  return { exchange, decodeError: `HTTP ${exchange.status} with neither a result nor an error` };
}

/** Takes the envelope off what one frame carries. */
export function decodeRpcFrame(frame: RawFrame): {
  event?: unknown;
  error?: ErrorResponse;
  problem?: string;
} {
  const read = parseJsonOrUndefined(frame.data ?? '');
  if (!isJsonObject(read))
    return { problem: `A frame without a JSON object: ${(frame.data ?? '').slice(0, 120)}` };
  if (isJsonObject(read.error)) return { error: rpcFault(read.error, 200) };
  if ('result' in read) return { event: read.result };
  return { problem: 'A frame with neither a result nor an error' };
}

function rpcFault(error: Readonly<Record<string, unknown>>, httpStatus: number): ErrorResponse {
  return {
    code: typeof error.code === 'number' ? error.code : undefined,
    httpStatus,
    message: asText(error.message) ?? '',
    reason: errorInfoReason(error.data),
    details: error.data,
    raw: error,
  };
}
