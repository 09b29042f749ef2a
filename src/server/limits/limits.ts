import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { Part } from '../../protocol/part.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';

/** How often a caller may ask. */
export interface RateLimit {
  /** Requests that a caller gets back each second. */
  perSecond: number;
  /** Requests that a caller may make at once. @defaultValue `perSecond`, and at least 1 */
  burst?: number;
}

/**
 * How much one caller may take. A caller is who it proved to be, else the address it calls from; `Infinity` turns off
 * what counts, 0 what measures time.
 */
export interface ServerLimits {
  /** How deep JSON may be nested. @defaultValue 100 */
  jsonDepth?: number;
  /** Parts of a message. @defaultValue 1,000 */
  parts?: number;
  /** Bytes of all metadata in a request, as JSON. @defaultValue 256 KiB */
  metadataBytes?: number;
  /** Bytes of the headers of a request. Node only. @defaultValue 16 KiB */
  headerBytes?: number;
  /** Headers of a request. Node only. @defaultValue 200 */
  headers?: number;
  /** Streams that one caller may have open. @defaultValue 1,000 */
  streamsPerClient?: number;
  /** Requests of one caller that may wait for their answers. @defaultValue 1,000 */
  requestsPerClient?: number;
  /** How often one caller may ask. @defaultValue as often as it likes */
  rate?: RateLimit;
  /** Milliseconds for the headers of a request to arrive. Node only. @defaultValue 10,000 */
  headersTimeout?: number;
  /** Milliseconds for a whole request to arrive. Node only. @defaultValue 30,000 */
  requestTimeout?: number;
  /** Milliseconds for which a connection without a request is kept. Node only. @defaultValue 5,000 */
  keepAliveTimeout?: number;
  /** Milliseconds for an answer that is no stream; the task goes on all the same. @defaultValue 0, no limit */
  responseTimeout?: number;
  /**
   * Says who calls, as behind a proxy that tells the address in a header. Only a header that the proxy sets itself can be
   * believed.
   * @defaultValue the principal, else the address; addresses of IPv6 by their first 64 bits
   */
  clientKey?: (exchange: HttpServerRequest) => string | undefined;
}

/** The limits that hold when nobody says otherwise. */
export const defaultLimits = {
  maxBodyBytes: 10 * 1_024 * 1_024,
  maxStreams: 50_000,
  stallTimeout: 60_000,
  jsonDepth: 100,
  parts: 1_000,
  metadataBytes: 256 * 1_024,
  headerBytes: 16 * 1_024,
  headers: 200,
  streamsPerCaller: 1_000,
  requestsPerCaller: 1_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  answerTimeout: 0,
} as const;

/** The error for a caller that takes more than it may have. */
export function limitExceeded(limit: string, message: string, retryAfter: number): A2AError {
  return new A2AError('RESOURCE_EXHAUSTED', message, {
    details: { limit, retryAfter: String(retryAfter) },
  });
}

/** Tells a caller that takes too much when to come back. */
export function withRetryAfter(reply: HttpServerResponse, { details }: A2AError): HttpServerResponse {
  if (details.retryAfter !== undefined) reply.headers.push('Retry-After', details.retryAfter);
  return reply;
}

/** The pieces of a request that may be too many or too large, whatever it asks for. */
interface Sized {
  metadata?: object;
  message?: { metadata?: object; parts?: readonly Part[] };
}

/**
 * Refuses a request with too many parts or too much metadata.
 *
 * @param bodyLength - the length of the whole body: where that is within the limit, nothing in it needs to be measured.
 */
export function checkRequestSize(request: unknown, limits: ServerLimits, bodyLength: number): void {
  const { message, metadata } = request as Sized;
  const parts = message?.parts;
  const maxParts = limits.parts ?? defaultLimits.parts;
  if (parts && parts.length > maxParts)
    throw tooMuch('parts', 'message.parts', `has ${parts.length} parts; ${maxParts} are allowed`);
  const maxBytes = limits.metadataBytes ?? defaultLimits.metadataBytes;
  // One character is at most three bytes.
  if (bodyLength * 3 <= maxBytes) return;
  let bytes = sizeOf(metadata) + sizeOf(message?.metadata);
  for (const part of parts ?? []) bytes += sizeOf(part.metadata);
  if (bytes > maxBytes)
    throw tooMuch('metadataBytes', 'metadata', `has ${bytes} bytes; ${maxBytes} are allowed`);
}

function tooMuch(limit: string, field: string, description: string): A2AError {
  const { message, violations } = invalidField(field, description);
  return new A2AError('INVALID_PARAMS', message, { violations, details: { limit } });
}

const encoder = new TextEncoder();

function sizeOf(metadata: object | undefined): number {
  return metadata === undefined ? 0 : encoder.encode(JSON.stringify(metadata)).length;
}
