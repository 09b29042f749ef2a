import { readJson } from '../../primitives/json.ts';
import type { Exchange, Frame } from '../wire/http-exchange.ts';
import type { RawRequest } from '../wire/raw-http-client.ts';
import { type Fault, reasonIn } from './error-response.ts';
import { merged } from './rpc-encoding.ts';
import type { Heard, Manner } from './protocol-driver.ts';
import { isObject, textIn } from './normalized-views.ts';

/** A REST request before it is sent. */
export interface RestSaying {
  readonly verb: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: Record<string, unknown>;
}

/** Makes a REST request. */
export function sayRest(
  url: string,
  headers: Readonly<Record<string, string>>,
  { verb, path, query = {}, body }: RestSaying,
  manner: Manner = {},
): RawRequest {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const asked = [search.toString(), manner.query ?? ''].filter((each) => each !== '').join('&');
  const altered = body && manner.alter ? manner.alter(body) : body;
  return {
    method: verb,
    url: `${url.replace(/\/+$/, '')}${path}${asked === '' ? '' : `?${asked}`}`,
    headers: merged(body ? { 'content-type': 'application/json', ...headers } : headers, manner.headers),
    ...(altered === undefined ? {} : { body: JSON.stringify(altered) }),
  };
}

/** Tells success from failure on REST. */
export function hearRest(exchange: Exchange): Heard {
  if (exchange.status === 0)
    return { exchange, problem: exchange.trouble ?? `There was no answer (${exchange.end})` };
  if (exchange.status === 204) return { exchange, result: {} };
  const read = readJson(exchange.body);
  if (exchange.status >= 400) return { exchange, fault: restFault(read, exchange.status) };
  if (read === undefined && exchange.body.trim() === '') return { exchange, result: {} };
  if (read === undefined)
    return { exchange, problem: `HTTP ${exchange.status} without JSON: ${exchange.body.slice(0, 120)}` };
  return { exchange, result: read };
}

/** Reads what one frame carries; an error is a frame with an `error` and no payload. */
export function hearRestFrame(frame: Frame): { event?: unknown; fault?: Fault; problem?: string } {
  const read = readJson(frame.data ?? '');
  if (!isObject(read))
    return { problem: `A frame without a JSON object: ${(frame.data ?? '').slice(0, 120)}` };
  if (isObject(read.error)) return { fault: restFault(read, 200) };
  return { event: read };
}

/** The error forms of 1.0, of 0.3, and of `application/problem+json`. */
function restFault(read: unknown, httpStatus: number): Fault {
  const body = isObject(read) ? read : {};
  const error = isObject(body.error) ? body.error : body;
  const details = error.details ?? error.data;
  return {
    code: typeof error.code === 'number' && error.code < 0 ? error.code : undefined,
    httpStatus,
    message: textIn(error.message) ?? textIn(body.title) ?? '',
    reason: reasonIn(details),
    details,
    raw: read,
  };
}
