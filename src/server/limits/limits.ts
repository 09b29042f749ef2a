import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { Part } from '../../protocol/part.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import { defaultHeartbeatInterval } from '../http/sse-stream.ts';

/** Rate limit of a client, enforced with a token bucket. */
export interface RateLimit {
  /** Requests per second. */
  perSecond: number;
  /** Size of the token bucket: maximum number of requests at once. @defaultValue `perSecond`, at least 1 */
  burst?: number;
}

/**
 * Limits per request and per client. A client is identified by its principal, or by its address without authentication.
 * `Infinity` disables a count or size limit, 0 disables a timeout.
 */
export interface ServerLimits {
  /** Maximum nesting depth of JSON. @defaultValue 100 */
  jsonDepth?: number;
  /**
   * Maximum number of objects, arrays and members of objects in a request. Numbers and texts in arrays are not counted.
   * Requests below 64 KiB are not counted.
   * @defaultValue 250,000
   */
  jsonMembers?: number;
  /** Maximum number of parts of a message. @defaultValue 1,000 */
  parts?: number;
  /** Maximum size of all metadata in a request, in bytes of JSON. @defaultValue 256 KiB */
  metadataBytes?: number;
  /** Maximum size of the request headers, in bytes. Node only. @defaultValue 16 KiB */
  headerBytes?: number;
  /** Maximum number of request headers. Node only. @defaultValue 200 */
  headers?: number;
  /** Maximum number of open streams of one client. @defaultValue 1,000 */
  streamsPerClient?: number;
  /** Maximum number of concurrent requests of one client. @defaultValue 1,000 */
  requestsPerClient?: number;
  /** Rate limit of one client; requests with unreadable bodies count. @defaultValue no rate limit */
  rate?: RateLimit;
  /** Rate limit of one address, before authentication. @defaultValue no rate limit */
  addressRate?: RateLimit;
  /**
   * Rate limit of invalid credentials of one address; above it, all requests of the address are rejected for a while.
   * `false` disables it.
   * @defaultValue 5 per second, at most 100 at once
   */
  failedAuthRate?: RateLimit | false;
  /** Maximum size of all request bodies in transit, in bytes. Node only. @defaultValue 256 MiB */
  bodyBytes?: number;
  /** The same for one client. Node only. @defaultValue 64 MiB */
  bodyBytesPerClient?: number;
  /** Maximum size of all responses that clients have not read yet, in bytes. Node only. @defaultValue 256 MiB */
  outputBytes?: number;
  /** The same for one client. Node only. @defaultValue 64 MiB */
  outputBytesPerClient?: number;
  /** Size above which a page of `ListTasks` contains fewer tasks than requested, in bytes. @defaultValue 8 MiB */
  pageBytes?: number;
  /** Milliseconds for the headers of a request to arrive. Node only. @defaultValue 10,000 */
  headersTimeout?: number;
  /** Milliseconds for a whole request to arrive. Node only. @defaultValue 30,000 */
  requestTimeout?: number;
  /** Milliseconds after which an idle connection is closed. Node only. @defaultValue 5,000 */
  keepAliveTimeout?: number;
  /** Milliseconds until a response that is not a stream; the task continues after the timeout. @defaultValue 0, no limit */
  responseTimeout?: number;
  /**
   * Identifies the client, for example by a header of a proxy. Use only headers that the proxy always overwrites.
   * @defaultValue the principal, else the address; IPv6 addresses by their first 64 bits
   */
  clientKey?: (request: HttpServerRequest) => string | undefined;
}

/** Default limits and intervals. Times are in milliseconds. */
export const defaultLimits = {
  maxBodyBytes: 10 * 1_024 * 1_024,
  maxStreams: 50_000,
  /** Also the interval of the check for stalled streams. */
  heartbeat: defaultHeartbeatInterval,
  stallTimeout: 60_000,
  jsonDepth: 100,
  jsonMembers: 250_000,
  parts: 1_000,
  metadataBytes: 256 * 1_024,
  headerBytes: 16 * 1_024,
  headers: 200,
  streamsPerClient: 1_000,
  requestsPerClient: 1_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  responseTimeout: 0,
  failedAuthRate: { perSecond: 5, burst: 100 },
  bodyBytes: 256 * 1_024 * 1_024,
  bodyBytesPerClient: 64 * 1_024 * 1_024,
  outputBytes: 256 * 1_024 * 1_024,
  outputBytesPerClient: 64 * 1_024 * 1_024,
  pageBytes: 8 * 1_024 * 1_024,
} as const;

/** Maximum `Retry-After`, in seconds. */
const maxRetryAfter = 86_400;

/** Creates the error of an exceeded limit. `retryAfter` is in seconds. */
export function limitExceeded(limit: string, message: string, retryAfter: number): A2AError {
  return new A2AError('RESOURCE_EXHAUSTED', message, {
    details: { limit, retryAfter: String(Math.ceil(Math.min(retryAfter, maxRetryAfter))) },
  });
}

/** Adds the `Retry-After` header of an exceeded limit. */
export function withRetryAfter(response: HttpServerResponse, { details }: A2AError): HttpServerResponse {
  if (details.retryAfter !== undefined) response.headers.push('Retry-After', details.retryAfter);
  return response;
}

/** Members of requests whose size is limited. */
interface SizedRequest {
  metadata?: object;
  message?: { metadata?: object; parts?: readonly Part[] };
}

/**
 * Checks the number of parts and the size of the metadata of a request.
 *
 * @param bodyLength - length of the body in characters. If it is below the limit, the metadata is not measured.
 * @throws {@link A2AError} `INVALID_PARAMS` if a limit is exceeded.
 */
export function checkRequestSize(request: unknown, limits: ServerLimits, bodyLength: number): void {
  const { message, metadata } = request as SizedRequest;
  const parts = message?.parts;
  const maxParts = limits.parts ?? defaultLimits.parts;
  if (parts && parts.length > maxParts)
    throw tooLarge('parts', 'message.parts', `must have at most ${maxParts} parts (has ${parts.length})`);
  const maxBytes = limits.metadataBytes ?? defaultLimits.metadataBytes;
  // A UTF-16 code unit has at most three bytes in UTF-8.
  if (bodyLength * 3 <= maxBytes) return;
  let bytes = metadataSize(metadata) + metadataSize(message?.metadata);
  for (const part of parts ?? []) bytes += metadataSize(part.metadata);
  if (bytes > maxBytes)
    throw tooLarge('metadataBytes', 'metadata', `must have at most ${maxBytes} bytes (has ${bytes})`);
}

function tooLarge(limit: string, field: string, description: string): A2AError {
  const { message, violations } = invalidField(field, description);
  return new A2AError('INVALID_PARAMS', message, { violations, details: { limit } });
}

const encoder = new TextEncoder();

function metadataSize(metadata: object | undefined): number {
  return metadata === undefined ? 0 : encoder.encode(JSON.stringify(metadata)).length;
}
