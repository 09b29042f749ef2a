import type { X509Certificate } from 'node:crypto';
import type { Principal } from '../../protocol/agent.ts';
import type { SseStream } from './sse-stream.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';

/** Headers by lower-case name, as in Node. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Authenticated principal of a request and the security schemes used. */
export interface AuthenticationResult {
  readonly principal: Principal;
  readonly schemes: readonly string[];
}

/** An HTTP request, independent of the HTTP server. */
export interface HttpServerRequest {
  readonly method: string;
  /** Path without query, percent-encoded. */
  readonly path: string;
  /** Path prefix that a framework removed from `path`, because it mounted the handler there. */
  readonly mountPath?: string;
  /** Query without the question mark. */
  readonly query: string;
  readonly headers: RequestHeaders;
  /** Body as text; empty if there is none. */
  readonly body: string;
  /** Length of a body that is not text. */
  readonly bodyLength?: number | undefined;
  /** True if the connection is encrypted. */
  readonly isSecure: boolean;
  /** Verified TLS certificate of the client. */
  readonly certificate?: X509Certificate;
  /** Set after successful authentication. */
  readonly authentication?: AuthenticationResult;
  /** IP address of the peer of the connection, if known. */
  readonly remoteAddress?: string;
  /** IP address of the client behind trusted proxies, if there are any. */
  clientAddress?: string | undefined;
  /** IP address at which the server received the request, if known. */
  readonly localAddress?: string;
  /** Set after the checks that precede authentication. */
  isAdmitted?: boolean;
  /** Set if telemetry is enabled. */
  telemetry?: RequestTelemetry;
  /** Keeps the work of the request alive until a promise settles, in runtimes that end it with the response. */
  readonly waitUntil?: (pending: Promise<unknown>) => void;
  /** Registers a callback for a disconnect of the client before the response is complete. */
  onDisconnect(callback: () => void): void;
}

/** An HTTP response. */
export interface HttpServerResponse {
  status: number;
  /** Flat list of names and values, the cheapest format for Node. */
  headers: string[];
  /** Complete body or SSE stream. */
  body: string | SseStream | undefined;
  /** Length of the body in bytes, if already known. */
  length?: number;
  /** Called by the adapter when the response has been sent or the client has disconnected. */
  onSent?: (() => void) | undefined;
}

/** Returns the first value of a header. */
export function singleHeader(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** Creates a response with a JSON body. */
export function jsonResponse(status: number, text: string, type = 'application/json'): HttpServerResponse {
  return { status, headers: ['Content-Type', type], body: text };
}
