import { parseJsonOrUndefined } from '../../primitives/json.ts';
import type { HttpExchange, RawFrame } from '../wire/http-exchange.ts';
import type { RawRequest } from '../wire/raw-http-client.ts';
import { type ErrorResponse, errorInfoReason } from './error-response.ts';
import { mergeHeaders } from './rpc-encoding.ts';
import type { DecodedResponse, RequestOverrides } from './protocol-driver.ts';
import { isJsonObject, asText } from './normalized-views.ts';

/** A REST request before it is sent. */
export interface RestRequestParts {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: Record<string, unknown>;
}

/** Makes a REST request. */
export function encodeRestRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  { method: verb, path, query = {}, body }: RestRequestParts,
  overrides: RequestOverrides = {},
): RawRequest {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const asked = [search.toString(), overrides.query ?? ''].filter((each) => each !== '').join('&');
  const altered = body && overrides.transform ? overrides.transform(body) : body;
  return {
    method: verb,
    url: `${url.replace(/\/+$/, '')}${path}${asked === '' ? '' : `?${asked}`}`,
    headers: mergeHeaders(
      body ? { 'content-type': 'application/json', ...headers } : headers,
      overrides.headers,
    ),
    ...(altered === undefined ? {} : { body: JSON.stringify(altered) }),
  };
}

/** Tells success from failure on REST. */
export function decodeRestResponse(exchange: HttpExchange): DecodedResponse {
  if (exchange.status === 0)
    return { exchange, decodeError: exchange.transportError ?? `There was no answer (${exchange.end})` };
  if (exchange.status === 204) return { exchange, result: {} };
  const read = parseJsonOrUndefined(exchange.body);
  if (exchange.status >= 400) return { exchange, error: restFault(read, exchange.status) };
  if (read === undefined && exchange.body.trim() === '') return { exchange, result: {} };
  if (read === undefined)
    return { exchange, decodeError: `HTTP ${exchange.status} without JSON: ${exchange.body.slice(0, 120)}` };
  return { exchange, result: read };
}

/** Reads what one frame carries; an error is a frame with an `error` and no payload. */
export function decodeRestFrame(frame: RawFrame): {
  event?: unknown;
  error?: ErrorResponse;
  problem?: string;
} {
  const read = parseJsonOrUndefined(frame.data ?? '');
  if (!isJsonObject(read))
    return { problem: `A frame without a JSON object: ${(frame.data ?? '').slice(0, 120)}` };
  if (isJsonObject(read.error)) return { error: restFault(read, 200) };
  return { event: read };
}

/** The error forms of 1.0, of 0.3, and of `application/problem+json`. */
function restFault(read: unknown, httpStatus: number): ErrorResponse {
  const body = isJsonObject(read) ? read : {};
  const error = isJsonObject(body.error) ? body.error : body;
  const details = error.details ?? error.data;
  return {
    code: typeof error.code === 'number' && error.code < 0 ? error.code : undefined,
    httpStatus,
    message: asText(error.message) ?? asText(body.title) ?? '',
    reason: errorInfoReason(details),
    details,
    raw: read,
  };
}
