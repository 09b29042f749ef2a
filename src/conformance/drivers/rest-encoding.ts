import { isJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import type { HttpExchange, RawFrame } from '../wire/http-exchange.ts';
import type { RawRequest } from '../wire/raw-http-client.ts';
import { type ErrorResponse, errorInfoReason } from './error-response.ts';
import { mergeHeaders } from './rpc-encoding.ts';
import type {
  DecodedFrame,
  DecodedResponse,
  DriverOperation,
  OperationInput,
  RequestOverrides,
} from './protocol-driver.ts';
import { asText, objectOf } from './normalized-views.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** Parts of a REST request, before encoding. */
export interface RestRequestParts {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: Record<string, unknown>;
}

/** Returns method and path of an operation below `prefix`; undefined for the operations that differ between versions. */
export function restRoute(
  operation: DriverOperation,
  input: OperationInput,
  prefix: string,
): Pick<RestRequestParts, 'method' | 'path'> | undefined {
  const task = `${prefix}/tasks/${encodeURIComponent(input.id ?? '')}`;
  const configs = `${prefix}/tasks/${encodeURIComponent(input.taskId ?? '')}/pushNotificationConfigs`;
  const config = `${configs}/${encodeURIComponent(input.id ?? '')}`;
  const routes: { readonly [operation in DriverOperation]?: readonly [method: string, path: string] } = {
    send: ['POST', `${prefix}/message:send`],
    stream: ['POST', `${prefix}/message:stream`],
    get: ['GET', task],
    cancel: ['POST', `${task}:cancel`],
    subscribe: ['POST', `${task}:subscribe`],
    createPush: ['POST', configs],
    getPush: ['GET', config],
    listPush: ['GET', configs],
    deletePush: ['DELETE', config],
  };
  const [method, path] = routes[operation] ?? [];
  return method === undefined || path === undefined ? undefined : { method, path };
}

/** Encodes a REST request. */
export function encodeRestRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  { method: verb, path, query = {}, body }: RestRequestParts,
  overrides: RequestOverrides = {},
): RawRequest {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const queryString = [search.toString(), overrides.query ?? ''].filter((each) => each !== '').join('&');
  const payload = body && overrides.transform ? overrides.transform(body) : body;
  return {
    method: verb,
    url: `${stripTrailing(url, '/')}${path}${queryString === '' ? '' : `?${queryString}`}`,
    headers: mergeHeaders(
      body ? { 'content-type': 'application/json', ...headers } : headers,
      overrides.headers,
    ),
    ...(payload === undefined ? {} : { body: JSON.stringify(payload) }),
  };
}

/** Decodes a REST response: status 400 and above is an error. */
export function decodeRestResponse(exchange: HttpExchange): DecodedResponse {
  if (exchange.status === 0)
    return { exchange, decodeError: exchange.transportError ?? `No response (${exchange.end})` };
  if (exchange.status === 204) return { exchange, result: {} };
  const json = parseJsonOrUndefined(exchange.body);
  if (exchange.status >= 400) return { exchange, error: toRestError(json, exchange.status) };
  if (json === undefined && exchange.body.trim() === '') return { exchange, result: {} };
  if (json === undefined)
    return { exchange, decodeError: `HTTP ${exchange.status} without JSON: ${exchange.body.slice(0, 120)}` };
  return { exchange, result: json };
}

/** Decodes an SSE frame of a REST stream; an object with `error` is an error. */
export function decodeRestFrame(frame: RawFrame): DecodedFrame {
  const json = parseJsonOrUndefined(frame.data ?? '');
  if (!isJsonObject(json))
    return { decodeError: `Frame without a JSON object: ${(frame.data ?? '').slice(0, 120)}` };
  if (isJsonObject(json.error)) return { error: toRestError(json, 200) };
  return { event: json };
}

/** Supports the error formats of 1.0, of 0.3 and of `application/problem+json`. */
function toRestError(json: unknown, httpStatus: number): ErrorResponse {
  const body = objectOf(json);
  const error = isJsonObject(body.error) ? body.error : body;
  const details = error.details ?? error.data;
  return {
    code: typeof error.code === 'number' && error.code < 0 ? error.code : undefined,
    httpStatus,
    message: asText(error.message) ?? asText(body.title) ?? '',
    reason: errorInfoReason(details),
    details,
    raw: json,
  };
}
